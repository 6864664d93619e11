// The facts that the supervisor knows, as plain data, and the phases, which are names for
// combinations of them. supervisor.h changes the facts, and has the table of phases.
#pragma once

#include <array>
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

using agent_protocol::name_of;

// One process that has been started and not been reaped. The members are independent facts. Whether
// the agent is active, or still held (it must not work yet), follows from them.
struct Agent {
  Generation generation = 0;
  agent_protocol::Role role = agent_protocol::Role::first;
  ProgramId program = 0;
  bool greeted = false;  // the agent has said `hello`
  std::optional<std::string> version;
  // True if the agent has the feature readiness: it says `healthy` when it works.
  bool has_readiness = false;
  bool ready = false;
  bool activate_waits = false;  // `activate` has been sent, and has not been written whole
  bool activate_late = false;   // writing the `activate` took too long
  bool activated = false;       // `activate` has been written whole
  bool works = false;           // activated, and has said `healthy` if it has the feature readiness
  // The reason of the `stop` that the agent was sent. `told_id` is the upgrade's id if the stop was
  // for an upgrade. Both are cleared when the agent withdraws the stop with `cancel`.
  std::optional<agent_protocol::StopReason> told;
  std::optional<std::string> told_id;
  bool stopped = false;
  std::optional<std::string> state;  // the `state` that the agent sent with `stopped`
  // The reason from the agent's `unfit`, if that message was read only after the agent had exited
  // or had been sent SIGTERM or SIGKILL.
  std::optional<std::string> unfit;
  bool output_closed = false;
  bool input_closed = false;
  // True if SIGTERM was ordered for this agent. The supervisor orders SIGTERM only for a first
  // agent that has not said `hello`, and so perhaps does not speak the protocol.
  bool terminated = false;
  bool killed = false;         // SIGKILL was ordered for this agent
  bool standby = false;        // a fallback that was started beside the agent on trial
  bool knows_failure = false;  // `welcome` has told this fallback which upgrade failed
  // The time by which the agent must do the next thing that is expected of it: say `ready`, read
  // the rest of its `activate`, say `healthy`, say `stopped`, or exit. For a killed agent, this is
  // the time at which the log says again that the agent has not exited.
  std::optional<Time> deadline;
  // `allowed` is the whole time that the agent has until its deadline; `extended` is the part of it
  // that the agent's `extend` messages have added. The log shows both. If `extended` is not 0, init
  // is asked to wait longer, too.
  Duration allowed{};
  Duration extended{};
  // If the agent has not said `hello` by this time, a warning is logged. Nothing else happens.
  std::optional<Time> hello_deadline;
  // The time by which the agent must have exited. Set when an agent that is not active yet has
  // closed a pipe, or when its `activate` could not be delivered.
  std::optional<Time> close_deadline;
  // The time by which the agent must say `heartbeat`. Set while an agent is active, until it has
  // stopped, is killed or is rolled back (stopped because its trial has failed).
  std::optional<Time> heartbeat_deadline;
  bool silent = false;  // heartbeat_deadline has passed, and no `heartbeat` has come since
  bool operator==(const Agent&) const = default;
};
inline constexpr std::optional<Time> Agent::*agent_deadlines[] = {
    &Agent::deadline, &Agent::hello_deadline, &Agent::close_deadline, &Agent::heartbeat_deadline};

enum class Origin { agent, signal, control, boot };

// How an accepted upgrade has ended. committed: the new version stays. kept: the old agent stayed
// active. fell_back: the previous program was started again. ended: the upgrader ended before it
// was decided whether the new version stays.
enum class UpgradeOutcome { committed, kept, fell_back, ended };

