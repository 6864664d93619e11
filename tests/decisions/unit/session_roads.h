// Helpers for tests of an agent's session, the state machine of the agent's half of the
// conversation. Each function that returns a Road brings a new session into one state, by the
// messages that lead there.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "agent-protocol/cpp/session/session.h"

namespace agent_protocol {

inline std::ostream& operator<<(std::ostream& out, const Session& session) {
  return out << session.describe();
}

}  // namespace agent_protocol

namespace session_roads {

using namespace agent_protocol;

inline Welcome welcome_as(Role role) {
  Welcome welcome;
  welcome.role = role;
  return welcome;
}

inline Stop stop_for(StopReason reason) {
  Stop stop;
  stop.reason = reason;
  stop.deadline_ms = 90'000;
  return stop;
}

inline Stop stop_for_upgrade(const std::string& id) {
  Stop stop = stop_for(StopReason::upgrade);
  stop.id = id;
  stop.generation = 2;
  return stop;
}

inline UpgradeFailed failed(const std::string& id, Stage stage) {
  UpgradeFailed message;
  message.failure.id = id;
  message.failure.stage = stage;
  message.failure.reason = "exited";
  return message;
}

inline Upgrade upgrade_named(const std::string& id) {
  Upgrade upgrade;
  upgrade.id = id;
  upgrade.executable = "/agent";
  return upgrade;
}

inline const Welcome first = welcome_as(Role::first);
inline const Welcome candidate = welcome_as(Role::candidate);
inline const Stop stop_upgrade = stop_for_upgrade("u1");
inline const Stop stop_rollback = stop_for(StopReason::rollback);
inline const Stop stop_shutdown = stop_for(StopReason::shutdown);

// Brings an agent's session into the state that a test needs. Fails the test if the session refuses
// a message on the way.
class Road {
 public:
  explicit Road(Session::Company company = Session::Company::upgrader) : session_(company) {}

  Road& say(const AgentMessage& message) {
    const Result<SessionActions> actions = session_.say(message);
    REQUIRE(actions);
    return *this;
  }
  Road& hear(const UpgraderMessage& message) {
    (void)session_.hear(message);
    return *this;
  }
  Road& terminate() {
    (void)session_.terminated();
    return *this;
  }
  Road& end_input() {
    (void)session_.input_ended();
    return *this;
  }
  operator Session() const { return session_; }

 private:
  Session session_;
};

inline Road starting() {
  return Road().say(Hello{});
}
inline Road ready() {
  return starting().say(Ready{});
}
inline Road active() {
  return ready().hear(first).hear(Activate{});
}
inline Road on_trial() {
  return ready().hear(candidate).hear(Activate{});
}
inline Road requested() {
  return active().say(upgrade_named("u1"));
}
inline Road accepted() {
  return requested().hear(Accepted{"u1", 2});
}
inline Road gated() {
  return accepted().hear(CandidateReady{"u1", 2, std::nullopt});
}
inline Road stopping() {
  return accepted().hear(stop_upgrade);
}
inline Road alone() {
  return Road(Session::Company::nobody).say(Hello{});
}
inline Road alone_active() {
  return alone().say(Ready{});
}

}  // namespace session_roads
