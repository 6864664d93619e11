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

// The incumbent is the agent that does the service's work, or begins it as soon as it says `ready`.
// The candidate is the agent that is to replace the incumbent. The candidate is held: it has been
// started, and must not work yet. A standby is a fallback that is started in advance and held
// during a trial, in the candidate's place. To roll back is to stop an agent that has failed on
// trial; to fall back is to start the previous program again. At most two agents exist at a time,
// and at most one of them is active.

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

// If init watches the upgrader (WATCHDOG_USEC), an active agent must send a heartbeat within each
// interval of the watchdog, until it has said `stopped`, is killed or is rolled back. An agent on
// trial that misses a heartbeat is rolled back. Any other agent that misses one continues to run,
// but the upgrader no longer sends init WATCHDOG=1 (see init_news.h).

// With a warm fallback, the previous program is started again as soon as the candidate is active.
// This new process, the standby, is held (it must not work yet). If the trial fails, the standby is
// activated when the agent on trial has exited. At the commit, the standby is killed. If the
// standby itself fails, the upgrade continues, and a failed trial then needs a new fallback (a cold
// one).

// A candidate is active when its `activate` has been written whole. If the candidate does not read
// its pipe, that may take a while. During that time the candidate counts as held, but no other
// agent can be activated before the candidate has been reaped: agent-protocol(7) calls an agent
// active from the moment its `activate` is queued.

// ---- fixed time limits of the supervisor, and the upgrader's own exit statuses

// How long the upgrader waits for the exit of an agent that has closed a pipe before it is active.
// A process that exits closes its pipes, too, often a little before the upgrader notices the exit.
// So a closed pipe is treated as a failure only after this time.
inline constexpr Duration close_grace{200};
// If an agent has not said `hello` this long after its start, the log says that the agent perhaps
// does not speak the protocol.
inline constexpr Duration hello_patience{5'000};
// If the upgrader notices a passed deadline after a longer delay than this, the upgrader was not
// running, for example because its control group was frozen. Perhaps the agents were not running,
// either, so the deadline is put off once. A suspend makes no deadline late, because the clock of
// the deadlines stands still meanwhile.
inline constexpr Duration late_at_most{1'000};
// A late deadline is put off by the time by which it is late, but at most by this time.
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

  // Handles any event in any phase, and returns the actions to perform, in order. Only log lines
  // may be performed later. If the last action has an outcome (`Pending` in state.h), that outcome
  // must be the next event. The memory of `memory` is reused for the result, which saves
  // allocations.
  [[nodiscard]] Actions step(const Event& event, Time now, Actions memory = {});

  // Returns the earliest deadline; nullopt if nothing needs to happen until the next event.
  [[nodiscard]] std::optional<Time> next_deadline() const;

  // Returns, for each deadline that has passed at the time `by`, the generation of the agent whose
  // messages must be read first. An agent may be listed several times. For a deadline that is not
  // an agent's own, such as the end of the trial, this is the incumbent (the agent that does the
  // work); 0 if there is none.
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
