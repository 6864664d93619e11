// The agent's half of the conversation, decided: what the program may say now, what of the
// upgrader's messages it is told, and when it must exit. No input or output and no clock: see
// agent.cc, which carries the actions out.
//
// An agent is `silent` until it has said hello, then held: `starting`, and `ready` once it has said
// so. `activate` makes it `active`; a stop, whoever asks for it, makes it `stopping`, and a cancel
// takes the upgrader's stop for an upgrade back. If both sides have the feature `readiness`, an
// active agent may say healthy in every role, and extend until it has. `stopped` follows its own
// word. `ended` is a held agent that has said unfit or must exit at once.
//
// Ill-timed messages have mostly crossed one of ours: they change nothing, and nobody is told. Two
// matter. A stop for an upgrade that the agent has cancelled is void: the upgrader takes the cancel
// for its answer. A stop that comes after the agent has stopped by itself is answered: `stopped`.
//
// Alone, without an upgrader, the program is led through the same story: ready is followed by
// activate, a signal by stop; a request for an upgrade is refused, and all else does nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent-protocol/cpp/wire/message.h"
#include "base/result.h"

namespace agent_protocol {

// The exit statuses of a held agent that must go at once.
inline constexpr int exit_status_input_ended = 1;
inline constexpr int exit_status_terminated = 128 + 15;  // as a shell reports SIGTERM

enum class StopCause { upgrade, rollback, shutdown, signal, end_of_input };

// A stop as the program is told of it. A signal and the end of input have a cause only.
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

// The actions to perform, in order.
using SessionAction = std::variant<Send, Deliver, ExitAtOnce>;
using SessionActions = std::vector<SessionAction>;

// The name of sending `message` in a sentence, such as "confirm upgrade u1".
[[nodiscard]] std::string deed(const AgentMessage& message);

class Session {
 public:
  enum class Company { upgrader, nobody };

  explicit Session(Company company) : company_(company) {}

  // The program wants to say `message`. Refuses, and changes nothing, where the protocol does not
  // allow that now; does not look at the limits of texts and numbers: see codec.h.
  [[nodiscard]] Result<SessionActions> say(const AgentMessage& message);

  [[nodiscard]] SessionActions hear(const UpgraderMessage& message);
  [[nodiscard]] SessionActions input_ended();
  [[nodiscard]] SessionActions terminated();  // SIGTERM has come

  // True while there is nothing that the agent would have to give up before it exits.
  [[nodiscard]] bool held() const { return life_ < Life::active || life_ == Life::ended; }
  // True if `stopped` would be sent, not only noted.
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

  // The sentence for where the agent stands, as a reason to refuse.
  [[nodiscard]] const char* standing() const;
  [[nodiscard]] std::optional<std::string> why_not_known(const std::string& id) const;

  // Why `message` may not be said now, or nullopt.
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

  // Changes the session as saying the message does.
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
  std::optional<std::string> request_;   // the id of an `upgrade` that has not been answered
  std::optional<KnownUpgrade> upgrade_;  // under way, and to replace this agent
  std::optional<StopReason> ordered_;    // the upgrader's own stop
  std::optional<Stopped> unsent_;        // said after a stop that the upgrader did not ask for
  bool signalled_ = false;               // SIGTERM has asked for a stop
  bool readiness_ = false;               // the upgrader waits for healthy in every role
  bool works_ = false;                   // healthy has been said
  bool gone_ = false;                    // the input has ended
};

}  // namespace agent_protocol
