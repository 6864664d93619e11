#include "tests/together/simulation/director.h"

#include <csignal>

#include "tests/together/simulation/agent_double.h"

namespace upgrader::simulation {
namespace {

using namespace agent_protocol;

// After this number of events in a run, all faults are switched off, so that the run can end. No
// single upgrade needs so many events.
constexpr int events_max = 600;
// How many steps a run may take after its faults have been switched off.
constexpr int calm_deeds_max = 100;
// How many events the good upgrade at the end of a run may take.
constexpr int useful_events_max = 16;
// How many more events the good upgrade may take if it has a standby, a fallback that waits during
// the trial. The events are the standby's start, its `hello`, its `ready` and its exit.
constexpr int standby_events = 4;

}  // namespace

Director::Director(Machine& machine, Guide* guide)
    : machine_(machine), guide_(guide), calm_at_(machine.now() + machine.swarm.calm_after) {}

void Director::count_event(const Supervisor&) {
  ++events_;
  if (act_ == Act::upgrade) ++upgrade_events_;
}

bool Director::act(const Supervisor* supervisor) {
  if (act_ == Act::faults) {
    if (guide_ != nullptr && supervisor != nullptr && events_ < events_max &&
        guide_->act(*supervisor)) {
      return true;
    }
    const bool more_to_come = machine_.next().has_value();
    const bool time_is_up = machine_.now() >= calm_at_ || events_ >= events_max;
    if (guide_ == nullptr && more_to_come && !time_is_up) return false;
    begin_calm();
    return true;
  }
  if (supervisor == nullptr) return false;
  return lead_home(supervisor->state());
}

void Director::begin_calm() {
  act_ = Act::calm;
  machine_.calm = true;
  machine_.unschedule();
  machine_.operators.go_home();
  for (const auto& process : machine_.processes()) {
    if (process->life != Process::Life::running) continue;
    process->input.capacity = process->output.capacity = 65'536;
    process->agent->become_puppet();
    process->agent->read_on(true);
    if (process->killed_at) process->killed_at = machine_.now();
  }
}

bool Director::lead_home(const State& state) {
  if (++calm_deeds_ > calm_deeds_max) {
    complaint_ = "Time: it does not come to rest";
    return false;
  }
  if (state.candidate && lead_agent(*state.candidate, state)) return true;
  if (state.incumbent && lead_agent(*state.incumbent, state)) return true;
  if (phase_of(state) == Phase::running) return go_on_from_running(state);
  return false;
}

// Makes a cooperative agent take one step. Returns false if the agent had no step to take.
bool Director::lead_agent(const Agent& agent, const State& state) {
  Process* process = machine_.of(agent.generation);
  if (process == nullptr || process->life != Process::Life::running) return false;
  const bool must_go = agent.stopped || agent.terminated || !process->output.writer;
  if (agent.killed || must_go) {
    process->end({Ending::How::exited, 0});
    return true;
  }
  if (!process->outbox.empty()) {
    process->agent->wake();
    return true;
  }
  const auto say = [&](const AgentMessage& message) {
    process->say(message);
    process->push(process->outbox.size());
    return true;
  };
  const bool on_trial =
      agent.activated && state.upgrade && state.upgrade->generation == agent.generation;
  if (!agent.greeted) return say(Hello{protocol_version, process->path, {}});
  if (!agent.activated && !agent.ready) return say(Ready{});
  if (agent.told) return say(Stopped{"left in calm"});
  if (on_trial && state.upgrade->terms.commit == CommitRule::healthy) return say(Healthy{});
  if (agent.activated && state.upgrade && state.upgrade->waits_for_confirm) {
    if (state.upgrade->origin == Origin::control) {
      return machine_.operators.confirm(state.upgrade->id);
    }
    return say(Confirm{state.upgrade->id});
  }
  return false;
}

bool Director::go_on_from_running(const State& state) {
  const Generation active = state.incumbent->generation;
  Process* process = machine_.of(active);
  if (process->life != Process::Life::running) return false;
  if (act_ == Act::calm) {
    act_ = Act::upgrade;
    successor_ = state.last_generation + 1;
    Upgrade upgrade{.id = "uGOOD",
                    .executable = "/opt/agent-useful",
                    .mode = Mode::parallel,
                    .trial_ms = 1'000};
    process->say(upgrade);
    process->push(process->outbox.size());
    return true;
  }
  if (act_ == Act::upgrade) {
    const bool warm = machine_.swarm.options.defaults.fallback == FallbackMode::warm;
    const int events_due = useful_events_max + (warm ? standby_events : 0);
    const bool good = active == successor_ && upgrade_events_ <= events_due;
    if (!good) complaint_ = "Usefulness: a good upgrade does not commit";
    act_ = Act::stop;
    machine_.raise(SIGTERM);
    return true;
  }
  complaint_ = "it was told to stop, and runs on";
  return false;
}

}  // namespace upgrader::simulation
