// The agent's half of the conversation with its upgrader, as a state machine: it decides which
// messages the program may send, which of the upgrader's messages the program gets, and when the
// program must exit. It does no input or output, and reads no clock: agent_conversation.cc performs
// the actions.
//
// The states of an agent:
//
// - `silent`: it has not said `hello` yet.
// - `starting`: it has said `hello`, and must not work yet (it is held).
// - `ready`: it has said `ready`, and is still held.
// - `active`: the upgrader has sent `activate`, and the agent works.
// - `stopping`: a stop was requested by the upgrader, by SIGTERM or by the end of input. If the
//   stop was for an upgrade, the agent becomes active again when it says `cancel`.
// - `stopped`: it has said `stopped`.
// - `ended`: it was held, and has said `unfit` or must exit immediately.
//
// An active agent may say `healthy` while it is on trial, unless it has said `unfit`. If both sides
// have the feature `readiness`, it may also say `healthy` without a trial, and `extend` before its
// `healthy`.
//
// A message from the upgrader that does not fit the agent's state is ignored. Usually both sides
// have sent a message at the same moment: for example, the upgrader a `stop`, and the agent a
// `cancel` of the same upgrade. Only a `stop` for an agent that has stopped by itself is answered,
// with `stopped`.
//
// Without an upgrader, the program goes through the same states: it gets `activate` after its
// `ready`, and `stop` after a SIGTERM. A request for an upgrade is refused; all other messages are
// accepted and have no effect.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent-protocol/cpp/wire/message.h"
#include "base/result.h"

namespace agent_protocol {

// The exit statuses of an agent that is not active yet and must exit immediately, because its input
// has ended or SIGTERM has come.
inline constexpr int exit_status_input_ended = 1;
// 143, the status by which a shell reports SIGTERM
inline constexpr int exit_status_terminated = 128 + 15;

enum class StopCause { upgrade, rollback, shutdown, signal, end_of_input };

// A request to stop, as the program gets it. If its cause is a signal or the end of input, only
// `cause` is set.
struct StopAsked {
  StopCause cause = StopCause::shutdown;
  std::optional<std::int64_t> deadline_ms = {};
  std::optional<std::string> id = {};
  std::optional<std::int64_t> generation = {};
  bool operator==(const StopAsked&) const = default;
};

// The events that the program gets.
using SessionEvent = std::variant<Welcome, Activate, StopAsked, Accepted, CandidateReady,
                                  CandidateLost, UpgradeFailed, Committed, Error>;

struct Send {
  AgentMessage message;
  bool operator==(const Send&) const = default;
};

struct Deliver {
  SessionEvent event;
  bool operator==(const Deliver&) const = default;
};

struct ExitAtOnce {
  int status = 0;
  bool operator==(const ExitAtOnce&) const = default;
};

// An action for the caller to perform. The actions of one step are performed in order.
using SessionAction = std::variant<Send, Deliver, ExitAtOnce>;
using SessionActions = std::vector<SessionAction>;

// Returns a phrase for the purpose of `message`, such as "confirm upgrade u1".
[[nodiscard]] std::string deed(const AgentMessage& message);

class Session {
 public:
  enum class Company { upgrader, nobody };

  explicit Session(Company company) : company_(company) {}

  // Handles a message that the program wants to send. If the protocol does not allow the message in
  // the current state, refuses the message and changes nothing. Does not check the limits of texts
  // and numbers: codec.h does.
  [[nodiscard]] Result<SessionActions> say(const AgentMessage& message);

  [[nodiscard]] SessionActions hear(const UpgraderMessage& message);
  [[nodiscard]] SessionActions input_ended();
  [[nodiscard]] SessionActions terminated();  // decides what to do after a SIGTERM

  // Returns true while the agent is not active yet, or has ended. Such an agent may exit at once,
  // since it has no work to give up.
  [[nodiscard]] bool held() const { return life_ < Life::active || life_ == Life::ended; }
  // Returns true if the upgrader has requested a stop, and is still there. The session then sends
  // the program's `stopped` immediately; otherwise it keeps `stopped` until the upgrader requests a
  // stop.
  [[nodiscard]] bool stop_ordered() const { return ordered_.has_value() && !gone_; }

