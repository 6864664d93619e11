// Watches an agent's half of the conversation from outside, by what the program says, what comes
// from the upgrader and what is done about it. Written from the protocol page; knows nothing of how
// a session is made.
#pragma once

#include <optional>
#include <string>

#include "agent-protocol/cpp/session/session.h"

namespace fuzz {

class AgentWatcher {
 public:
  // The program said this; `actions` is empty if that was refused.
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

  bool greeted_ = false;    // hello has been sent
  bool ready_ = false;      // ready has been sent
  bool given_up_ = false;   // unfit has been sent while held
  bool active_ = false;     // the program has been told
  bool candidate_ = false;  // its role
  bool welcomed_ = false;
  bool committed_ = false;
  bool ordered_ = false;   // to stop, by the upgrader, and it has not taken that back
  bool stopping_ = false;  // the program has been told
  bool stopped_ = false;   // stopped has been sent
  bool input_ended_ = false;
  bool exited_ = false;
};

}  // namespace fuzz
