// An agent on the simulated machine. A cooperative agent does only what the protocol library's
// session allows, and reads its messages with the library's own line reader and codec. A
// mischievous agent also does things that the session forbids.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent-protocol/cpp/session/session.h"
#include "agent-protocol/cpp/wire/line_reader.h"
#include "tests/together/simulation/swarm.h"
#include "upgrader/core/event.h"

namespace upgrader::simulation {

class Process;

class AgentDouble {
 public:
  explicit AgentDouble(Process& process);

  // Returns the time at which the agent will act next if no event wakes it before.
  [[nodiscard]] std::optional<Time> wakes() const;
  void act();
  // Notifies the agent that its input has changed. The agent reads its input immediately, or as
  // soon as it has finished its current act.
  void wake();
  void signalled(int signal);

  // Makes the agent send, from now on, only what the guide of the run (guide.h) chooses. The agent
  // still reads its input, but otherwise does nothing by itself.
  void become_puppet();
  // Makes the agent stop reading its input, or read its input again.
  void read_on(bool wanted);

 private:
  struct Errand {
    Time at;
    Deed deed = Deed::hello;
    bool mischief = false;
  };

  void read_some();
  void hear(const agent_protocol::UpgraderMessage& message);
  void perform(const agent_protocol::SessionActions& actions);
  void react(const agent_protocol::SessionEvent& event);
  void react_to_stop(const agent_protocol::StopAsked& stop);
  void on(Occasion occasion);
  void plan_heartbeat();
  void plan(Deed deed);
  void plan_for(Duration delay, Deed deed, bool mischief);
  void drop_plans();
  void run(const Errand& errand);
  void say(const agent_protocol::AgentMessage& message, bool mischief);
  [[nodiscard]] std::optional<agent_protocol::AgentMessage> message_for(Deed deed);
  void misbehave(Deed deed);
  void say_anything();
  void flood();
  [[nodiscard]] agent_protocol::Upgrade request();
  [[nodiscard]] std::string state() const;

  Process& process_;
  agent_protocol::Session session_{agent_protocol::Session::Company::upgrader};
  agent_protocol::LineReader reader_;
  std::vector<Errand> errands_;
  std::vector<Mischief> mischief_;
  std::string upgrade_id_;
  bool trickles_ = false;
  bool reads_ = true;
  bool puppet_ = false;
  bool says_healthy_ = false;
  bool input_ended_ = false;
  int beats_left_ = 0;
  int upgrades_left_ = 0;
  std::optional<Time> awake_at_;  // when the agent will next try to read or write bytes
};

}  // namespace upgrader::simulation