  [[nodiscard]] std::string describe() const;
  bool operator==(const Session&) const = default;

 private:
  enum class Life { silent, starting, ready, active, stopping, stopped, ended };
  enum class Trial { none, running, unfit };
  enum class Step { accepted, candidate_ready, confirmed, cancelled };
  struct KnownUpgrade {
    std::string id;
    Step step = Step::accepted;
    bool operator==(const KnownUpgrade&) const = default;
  };

  // Returns a clause for refusals that describes the current state, such as "this agent has been
  // told to stop".
  [[nodiscard]] const char* standing() const;
  [[nodiscard]] std::optional<std::string> why_not_known(const std::string& id) const;

  // The functions why_not() return why a message may not be sent now, or nullopt.
  [[nodiscard]] std::optional<std::string> why_not(const Hello&) const;
  [[nodiscard]] std::optional<std::string> why_not(const Ready&) const;
  [[nodiscard]] std::optional<std::string> why_not(const Unfit&) const;
  [[nodiscard]] std::optional<std::string> why_not(const Upgrade&) const;
  [[nodiscard]] std::optional<std::string> why_not(const Confirm& confirm) const;
  [[nodiscard]] std::optional<std::string> why_not(const Cancel& cancel) const;
  [[nodiscard]] std::optional<std::string> why_not(const Stopped&) const;
  [[nodiscard]] std::optional<std::string> why_not(const Healthy&) const;
  [[nodiscard]] std::optional<std::string> why_not(const Extend&) const;
  [[nodiscard]] std::optional<std::string> why_not(const Heartbeat&) const;
  [[nodiscard]] std::optional<std::string> why_not(const Status&) const;

  // The functions said() change the session when the program sends a message, and return the
  // actions to perform. They do not check whether the message is allowed.
  [[nodiscard]] SessionActions said(const Hello& hello);
  [[nodiscard]] SessionActions said(const Ready& ready);
  [[nodiscard]] SessionActions said(const Unfit& unfit);
  [[nodiscard]] SessionActions said(const Upgrade& upgrade);
  [[nodiscard]] SessionActions said(const Confirm& confirm);
  [[nodiscard]] SessionActions said(const Cancel& cancel);
  [[nodiscard]] SessionActions said(const Stopped& stopped);
  [[nodiscard]] SessionActions said(const Healthy& healthy);
  [[nodiscard]] SessionActions said(const Extend& extend);
  [[nodiscard]] SessionActions said(const Heartbeat& heartbeat);
  [[nodiscard]] SessionActions said(const Status& status);
  [[nodiscard]] Result<SessionActions> say_alone(const AgentMessage& message);

  [[nodiscard]] SessionActions heard(const Welcome& welcome);
  [[nodiscard]] SessionActions heard(const Activate& activate);
  [[nodiscard]] SessionActions heard(const Stop& stop);
  [[nodiscard]] SessionActions heard(const Accepted& accepted);
  [[nodiscard]] SessionActions heard(const CandidateReady& candidate);
  [[nodiscard]] SessionActions heard(const CandidateLost& candidate);
  [[nodiscard]] SessionActions heard(const UpgradeFailed& failed);
  [[nodiscard]] SessionActions heard(const Committed& committed);
  [[nodiscard]] SessionActions heard(const Error& error);

  void note_order(const Stop& stop);

  Company company_;
  Life life_ = Life::silent;
  bool welcomed_ = false;
  Role role_ = Role::first;
  bool at_boot_ = false;
  Trial trial_ = Trial::none;
  // the id of an `upgrade` that the upgrader has not answered yet
  std::optional<std::string> request_;
  std::optional<KnownUpgrade> upgrade_;  // the upgrade under way that is to replace this agent
  std::optional<StopReason> ordered_;    // the reason in the upgrader's `stop`, if it has sent one
  // a `stopped` of the program, kept until the upgrader sends `stop`
  std::optional<Stopped> unsent_;
  bool signalled_ = false;  // SIGTERM has requested a stop
  bool readiness_ = false;  // both sides have the feature `readiness`
  bool works_ = false;      // the program has said `healthy`
  bool gone_ = false;       // the input has ended: the upgrader has gone
};

}  // namespace agent_protocol
