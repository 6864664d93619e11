// Decides. Takes one event at a time and says what is to be done; does nothing itself, reads no
// clock, knows no pid. The contract is the page agent-protocol(7).
//
// THE PHASES. A phase is a name for a combination of facts (phase_of() below), never a variable.
//
// clang-format off
//   phase         the incumbent is      the candidate is  goes on to
//   starting      held first agent      -                 running at its `ready`; shutting_down if
//                                                         it exits, is unfit, late, closes a pipe
//   running       active                -                 preparing or switching at an `upgrade`
//   preparing     active                held, not ready   confirming or switching at its `ready`;
//                                                         abandoning if it fails or at `cancel`
//   confirming    active                held, ready       switching at `confirm`; abandoning if it
//                                                         fails, at `cancel`, when time is up
//   switching     active, told to stop  held, or none     when the incumbent has gone: trial, or
//                 for an upgrade        (sequential)      replacing (sequential), or falling_back
//                                                         if its stop was unclean or the candidate
//                                                         was lost; abandoning at `cancel`
//   replacing     -                     held              trial at its `ready`; falling_back if it
//                                                         fails
//   trial         active, activated     -                 running at the commit; falling_back if it
//                 by the upgrade                          exits; rolling_back if it fails otherwise
//   abandoning    active                killed            running, when the candidate has been
//                                                         reaped: the upgrade has failed
//   rolling_back  active, told to stop  -                 falling_back when it has gone
//                 for a roll-back
//   falling_back  - or held fallback    killed or -       running at its `ready`; shutting_down if
//                                                         it fails
//   shutting_down told to stop, killed, killed or -       ended when all have been reaped
//                 or -
//   ended         -                     -                 nothing
// clang-format on
//
// A candidate becomes the incumbent when it is activated. In every phase SIGTERM and SIGQUIT lead
// to shutting_down, and so does the exit of an active agent that was not told to stop (on trial it
// leads to falling_back). At most two agents exist, and at most one is active.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent-protocol/message.h"
#include "upgrader/action.h"
#include "upgrader/event.h"
#include "upgrader/time.h"

