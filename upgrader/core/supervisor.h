// The state machine that decides what the upgrader does. The code in upgrader/shell, which does all
// input and output, passes the supervisor one event at a time, and performs the actions that the
// supervisor returns. The supervisor performs nothing itself, reads no clock, and knows no pid. Its
// contract with agents is the page agent-protocol(7).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/time.h"
#include "upgrader/core/action.h"
#include "upgrader/core/event.h"
#include "upgrader/core/state.h"

namespace upgrader {

// ---- the phases

// The incumbent is the agent that has the work, or that gets the work as soon as it says `ready`.
// The candidate is the agent that is to replace the incumbent. The candidate is held: it has been
// started, and must not work yet. A standby is a held fallback, which takes the candidate's place
// in the state during a trial (see warm fallback, below). To roll back is to stop an agent that has
// failed on trial; to fall back is to start the previous program again. At most two agents exist at
// a time, and at most one of them is active.

// A phase is a name for a combination of facts (phase_of() in state.h), never a variable. The last
// column of this table names each next phase, and the event that leads to it. "Without a trial"
// means that the upgrade's trial takes no time: the upgrade is then committed as soon as the new
// agent is active. Tests compare the last column with every possible step (tests/decisions/explore)
// and with the scenarios.
//
// clang-format off
//   phase         the incumbent is      the candidate is  goes on to
//   starting      held first agent      -                 running when its `activate`, sent at its
//                                                         `ready`, has been written; ended if it
//                                                         exits or cannot be started; shutting_down
//                                                         if it is unfit, late, closes a pipe or
//                                                         cannot be written to; falling_back in
//                                                         each of these cases if --previous names a
//                                                         program that can be started
//   running       active                -                 preparing at an `upgrade`, switching at a
//                                                         sequential one; ended if it exits;
//                                                         shutting_down if it does not say in time
//                                                         that it works (feature readiness)
//   preparing     active                held, not ready   confirming (with a gate) or switching at
//                                                         the candidate's `ready`; running if the
//                                                         candidate exits; abandoning if it fails
//                                                         otherwise, and at `cancel`; shutting_down
//                                                         if the incumbent exits, or does not say
//                                                         in time that it works
//   confirming    active                held, ready       switching at `confirm`; running if the
//                                                         candidate exits; abandoning if it fails
//                                                         otherwise, at `cancel`, and when time is
//                                                         up; shutting_down if the incumbent exits,
//                                                         or does not say in time that it works;
//                                                         preparing at `confirm` if the candidate
//                                                         has closed a pipe: it is not activated,
//                                                         and soon fails
//   switching     active, told to stop  held, or none     once the incumbent has gone: trial, or,
//                 for an upgrade        (sequential)      without a trial, running, or rolling_back
//                                                         if the commit fails; replacing if the
//                                                         upgrade is sequential, or if the
//                                                         candidate's `activate` cannot be written
//                                                         at once, or at all; falling_back if the
//                                                         incumbent's stop was unclean or the
//                                                         candidate was lost; ended if then no
//                                                         fallback can be started. At `cancel`:
//                                                         abandoning, or running if there is no
//                                                         candidate
//   replacing     -                     held              when the candidate's `activate`, sent at
//                                                         its `ready`, has been written: trial, or,
//                                                         without a trial, running, or rolling_back
//                                                         if the commit fails; falling_back if the
//                                                         candidate fails or cannot be written to;
//                                                         ended if then no fallback can be started
//   trial         active, activated     -, or a standby:  running at the commit, or abandoning if
//                 by the upgrade        held or killed    there is a standby; rolling_back if it
//                                                         fails; falling_back if it exits, ended if
//                                                         no fallback can be started
//   abandoning    active                killed            running when the candidate has been
//                                                         reaped (the upgrade has failed), or the
//                                                         standby (the upgrade is committed);
//                                                         shutting_down if the incumbent exits, or
//                                                         does not say in time that it works
//   rolling_back  active, told to stop  -, or a standby:  falling_back when the incumbent has gone,
//                 for a roll-back       held or killed    or running if a standby has taken the
//                                                         work at once; ended if no fallback can be
//                                                         started
//   falling_back  - or held fallback    killed or -       running when the fallback's `activate`,
//                                                         sent at its `ready`, has been written;
//                                                         ended if it exits; shutting_down if it
//                                                         fails otherwise or cannot be written to.
//                                                         A fallback at boot has a trial, too: then
//                                                         trial, or, without a trial, running, or
//                                                         rolling_back if the commit fails
//   shutting_down told to stop, killed, killed or -       ended when all have been reaped
//                 or -
//   ended         -                     -                 nothing
// clang-format on

// From every phase except `ended`, SIGTERM, SIGINT, SIGQUIT and a `shutdown` request in the control
// directory lead to `shutting_down`. SIGQUIT kills all agents immediately.

// If init watches the upgrader, an active agent sends heartbeats from its activation until it has
// said `stopped`, is killed or is rolled back. If no heartbeat of an agent on trial comes within
// the interval of init's watchdog, the agent is rolled back. An agent that is silent for so long in
// any other phase continues to run, but the upgrader no longer tells init that all is well
// (`WATCHDOG=1`, see init_news.h).

// With a warm fallback the previous program is started again as soon as the candidate is active.
// The new process is the standby: it is held, and takes the candidate's place in the state. When
// the agent on trial has failed and exited, the standby becomes the incumbent, and is sent
// `activate` immediately if it is ready. At the commit the standby is killed. If a standby fails,
// the upgrade continues. If the trial then fails, too, the previous program is started only then (a
// cold fallback).

// A candidate is activated, and becomes the incumbent, when its `activate` has been written whole.
// If the candidate's pipe is full and the candidate does not read it, that may take a while. Until
// then the candidate counts as held, but no other agent can get the work before this candidate has
// been reaped. The page agent-protocol(7) is stricter: it calls an agent active from the moment its
// `activate` is queued.

// ---- fixed time limits of the supervisor, and the upgrader's own exit statuses

// How long the upgrader waits for the exit of a held agent that has closed its output or input. A
// process that exits closes its pipes, too, and the upgrader often notices the closed pipe a little
// before the exit. So a closed pipe counts as a failure of its own only after this time.
inline constexpr Duration close_grace{200};
// If an agent has not said `hello` this long after its start, the log says that the agent perhaps
// does not speak the protocol.
inline constexpr Duration hello_patience{5'000};
// If the upgrader notices a deadline more than this time after the deadline has passed, the
// upgrader itself was not running, for example because its control group was frozen. Perhaps the
// agents were not running, either. So the deadline is put off, but only once. A suspended machine
// makes no deadline late, since the clock of the deadlines stands still meanwhile.
inline constexpr Duration late_at_most{1'000};
// The upgrader puts such a deadline off by the time that has passed since the deadline, but at most
// by this time.
inline constexpr Duration grace_max{10'000};
// The interval at which the log repeats that a killed process has not exited yet.
inline constexpr Duration killed_log_interval{10'000};

// Exit statuses that come from the upgrader itself, not from the agent.
inline constexpr int exit_own_failure = 125;
inline constexpr int exit_not_executable = 126;
inline constexpr int exit_not_found = 127;
inline constexpr int exit_quit = 131;  // the exit status after SIGQUIT, whose number is 3: 128 + 3

// ---- the supervisor

class Supervisor {
 public:
  // Makes a supervisor: a new one, or one that continues from the given state.
  explicit Supervisor(Policy policy, State state = {})
      : policy_(policy), state_(std::move(state)) {}

  // Handles any event in any phase, and returns the actions that must be performed, in their order.
  // Only the log lines among them may be written later. Some actions have an outcome, which must be
  // the next event (`Pending` in state.h); such an action is the last of the list. The returned
  // list reuses the memory of the list `memory`, whose elements are dropped: a caller that passes
  // in an earlier list saves allocations.
  [[nodiscard]] Actions step(const Event& event, Time now, Actions memory = {});

  // Returns the earliest deadline; nullopt if nothing needs to happen until the next event.
  [[nodiscard]] std::optional<Time> next_deadline() const;

  // Returns, for each deadline that has passed at the time `by`, the generation of its agent. So an
  // agent with several such deadlines is listed several times. Three deadlines count as those of
  // the incumbent, or of 0 if there is no incumbent: the end of the wait for `confirm`, the end of
  // the trial, and the time at which --attempts counts a start as a success.
  [[nodiscard]] std::vector<Generation> late(Time by) const;

  // Returns the programs that may still be started. The code in upgrader/shell may close all
  // others.
  [[nodiscard]] std::vector<ProgramId> programs() const;

  [[nodiscard]] Phase phase() const { return phase_of(state_); }
  [[nodiscard]] const Policy& policy() const { return policy_; }
  [[nodiscard]] const State& state() const { return state_; }

  bool operator==(const Supervisor&) const = default;

 private:
  Policy policy_;
  State state_;
};

}  // namespace upgrader
