#include "tests/together/simulation/agent_double.h"

#include <algorithm>
#include <csignal>

#include "agent-protocol/cpp/wire/codec.h"
#include "tests/together/simulation/judge.h"
#include "tests/together/simulation/machine.h"

namespace upgrader::simulation {

using namespace agent_protocol;

AgentDouble::AgentDouble(Process& process) : process_(process) {
  Machine& its = process_.machine;
  const Swarm& swarm = its.swarm;
  if (!its.calm) {
    process_.input.capacity = swarm.input_capacity;
    process_.output.capacity = swarm.output_capacity;
  }
  says_healthy_ = process_.path.find("healthy") != std::string::npos || its.random.chance(10);
  if (its.calm || swarm.guided) {
    become_puppet();
    return;
  }
  upgrades_left_ = swarm.upgrades_at_most;
  trickles_ = its.random.chance(swarm.trickles);
  if (its.random.chance(swarm.mischief_makers)) {
    const std::size_t count = 1 + its.random.below(swarm.mischief_max);
    for (std::size_t i = 0; i < count; ++i) {
      mischief_.push_back({static_cast<Occasion>(its.random.below(occasions)),
                           Duration(its.random.between(0, swarm.slowness_ms * 3)),
                           its.random.one_of(swarm.deeds)});
    }
  }
  plan(Deed::hello);
  on(Occasion::spawned);
}

std::optional<Time> AgentDouble::wakes() const {
  std::optional<Time> earliest = awake_at_;
  for (const Errand& errand : errands_) {
    if (!earliest || errand.at < *earliest) earliest = errand.at;
  }
  return earliest;
}

void AgentDouble::wake() {
  const Time now = process_.machine.now();
  if (!awake_at_ || *awake_at_ > now) awake_at_ = now;
}

void AgentDouble::become_puppet() {
  puppet_ = true;
  trickles_ = false;
  drop_plans();
  mischief_.clear();
  process_.outbox.empty() ? void() : wake();
}

void AgentDouble::read_on(bool wanted) {
  reads_ = wanted;
  if (wanted) wake();
}

void AgentDouble::drop_plans() {
  errands_.clear();
}

void AgentDouble::act() {
  const Time now = process_.machine.now();
  const auto due = std::min_element(errands_.begin(), errands_.end(),
                                    [](const Errand& a, const Errand& b) { return a.at < b.at; });
  if (due != errands_.end() && due->at <= now) {
    const Errand errand = *due;
    errands_.erase(due);
    run(errand);
    return;
  }
  awake_at_.reset();
  read_some();
  if (process_.life != Process::Life::running) return;
  process_.push(trickles_ ? 1 + process_.machine.random.below(20) : process_.outbox.size());
  const bool has_room = process_.output.bytes.size() < process_.output.capacity;
  if (!process_.outbox.empty() && has_room) {
    awake_at_ = now + Duration(trickles_ ? process_.machine.random.between(0, 3) : 0);
  }
}

void AgentDouble::signalled(int signal) {
  if (signal == SIGTERM && !puppet_) perform(session_.terminated());
}

// ---- what the agent reads

void AgentDouble::read_some() {
  Pipe& input = process_.input;
  if (!reads_ || !input.reader) return;
  if (input.bytes.empty()) {
    if (input.writer || input_ended_) return;
    input_ended_ = true;
    if (!puppet_) perform(session_.input_ended());
    return;
  }
  const std::span<char> space = reader_.space();
  std::size_t count = std::min(space.size(), input.bytes.size());
  if (trickles_) count = std::min<std::size_t>(count, 1 + process_.machine.random.below(20));
  std::copy_n(input.bytes.begin(), count, space.begin());
  input.bytes.erase(0, count);
  reader_.written(count);
  while (const auto line = reader_.next()) {
    the_judge->heard(process_, line->text);
    auto decoded = decode_upgrader_message(line->text);
    if (const auto* message = std::get_if<UpgraderMessage>(&decoded)) hear(*message);
    if (process_.life != Process::Life::running) return;
  }
  if (!input.bytes.empty() || !input.writer) wake();
}

void AgentDouble::hear(const UpgraderMessage& message) {
  if (!puppet_) perform(session_.hear(message));
}

void AgentDouble::perform(const SessionActions& actions) {
  for (const SessionAction& action : actions) {
    if (const auto* send = std::get_if<agent_protocol::Send>(&action)) {
      process_.say(send->message);
      wake();
    } else if (const auto* deliver = std::get_if<Deliver>(&action)) {
      react(deliver->event);
    } else if (const auto* leave = std::get_if<ExitAtOnce>(&action)) {
      process_.push(process_.outbox.size());
      process_.end({Ending::How::exited, leave->status});
    }
  }
}

void AgentDouble::react(const SessionEvent& event) {
  Random& random = process_.machine.random;
  if (std::holds_alternative<Welcome>(event)) {
    plan(Deed::ready);
    on(Occasion::welcomed);
  } else if (std::holds_alternative<Activate>(event)) {
    plan(Deed::status);
    if (says_healthy_) plan(Deed::healthy);
    beats_left_ = static_cast<int>(random.below(12));
    plan_heartbeat();
    plan_for(Duration(random.between(0, process_.machine.swarm.slowness_ms * 20)), Deed::upgrade,
             false);
    on(Occasion::activated);
  } else if (const auto* stop = std::get_if<StopAsked>(&event)) {
    react_to_stop(*stop);
  } else if (std::holds_alternative<Accepted>(event)) {
    on(Occasion::accepted);
    if (random.chance(process_.machine.swarm.cancels)) plan(Deed::cancel);
  } else if (std::holds_alternative<CandidateReady>(event)) {
    plan(random.chance(process_.machine.swarm.cancels) ? Deed::cancel : Deed::confirm);
    on(Occasion::candidate_ready);
  } else if (std::holds_alternative<CandidateLost>(event)) {
    if (random.chance(50)) plan_for(Duration(0), Deed::cancel, false);
    on(Occasion::lost);
  } else if (std::holds_alternative<UpgradeFailed>(event)) {
    plan(Deed::upgrade);
    on(Occasion::failed);
  } else if (std::holds_alternative<Committed>(event)) {
    plan(Deed::upgrade);
    on(Occasion::committed);
  }
}

void AgentDouble::react_to_stop(const StopAsked& stop) {
  Random& random = process_.machine.random;
  drop_plans();
  if (stop.id) upgrade_id_ = *stop.id;
  const bool may_cancel = stop.cause == StopCause::upgrade;
  if (may_cancel && random.chance(process_.machine.swarm.cancels)) plan(Deed::cancel);
  if (random.chance(10)) plan(Deed::extend);
  plan(Deed::stopped);
  on(Occasion::stop_asked);
}

void AgentDouble::on(Occasion occasion) {
  for (const Mischief& each : mischief_) {
    if (each.occasion == occasion) plan_for(each.delay, each.deed, true);
  }
}

// Plans the agent's next heartbeat: after half of the time in which the upgrader expects it. Each
// agent sends a limited number of heartbeats.
void AgentDouble::plan_heartbeat() {
  const Duration watchdog = process_.machine.swarm.watchdog;
  if (watchdog == Duration(0) || beats_left_-- <= 0) return;
  plan_for(watchdog / 2, Deed::heartbeat, false);
}

void AgentDouble::plan(Deed deed) {
  Machine& its = process_.machine;
  plan_for(Duration(its.random.between(0, its.swarm.slowness_ms)), deed, false);
}

void AgentDouble::plan_for(Duration delay, Deed deed, bool mischief) {
  errands_.push_back({process_.machine.now() + delay, deed, mischief});
}

// ---- what the agent does

void AgentDouble::run(const Errand& errand) {
  if (const auto message = message_for(errand.deed)) {
    say(*message, errand.mischief);
    if (errand.deed == Deed::heartbeat && !errand.mischief) plan_heartbeat();
  } else {
    misbehave(errand.deed);
  }
}

void AgentDouble::say(const AgentMessage& message, bool mischief) {
  Session next = session_;
  const auto allowed = next.say(message);
  if (!allowed && !mischief) return;
  session_ = std::move(next);
  if (allowed) {
    perform(allowed.value());
  } else {
    process_.say(message);
  }
  wake();
  if (!std::holds_alternative<Stopped>(message) || mischief) return;
  on(Occasion::said_stopped);
  plan(Deed::exit_zero);
}

std::string AgentDouble::state() const {
  std::string text = "what generation " + std::to_string(process_.generation) + " leaves";
  if (process_.machine.random.chance(5)) text.resize(process_.machine.random.below(32'768), '.');
  return text;
}

std::optional<AgentMessage> AgentDouble::message_for(Deed deed) {
  switch (deed) {
    case Deed::hello:
      return Hello{protocol_version, process_.path, {}};
    case Deed::ready:
      return Ready{};
    case Deed::unfit:
      return Unfit{"it is broken"};
    case Deed::upgrade:
      if (upgrades_left_-- <= 0) return Heartbeat{};
      return request();
    case Deed::confirm:
      return Confirm{upgrade_id_};
    case Deed::cancel:
      return Cancel{upgrade_id_, "it has changed its mind"};
    case Deed::stopped:
      return Stopped{state()};
    case Deed::healthy:
      return Healthy{};
    case Deed::extend:
      return Extend{process_.machine.random.between(1, 100'000)};
    case Deed::heartbeat:
      return Heartbeat{};
    case Deed::status:
      return Status{"it works"};
    default:
      return std::nullopt;
  }
}

// Returns a random request for an upgrade. Most of these requests occur in the exploration
// (tests/decisions/explore), too. The others have random members.
Upgrade AgentDouble::request() {
  Machine& its = process_.machine;
  Random& random = its.random;
  const bool odd = random.chance(its.swarm.odd_requests);
  const auto some = [&](int percent) { return random.chance(odd ? 50 : percent); };
  Upgrade upgrade{.id = the_judge->next_request(),
                  .executable = "/opt/agent-" + std::to_string(process_.generation + 1)};
  if (some(25)) upgrade.mode = Mode::sequential;
  const bool gate = upgrade.mode != Mode::sequential || odd;
  if (gate && some(20)) upgrade.gate = Gate::confirm;
  if (upgrade.gate && some(50)) upgrade.confirm_timeout_ms = random.between(10, 60'000);
  if (upgrade.gate && !upgrade.confirm_timeout_ms) upgrade.start_timeout_ms = 0;
  if (!upgrade.gate && some(25)) upgrade.on_unclean_stop = UncleanStop::carry_on;
  if (upgrade.on_unclean_stop && !upgrade.mode) upgrade.trial_ms = 0;
  if (!upgrade.gate && !upgrade.mode && !upgrade.on_unclean_stop && some(25)) {
    upgrade.commit = CommitRule::healthy;
    upgrade.executable += "-healthy";
  }
  const bool has_words = upgrade.gate || upgrade.mode || upgrade.on_unclean_stop || upgrade.commit;
  if (!has_words && some(20)) upgrade.fallback = FallbackMode::warm;
  if (odd && random.chance(30)) upgrade.fallback = FallbackMode::cold;
  if (odd && random.chance(50)) upgrade.trial_ms = random.between(0, 5'000);
  if (odd && random.chance(50)) upgrade.stop_timeout_ms = random.between(1, 5'000);
  if (odd && random.chance(50)) upgrade.start_timeout_ms = random.between(0, 5'000);
  upgrade_id_ = upgrade.id;
  return upgrade;
}

void AgentDouble::misbehave(Deed deed) {
  Random& random = process_.machine.random;
  const auto leave = [&](Ending how) {
    process_.push(process_.outbox.size());
    process_.end(how);
  };
  if (deed == Deed::exit_zero) {
    leave({Ending::How::exited, 0});
  } else if (deed == Deed::exit_badly) {
    leave({Ending::How::exited, static_cast<int>(random.between(1, 3))});
  } else if (deed == Deed::crash) {
    process_.end({Ending::How::signalled, random.chance(50) ? SIGKILL : SIGSEGV});
  } else if (deed == Deed::exit_with_words) {
    process_.say(random.chance(50) ? AgentMessage(Unfit{"last words"})
                                   : AgentMessage(Stopped{state()}));
    leave({Ending::How::exited, 0});
  } else if (deed == Deed::leave_grandchild) {
    process_.output_inherited = true;
    leave({Ending::How::exited, 0});
  } else if (deed == Deed::close_output) {
    process_.push(random.below(process_.outbox.size() + 1));
    process_.close_output();
  } else if (deed == Deed::close_input) {
    process_.close_input();
  } else if (deed == Deed::stop_reading) {
    reads_ = false;
  } else if (deed == Deed::outburst) {
    say_anything();
  } else {
    flood();
    (void)deed;
  }
  if (process_.life == Process::Life::running) wake();
}

// Makes the agent send random messages, some of them malformed, at a time at which the protocol
// does not allow them.
void AgentDouble::say_anything() {
  Random& random = process_.machine.random;
  for (std::size_t left = 1 + random.below(12); left > 0; --left) {
    const auto deed = static_cast<Deed>(random.below(static_cast<int>(Deed::status) + 1));
    if (random.chance(10)) {
      process_.say("{\"type\":\"hullo\"}\n", Unknown{"hullo"});
    } else if (random.chance(10)) {
      process_.say("{\"type\":\"upgrade\",\"id\":\"u2\"}\n", Malformed{"upgrade", "", "u2"});
    } else if (random.chance(10)) {
      process_.say("oops\n", Stray{});
    } else if (const auto message = message_for(deed)) {
      process_.say(*message);
    }
  }
}

void AgentDouble::flood() {
  Random& random = process_.machine.random;
  const std::size_t kind = random.below(4);
  if (kind == 0) process_.say(std::string(70'000, 'x') + "\n", Stray{});
  if (kind == 1) {
    for (std::size_t left = random.below(800); left > 0; --left)
      process_.say("{\"type\":\"hullo\"}\n", Unknown{"hullo"});
  }
  if (kind == 2) {
    for (std::size_t left = random.below(800); left > 0; --left)
      process_.say("\n", Stray{});
  }
  if (kind == 3) process_.say("{\"type\":\"extend\"}\n", Malformed{"extend", "", std::nullopt});
}

}  // namespace upgrader::simulation
