// One step of the supervisor: one event, taken to its end. Every change of the state is made here.
// The functions stand in files by subject: step_messages.cc, messages of agents; step_agents.cc,
// starts and exits of agents; step_activate.cc, activations; step_upgrade.cc, the steps of an
// upgrade; step_failure.cc, its failure and the fall-back; step_boot.cc, a first agent that fails;
// step_control.cc, requests of operators; step_deadlines.cc; step_end.cc, the end of the upgrader;
// step.cc, the rest.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "upgrader/core/action.h"
#include "upgrader/core/event.h"
#include "upgrader/core/state.h"

namespace upgrader {

// A deadline that a timeout sets; a zero timeout sets none.
[[nodiscard]] inline std::optional<Time> deadline_after(Time now, Duration timeout) {
  if (timeout == Duration::zero()) return std::nullopt;
  return now + timeout;
}

class Step {
 public:
  // `policy`, `state` and `actions` must outlive it: it changes the state, and appends actions.
  Step(const Policy& policy, State& state, Time now, Actions& actions)
      : policy_(policy), state_(state), now_(now), actions_(actions) {}

  // One function for each kind of event.
  void take(const StartRequested& event);
  void take(const StartRefused& event);
  void take(const WayBackFound& event);
  void take(const NoWayBack&);
  void take(const MessageReceived& event);
  void take(const MessageRefused& event);
  void take(const StrayReceived& event);
  void take(const OutputClosed& event);
  void take(const InputClosed& event);
  void take(const ActivateWritten& event);
  void take(const ProcessExited& event);
  void take(const Checked& event);
  void take(const CheckFailed& event);
  void take(const Spawned& event);
  void take(const SpawnFailed& event);
  void take(const LinkPutBack&);
  void take(const LinkNotPutBack& event);
  void take(const RelinkProved&);
  void take(const RelinkProofFailed& event);
  void take(const Relinked&);
  void take(const RelinkFailed& event);
  void take(const ActivateSent& event);
  void take(const DeadlinePassed& event);
  void take(const StopRequested&);
  void take(const QuitRequested&);
  void take(const UpgradeRequested&);
  void take(const SignalReceived& event);
  void take(const ControlRequested& event);

 private:
  // ---- what agents say
  void hear(Agent& agent, const agent_protocol::Hello& hello);
  void hear(Agent& agent, const agent_protocol::Ready&);
  void hear(Agent& agent, const agent_protocol::Unfit& unfit);
  void hear(Agent& agent, const agent_protocol::Upgrade& upgrade);
  void hear(Agent& agent, const agent_protocol::Confirm& confirm);
  void hear(Agent& agent, const agent_protocol::Cancel& cancel);
  void hear(Agent& agent, const agent_protocol::Stopped& stopped);
  void hear(Agent& agent, const agent_protocol::Healthy&);
  void hear(Agent& agent, const agent_protocol::Extend& extend);
  void hear(Agent& agent, const agent_protocol::Heartbeat&);
  void hear(Agent& agent, const agent_protocol::Status& status) { note_status(agent, status); }
  void take_last_words(Agent& agent, const agent_protocol::AgentMessage& message);
  void note_hello(Agent& agent, const agent_protocol::Hello& hello);
  void note_stopped(Agent& agent, const agent_protocol::Stopped& stopped);
  void note_status(const Agent& agent, const agent_protocol::Status& status);

  // ---- agents that come and go
  void order_spawn(agent_protocol::Role role, ProgramId program, Generation generation);
  Duration start_timeout_of(agent_protocol::Role role) const;
  void activate_incumbent();
  void activate_candidate();
  void send_activate(Agent& agent, bool has_trial);
  void activated();
  void begin_trial(const Agent& agent, const std::optional<Time>& end);
  void activate_lost(Agent& agent);
  void candidate_exited(const Agent& gone, const Ending& ending);
  void incumbent_exited(const Agent& gone, const Ending& ending);
  static int status_after_held(const Agent& gone, const Ending& ending);
  void held_incumbent_exited(const Agent& gone, const Ending& ending);
  void leave_legacy(const Agent& gone, const Ending& ending);
  void take_over_from(const Agent& gone, const Ending& ending);
  void go_on_after_reaping();

