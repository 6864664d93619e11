// The state machine that decides what the upgrader does. It is given one event at a time, and
// returns the actions that must follow. It performs nothing itself, reads no clock, and knows no
// pid. The contract is the page agent-protocol(7).
//
// THE WORDS. The incumbent is the agent that has the work, or will get it at its `ready`. The
// candidate is the agent that is to replace it, and is held: it does nothing yet. A standby is a
// held fallback, which stands in the candidate's place during a trial (see warm fallback, below).
// To roll back is to stop an agent that has failed on trial; to fall back is to start the previous
// program again.
//
// THE PHASES. A phase is a name for a combination of facts (phase_of() in state.h), never a
// variable. The last column of the table names each next phase, and the event that leads to it.
//
// clang-format off
//   phase         the incumbent is      the candidate is  goes on to
//   starting      held first agent      -                 running when its `activate`, sent at its
//                                                         `ready`, has been written; ended if it
//                                                         exits or cannot be started; shutting_down
//                                                         if it is unfit, late, closes a pipe or
//                                                         cannot be written to; falling_back in
//                                                         each of these cases where there is a
//                                                         way back at boot
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
//                                                         up; shutting_down if the incumbent exits;
//                                                         preparing at `confirm` if the candidate
//                                                         has closed a pipe: it is not activated,
//                                                         and soon fails
//   switching     active, told to stop  held, or none     when the incumbent has gone: trial, or,
//                 for an upgrade        (sequential)      if the trial takes no time, running, or
//                                                         rolling_back if that commit fails;
//                                                         replacing in a sequential upgrade, or if
//                                                         the candidate's `activate` cannot be
//                                                         written at once, or at all; falling_back
//                                                         if the incumbent's stop was unclean or
//                                                         the candidate was lost, ended if no
//                                                         fallback can be started. At `cancel`:
//                                                         abandoning, or running if there is no
//                                                         candidate
//   replacing     -                     held              when the candidate's `activate`, sent at
//                                                         its `ready`, has been written: trial, or,
//                                                         if the trial takes no time, running, or
//                                                         rolling_back if that commit fails;
//                                                         falling_back if the candidate fails or
//                                                         cannot be written to, ended if no
//                                                         fallback can be started
//   trial         active, activated     -, or a standby:  running at the commit, or abandoning if
//                 by the upgrade        held or killed    there is a standby; rolling_back if it
//                                                         fails; falling_back if it exits, ended if
//                                                         no fallback can be started
//   abandoning    active                killed            running when the candidate has been
//                                                         reaped (the upgrade has failed), or the
//                                                         standby (the upgrade is committed);
//                                                         shutting_down if the incumbent exits
//   rolling_back  active, told to stop  -, or a standby:  falling_back when the incumbent has gone,
//                 for a roll-back       held or killed    or running if a standby has taken the
//                                                         work at once; ended if no fallback can be
//                                                         started
//   falling_back  - or held fallback    killed or -       running when the fallback's `activate`,
//                                                         sent at its `ready`, has been written;
//                                                         ended if it exits; shutting_down if it
//                                                         fails otherwise or cannot be written to.
//                                                         At a boot the fallback is on trial first:
//                                                         trial, or, if the trial takes no time,
//                                                         running, or rolling_back if that commit
//                                                         fails
//   shutting_down told to stop, killed, killed or -       ended when all have been reaped
//                 or -
//   ended         -                     -                 nothing
// clang-format on
//
// If init watches the upgrader, an active agent sends heartbeats from its activation until it has
// said `stopped`, is killed or is rolled back. An agent that sends no heartbeat on trial is rolled
// back. In every other phase such an agent continues, but the upgrader does not tell init that all
// is well (init_news.h).
//
// If the upgrader was frozen, so that it finds a deadline long after it has passed, it puts the
// deadline off once. The deadline has no effect before its new time. While a machine is suspended,
// the clock of the deadlines stands still.
//
// From every phase but ended, SIGTERM, SIGINT, SIGQUIT and the control directory's `shutdown` lead
// to shutting_down; SIGQUIT kills all agents at once.
//
// With a warm fallback the previous program is started again as soon as the candidate is active:
// the standby, a held fallback that is kept in the candidate's place. When the agent on trial has
// failed and gone, the standby becomes the incumbent, and gets `activate` at once if it is ready.
// At the commit the standby is killed. If a standby fails, the upgrade continues, and a cold
// fallback is started when it is needed.
//
// A candidate is activated, and becomes the incumbent, when its `activate` has been written whole.
// If the agent does not read its pipe, that may take a while. Until then the agent is held, but no
// other agent can get the work before this agent has been reaped. The page agent-protocol(7) is
// stricter, and calls the agent active from the moment its `activate` is queued. At most two agents
// exist, and at most one is active. Tests compare the last column of the table with every possible
// step (tests/decisions/explore) and with the scenarios.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/time.h"
#include "upgrader/core/action.h"
#include "upgrader/core/event.h"
#include "upgrader/core/state.h"

namespace upgrader {

// How long the upgrader waits for an exit after an agent has closed its output. A process that
// exits closes its output, too, and its exit is often noticed a little later. So a closed output
// counts as a failure only after this time.
inline constexpr Duration close_grace{200};
// The time without a `hello` after which the log says that the agent may not speak the protocol.
inline constexpr Duration hello_patience{5'000};
// A deadline that is judged more than this time after it has passed shows that the upgrader was not
// running (frozen?), and perhaps the agents were not either. The deadline is then put off once, by
// as much as it was late, but at most by `grace_max`.
inline constexpr Duration late_at_most{1'000};
inline constexpr Duration grace_max{10'000};
// The interval at which the log says that a killed process has not ended.
inline constexpr Duration killed_log_interval{10'000};

// Exit statuses that come from the upgrader itself, not from the agent.
inline constexpr int exit_own_failure = 125;
inline constexpr int exit_not_executable = 126;
inline constexpr int exit_not_found = 127;
inline constexpr int exit_quit = 131;  // the exit status after SIGQUIT, whose number is 3: 128 + 3

class Supervisor {
 public:
  // Makes a supervisor: a new one, or one that continues from the given state.
  explicit Supervisor(Policy policy, State state = {})
      : policy_(policy), state_(std::move(state)) {}

  // Handles any event in any phase, and returns the actions to perform, in order (log lines may be
  // written later). An action that has an outcome is the last one, and the next event must be its
  // outcome. The returned list uses the memory of the list `memory`, whose elements are lost: a
  // caller that passes its previous list saves allocations.
  [[nodiscard]] Actions step(const Event& event, Time now, Actions memory = {});

  // Returns the earliest deadline; nullopt if nothing needs to happen until the next event.
  [[nodiscard]] std::optional<Time> next_deadline() const;

  // Returns the generations of the agents with a deadline up to `by`; an agent with several such
  // deadlines is listed several times. 0 stands for no agent. The deadlines of gate, trial and
  // --attempts count as the incumbent's.
  [[nodiscard]] std::vector<Generation> late(Time by) const;

  // Returns the programs that may still be started. The shell may close all others.
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