struct UpgradeUnderWay {
  std::string id;
  Origin origin = Origin::agent;
  // True if the request named no executable. The new program is then the file that AGENT on the
  // command line names now.
  bool names_agent = false;
  // The name of the operator's request for this upgrade; empty if the request has been answered, or
  // if no operator requested the upgrade.
  std::string unanswered_name;
  Terms terms;
  ProgramId previous = 0;  // the program that a fallback of this upgrade runs
  std::optional<std::string> previous_version;
  std::optional<ProgramId> program;  // the new program, once it has passed the check
  // the candidate's generation; absent until the upgrade is accepted
  std::optional<Generation> generation;
  std::optional<std::string> version;  // the version of the candidate
  bool waits_for_confirm = false;      // the candidate is ready, and `confirm` is awaited
  // True if the active agent knows of this upgrade, because the agent requested it, or was sent
  // `candidate_ready` or `stop`.
  bool known_to_agent = false;
  // the time limit of the wait for `confirm`, or the end of the trial
  std::optional<Time> deadline;
  std::optional<agent_protocol::Failure> failure;  // the first failure of the upgrade
  // Why the first agent failed. Set only if it failed at boot and --previous was given. If the
  // previous version cannot be started either, the upgrader exits with `boot_status`.
  std::optional<agent_protocol::PastFailure> boot;
  int boot_status = 0;
  bool operator==(const UpgradeUnderWay&) const = default;
};

// Facts about the last active agent that are needed when the next agent is activated.
struct LeftBehind {
  bool clean = false;  // the agent said `stopped` before it exited, so its stop was clean
  // The `state` from the message `stopped` of the last active agent. It is passed on to the next
  // agent in the message `activate`.
  std::optional<std::string> state;
  int exit_status = 0;  // the upgrader's exit status if no agent follows
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

// The kinds of actions that have an outcome. The outcome of the action that the supervisor has just
// ordered must be the next event; State::pending names that action's kind.
enum class Pending { nothing, way_back, check, link_back, spawn, relink_proof, relink, activate };

// All facts that the supervisor knows.
struct State {
  // The agent that does the service's work, or that begins it as soon as it says `ready`: a first
  // agent, or a fallback (an agent with the previous program) once no other agent does the work.
  std::optional<Agent> incumbent;
  // The agent that is to replace the incumbent. During a trial: the standby (a fallback, started in
  // advance).
  std::optional<Agent> candidate;
  std::optional<UpgradeUnderWay> upgrade;
  std::optional<LeftBehind> left_behind;
  // The failure of the last upgrade; cleared when the next upgrade begins.
  std::optional<agent_protocol::Failure> last_failure;
  // The exit status that the upgrader has decided on; it exits when all agents have been reaped.
  std::optional<int> exit_with;
  bool shutdown = false;  // SIGTERM, SIGINT or an operator's request for a shutdown has come
  bool quit = false;      // true if SIGQUIT has come
  bool ended = false;
  Generation last_generation = 0;
  // the number of upgrades requested through the control directory
  std::int64_t control_reloads = 0;
  std::int64_t upgrade_signals = 0;  // the number of SIGUSR2 received
  // The time at which the start of this upgrader counts as a success: the active agent has then
  // been active for the length of a trial. Set only with --previous or --attempts, until it is
  // decided whether the start has failed.
  std::optional<Time> attempts_deadline;
  // True once it is decided, for --previous and --attempts, whether this start of the upgrader has
  // failed. It has failed if another program than AGENT's was started. It has not failed if an
  // agent has proved good (see proved_good), or if a shutdown was requested.
  bool start_is_judged = false;
  // an agent has proved good: it has been active for as long as a trial takes, or its upgrade was
  // committed
  bool proved_good = false;
  // The new times of deadlines that had passed while the upgrader was frozen, and were put off. A
  // deadline in this list is not put off again.
  std::vector<Time> put_off;
  Pending pending = Pending::nothing;
  std::optional<Agent> spawning;  // the agent whose process is being started now
  bool operator==(const State&) const = default;
};

[[nodiscard]] Phase phase_of(const State& state);

// Returns the time limit of the current phase, or nothing if that phase has none.
[[nodiscard]] std::optional<Time> awaited_until(const State& state);

}  // namespace upgrader

namespace agent_protocol {

template <>
inline constexpr std::array<std::string_view, 4> names_of<upgrader::Origin>{"agent", "signal",
                                                                            "control", "boot"};
template <>
inline constexpr std::array<std::string_view, 4> names_of<upgrader::UpgradeOutcome>{
    "committed", "kept", "fell_back", "ended"};
template <>
inline constexpr std::array<std::string_view, 12> names_of<upgrader::Phase>{
    "starting", "running",    "preparing",    "confirming",   "switching",     "replacing",
    "trial",    "abandoning", "rolling_back", "falling_back", "shutting_down", "ended"};

}  // namespace agent_protocol
