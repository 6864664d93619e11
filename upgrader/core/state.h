// The facts that the supervisor knows, as plain data, and the phases, which are names for
// combinations of them. supervisor.h changes the facts, and has the table of phases.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent-protocol/cpp/wire/message.h"
#include "base/time.h"
#include "upgrader/core/event.h"
#include "upgrader/core/terms.h"

namespace upgrader {

// The event that an agent's deadline waits for.
enum class Awaited {
  ready,
  activate,  // to have taken it, where its pipe was full
  healthy,   // to have said that it works: of a first agent or a fallback with the feature
  stopped,
  exit,
  log_line  // killed, not yet reaped: when to log that again
};

// One process that has been started and not been reaped. Facts are independent; `held`, `active`
// and the rest are read off them.
struct Agent {
  Generation generation = 0;
  agent_protocol::Role role = agent_protocol::Role::first;
  ProgramId program = 0;
  bool greeted = false;  // it said `hello`
  std::optional<std::string> version;
  bool has_readiness = false;  // the feature: it says `healthy` when it works
  bool ready = false;
  bool activate_waits = false;  // it has been sent, and not been written whole
  bool activate_late = false;   // that took too long
  bool activated = false;       // it has been written whole
  bool works = false;           // activated, and it said `healthy` where it has the feature
  // The reason of the `stop` that it was sent, unless a `cancel` has taken that stop back; and the
  // id of the upgrade, where the stop was for one.
  std::optional<agent_protocol::StopReason> told;
  std::optional<std::string> told_id;
  bool stopped = false;
  std::optional<std::string> state;  // that it left with `stopped`
  std::optional<std::string> unfit;  // last words of an agent that exited
  bool output_closed = false;
  bool input_closed = false;
  bool terminated = false;     // SIGTERM has been ordered (a held first agent)
  bool killed = false;         // SIGKILL has been ordered
  bool standby = false;        // a fallback that was started beside the agent on trial
  bool knows_failure = false;  // its `welcome` told it why it was started
  // By when it must have done what is awaited of it; means nothing without a deadline.
  std::optional<Time> deadline;
  Awaited awaited = Awaited::ready;
  // How long the agent has in all until the deadline, `extend` included, and how much of that
  // `extend` has added: told to people and to init.
  Duration allowed{};
  Duration extended{};
  // By when to say `hello`. Once this has passed the log says so, once; nothing else follows.
  std::optional<Time> hello_deadline;
  // By when to have exited, after it closed a pipe while held or its `activate` was lost.
  std::optional<Time> close_deadline;
  // To have said `heartbeat`: of an active agent until it has stopped, is killed or rolled back.
  std::optional<Time> heartbeat_deadline;
  bool silent = false;  // heartbeat_deadline has passed, and it has not said `heartbeat` since
  bool operator==(const Agent&) const = default;
};
inline constexpr std::optional<Time> Agent::*agent_deadlines[] = {
    &Agent::deadline, &Agent::hello_deadline, &Agent::close_deadline, &Agent::heartbeat_deadline};

enum class Origin { agent, signal, control, boot };
[[nodiscard]] std::string_view name_of(Origin origin);

// How an upgrade that was accepted ended. Kept: the old agent stayed active; ended: with the
// upgrader.
enum class UpgradeOutcome { committed, kept, fell_back, ended };
[[nodiscard]] std::string_view name_of(UpgradeOutcome outcome);

// The upgrade under way, from request to its end.
struct UpgradeUnderWay {
  std::string id;
  Origin origin = Origin::agent;
  bool names_agent = false;     // its executable is what AGENT named when it was asked for
  std::string unanswered_name;  // of the operator's request that it is, until that has its answer
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
  // Of the way back at boot: why the first agent is not kept, and with what status the upgrader
  // ends where there is none.
  std::optional<agent_protocol::PastFailure> boot;
  int boot_status = 0;
  bool operator==(const UpgradeUnderWay&) const = default;
};

// The facts about the last active agent that matter for the next one.
struct LeftBehind {
  bool clean = false;                // it confirmed its stop
  std::optional<std::string> state;  // its `state`, which goes into `activate` unread
  int exit_status = 0;               // with which the upgrader exits if no agent follows
  bool operator==(const LeftBehind&) const = default;
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

// The action whose outcome must be the next event.
enum class Pending { nothing, way_back, check, link_back, spawn, relink_proof, relink, activate };

// All that the supervisor knows.
struct State {
  std::optional<Agent> incumbent;  // has the work, or gets it at its `ready` (first, fallback)
  std::optional<Agent> candidate;  // held; from `activate` to the commit, a standby
  std::optional<UpgradeUnderWay> upgrade;
  std::optional<LeftBehind> left_behind;
  std::optional<agent_protocol::Failure> last_failure;  // of the upgrade before, until the next one
  std::optional<int> exit_with;                         // decided; the rest is reaped first
  bool shutdown = false;                                // SIGTERM or SIGINT came
  bool quit = false;                                    // SIGQUIT came
  bool ended = false;
  Generation last_generation = 0;
  std::int64_t control_reloads = 0;       // upgrades asked for by the control directory so far
  std::int64_t upgrade_signals = 0;       // SIGUSR2 so far
  std::optional<Time> attempts_deadline;  // when the active agent will have lasted (--previous)
  bool attempts_done = false;             // it has lasted, or another runs in its place
  bool lasted = false;                    // some agent has, or has passed its trial
  std::vector<Time> put_off;              // deadlines put off once, which are not put off again
  Pending pending = Pending::nothing;
  std::optional<Agent> spawning;  // the agent whose start is pending
  bool operator==(const State&) const = default;
};

[[nodiscard]] Phase phase_of(const State& state);

// The latest end of the phase; nothing if the phase has no time limit.
[[nodiscard]] std::optional<Time> awaited_until(const State& state);

}  // namespace upgrader