namespace upgrader {

// Every exit closes the output first, so a closed output is judged only after this.
inline constexpr Duration close_grace{200};
// How often a killed process that does not end is logged.
inline constexpr Duration killed_log_interval{10'000};

// Exit statuses of the upgrader's own.
inline constexpr int exit_own_failure = 125;
inline constexpr int exit_not_executable = 126;
inline constexpr int exit_not_found = 127;
inline constexpr int exit_quit = 131;  // 128 + SIGQUIT

// How an upgrade is to go: what was asked for, the defaults filled in. A zero timeout is no limit.
struct Terms {
  agent_protocol::Mode mode = agent_protocol::Mode::parallel;
  agent_protocol::Gate gate = agent_protocol::Gate::none;
  agent_protocol::CommitRule commit = agent_protocol::CommitRule::survive;
  Duration start_timeout{};
  Duration confirm_timeout{};
  Duration stop_timeout{};
  Duration trial{};
  agent_protocol::UncleanStop on_unclean_stop = agent_protocol::UncleanStop::fall_back;
  bool operator==(const Terms&) const = default;
};

// What the command line fixes for the upgrader's whole life.
struct Policy {
  Terms defaults;  // for upgrades that do not say; its stop timeout is a shutdown's, too
  Duration exit_grace{};
  bool relink = false;
  bool operator==(const Policy&) const = default;
};

// One process that has been started and not been reaped. Facts are independent; `held`, `active`
// and the rest are read off them.
struct Agent {
  Generation generation = 0;
  agent_protocol::Role role = agent_protocol::Role::first;
  ProgramId program = 0;
  bool greeted = false;  // it said `hello`
  std::optional<std::string> version;
  bool ready = false;
  bool activated = false;
  std::optional<agent_protocol::StopReason> told;  // to stop, and it has not taken that back
  std::optional<std::string> told_id;              // the upgrade that it was told to stop for
  bool stopped = false;
  std::optional<std::string> state;  // that it left with `stopped`
  std::optional<std::string> unfit;  // last words of an agent that exited
  bool output_closed = false;
  bool input_closed = false;
  bool terminated = false;  // SIGTERM has been ordered (a held first agent)
  bool killed = false;      // SIGKILL has been ordered
  // To be ready; later to have stopped; later to have exited. Once killed: the next log line.
  std::optional<Time> deadline;
  // To have exited, after it closed a pipe while held, or its input while on trial.
  std::optional<Time> close_deadline;
  bool operator==(const Agent&) const = default;
};

enum class Origin { agent, signal };

// The upgrade under way, from request to its end.
struct UpgradeUnderWay {
  std::string id;
  Origin origin = Origin::agent;
  Terms terms;
  ProgramId previous = 0;  // what a fallback runs
  std::optional<std::string> previous_version;
  std::optional<ProgramId> program;                // once the executable has been checked
  std::optional<Generation> generation;            // once accepted
  std::optional<std::string> version;              // the candidate's
  bool waits_for_confirm = false;                  // the gate is shut
  bool known_to_agent = false;                     // it asked for it, or was sent a `stop` for it
  std::optional<Time> deadline;                    // the gate's, later the trial's
  std::optional<agent_protocol::Failure> failure;  // the first cause
  bool operator==(const UpgradeUnderWay&) const = default;
};

// What the agent that was active last left behind.
struct Legacy {
  bool clean = false;                // it confirmed its stop
  std::optional<std::string> state;  // given on, never read
  int exit_status = 0;               // the upgrader's, should this have been the last agent
  bool operator==(const Legacy&) const = default;
};

enum class Phase {
  starting,
  running,
  preparing,
  confirming,
  switching,
  replacing,
  trial,
  abandoning,
  rolling_back,
  falling_back,
  shutting_down,
  ended,
};
[[nodiscard]] std::string_view name_of(Phase phase);

// The outcome that must be the next event.
enum class Pending { nothing, check, spawn, relink_proof, relink };

// All that the supervisor knows.
struct State {
  std::optional<Agent> incumbent;  // has the work, or gets it at its `ready` (first, fallback)
  std::optional<Agent> candidate;  // held
  std::optional<UpgradeUnderWay> upgrade;
  std::optional<Legacy> legacy;
  std::optional<int> exit_with;  // decided; the rest is reaped first
  bool shutdown = false;         // SIGTERM or SIGINT came
  bool quit = false;             // SIGQUIT came
  bool ended = false;
  Generation last_generation = 0;
  std::int64_t upgrade_signals = 0;  // SIGUSR2 so far
  Pending pending = Pending::nothing;
  std::optional<Agent> spawning;  // the agent whose start is pending
  bool operator==(const State&) const = default;
};

[[nodiscard]] Phase phase_of(const State& state);

class Supervisor {
 public:
  explicit Supervisor(Policy policy) : policy_(policy) {}
  // Goes on from a state that another has had.
  Supervisor(Policy policy, State state) : policy_(policy), state_(std::move(state)) {}

  // Takes any event in any phase, and returns what is to be done, in order. An action that has an
  // outcome is the last of its list, and the outcome must be the next event.
  [[nodiscard]] Actions step(const Event& event, Time now);

  // The earliest deadline, or nullopt: then nothing needs to happen until the next event.
  [[nodiscard]] std::optional<Time> next_deadline() const;

  // The agents whose own time is up: those that a deadline up to `by` is about.
  [[nodiscard]] std::vector<Generation> late(Time by) const;

  // The programs that are still needed. The shell may close all others.
  [[nodiscard]] std::vector<ProgramId> programs() const;

  [[nodiscard]] Phase phase() const { return phase_of(state_); }
  [[nodiscard]] const State& state() const { return state_; }

  // The whole state as text: equal for equal supervisors, different for different ones.
  [[nodiscard]] std::string print() const;
  [[nodiscard]] std::size_t hash() const;

  bool operator==(const Supervisor&) const = default;

 private:
  Policy policy_;
  State state_;
};

}  // namespace upgrader
