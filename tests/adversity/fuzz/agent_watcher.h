// Watches the library's session of an agent from outside: the messages that the program wants to
// send, the lines that the upgrader sends, and the actions of the session. Written from the
// protocol page, without a look at the session's code.
#pragma once

#include <optional>
#include <string>

#include "agent-protocol/cpp/session/session.h"

namespace fuzz {

class AgentWatcher {
 public:
  // Judges the session's actions for a message that the program wanted to send. `actions` is empty
  // if the session refused the message.
  void see_said(const agent_protocol::AgentMessage& message,
                const agent_protocol::SessionActions& actions, bool refused);
  void see_heard(const agent_protocol::UpgraderMessage& message,
                 const agent_protocol::SessionActions& actions);
  void see_input_end(const agent_protocol::SessionActions& actions);
  void see_sigterm(const agent_protocol::SessionActions& actions);

  [[nodiscard]] bool exited() const { return exited_; }

 private:
  void see_actions(const agent_protocol::SessionActions& actions);
  void see_delivered(const agent_protocol::SessionEvent& event);
  void see_sent(const agent_protocol::AgentMessage& message);

  bool greeted_ = false;    // the agent has sent `hello`
  bool ready_ = false;      // the agent has sent `ready`
  bool given_up_ = false;   // the agent has sent `unfit` while it was held
  bool active_ = false;     // the program has got the event of its activation
  bool candidate_ = false;  // the agent's role is candidate
  bool welcomed_ = false;
  bool committed_ = false;
  bool ordered_ = false;   // the upgrader has sent `stop`, and the agent has not cancelled it
  bool stopping_ = false;  // the program has got the event that tells it to stop
  bool stopped_ = false;   // the agent has sent `stopped`
  bool input_ended_ = false;
  bool exited_ = false;
};

}  // namespace fuzz