  // ---- deadlines
  bool has_passed(const std::optional<Time>& deadline) const;
  void put_off_what_is_late();
  bool is_put_off(Time deadline) const;
  bool agent_deadline_passed(Agent& agent);
  void does_not_work(Agent& agent);
  void heartbeat_missed(Agent& agent);
  void await_heartbeat(Agent& agent);
  static void await_no_heartbeat(Agent& agent);
  void upgrade_deadline_passed();
  void start_close_grace(Agent& agent);

  // ---- the way of an upgrade
  std::optional<std::string> why_busy() const;
  void begin_upgrade(const agent_protocol::Upgrade& request, Origin origin,
                     std::string_view name = {});
  void open_gate();
  void start_upgrade();
  void tell_accepted();
  void wait_for_confirm();
  void pass_gate();
  void tell_stop_for_upgrade();
  void commit();
  void tell_committed();

  // ---- what an operator asks
  void upgrade_by_control(const ControlRequest& request);
  std::string why_not(const ControlRequest& request) const;
  std::string why_not_cancel(Phase phase) const;
  void obey(const ControlRequest& request);
  void answer(const std::string& name, Deed deed, std::string_view refusal);
  void answer_upgrade(std::string_view refusal);

  // ---- how an upgrade fails
  void refuse_upgrade(const Trouble& trouble);
  void answer_refusal(Agent& agent, const std::string& id, const std::string& reason);
  void held_agent_failed(Agent& agent, const std::string& reason);
  void fallback_failed(const Agent& agent, const std::string& reason, const Ending* ending);
  void candidate_failed(const std::string& reason, const Ending* ending);
  void fail_upgrade(agent_protocol::Stage stage, const std::string& reason,
                    std::string_view errno_name = {}, const Ending* ending = nullptr);
  void note_failure(agent_protocol::Stage stage, const std::string& reason,
                    std::string_view errno_name, const Ending* ending);
  void step_back();
  void standby_lost(const std::string& who, const std::string& reason);
  void fall_back();
  void record_ending(Outcome outcome, std::string_view reason = {});
  void end_failed_upgrade();
  bool owes_link() const;
  void restore_link_for_signal();
  void restore_link_unless_waiting();

  // ---- a first agent that fails, and the way back
  void first_failed(agent_protocol::Stage stage, const std::string& reason,
                    std::string_view errno_name, const Ending* ending, int status,
                    const std::optional<std::string>& version = std::nullopt);
  void await_lasting();
  void has_lasted();
  void forget_attempts();

  // ---- the end of the upgrader
  bool shutting_down() const { return state_.shutdown || state_.quit || state_.exit_with; }
  void log_why_it_ends(std::string why);
  void end_with(int status, const std::string& why);
  void drop_upgrade(const std::string& reason);
  void end_upgrade_for_shutdown();
  void stop_for_shutdown(Agent& agent);
  void exit_if_alone();

  // ---- small ones
  bool started() const { return state_.last_generation > 0; }
  Agent* find(Generation generation);
  bool belongs_to_upgrade(const Agent& agent) const;
  bool on_trial(const Agent& agent) const { return agent.activated && belongs_to_upgrade(agent); }
  static bool has_closed(const Agent& agent) { return agent.output_closed || agent.input_closed; }
  Duration time_left(const Agent& agent) const;
  void await(Agent& agent, Awaited what, Duration allowed) const;
  void tell_stop(Agent& agent, agent_protocol::StopReason reason, Duration timeout);
  void kill(Agent& agent);
  void send(const Agent& agent, agent_protocol::UpgraderMessage message);
  void refuse_message(const Agent& agent, const agent_protocol::AgentMessage& message,
                      std::string_view reason);
  void send_error(const Agent& agent, std::string_view about, std::string_view reason);
  void notice(Generation generation, NoticeKind kind, std::string text);
  void log(LogLevel level, std::string text);
  void log_reaped(const Agent& gone);
  void order(Pending outcome, Action action);
  bool expect(Pending outcome);

  const Policy& policy_;
  State& state_;
  const Time now_;
  Time passed_by_{};  // deadlines up to then are judged
  Actions& actions_;
};

}  // namespace upgrader
