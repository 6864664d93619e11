#include "sample-agent/agent.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "sample-agent/copier.h"
#include "sample-agent/start_checks.h"
#include "sample-agent/variant.h"
#include "sample-agent/words.h"

namespace sample_agent {
namespace {

// How long to wait after a change of the input before lines are copied. Lines often come in bursts,
// so after this pause one read gets many lines.
constexpr std::uint64_t work_delay_ms = 1;

// How long after a copied line the position is saved. The next agent has to check all records since
// the last save if this agent crashes. A save after each line would be too slow, because a save
// includes a sync.
constexpr std::uint64_t save_delay_ms = 200;

// How often the agent looks for new lines even if the system has not reported a change of the
// input.
constexpr std::uint64_t tick_interval_ms = 1'000;

constexpr std::uint64_t slow_stop_ms = 2'000;

constexpr std::uint64_t us_per_ms = 1'000;

// The number of heartbeats that are sent within `watchdog_ms`. The protocol requires two. With
// four, one late heartbeat does not make the upgrader regard this agent as silent.
constexpr std::int64_t heartbeats_a_watchdog = 4;

std::string name_of(SampleAgent::Agent::StopReason reason) {
  using Reason = SampleAgent::Agent::StopReason;
  switch (reason) {
    case Reason::upgrade:
      return "upgrade";
    case Reason::rollback:
      return "rollback";
    case Reason::shutdown:
      return "shutdown";
    case Reason::signal:
      return "signal";
    case Reason::end_of_input:
      return "end of input";
  }
  return "unknown";
}

std::string name_of(SampleAgent::Agent::Role role) {
  using Role = SampleAgent::Agent::Role;
  switch (role) {
    case Role::first:
      return "first";
    case Role::candidate:
      return "candidate";
    case Role::fallback:
      return "fallback";
  }
  return "unknown";
}

agent_releases::Follower::Failure shown_to_follower(const SampleAgent::Agent::Failure& failure) {
  return {.id = failure.id,
          .stage = failure.stage,
          .reason = failure.reason,
          .errno_name = failure.errno_name.value_or("")};
}

std::string words_of(const SampleAgent::Agent::Failure& failure) {
  return failure.id + " " + failure.stage + ": " + failure.reason;
}

}  // namespace

EventLog::EventLog(const std::string& path, std::string version) : version_(std::move(version)) {
  if (path.empty()) return;
  Result<File> file = File::open(path, O_WRONLY | O_APPEND | O_CREAT);
  if (file) file_ = std::move(file.value());
}

void EventLog::note(std::string_view event) {
  if (!file_) return;
  std::string line = std::to_string(now_us()) + " " + std::to_string(getpid()) + " " + version_ +
                     " " + std::string(event);
  std::ranges::replace(line, '\n', ' ');
  static_cast<void>(file_->write(line + "\n"));
}

SampleAgent::SampleAgent(uv_loop_t& loop, const Configuration& configuration,
                         std::vector<std::string> arguments, Agent agent)
    : loop_(loop),
      configuration_(configuration),
      arguments_(std::move(arguments)),
      agent_(std::move(agent)),
      events_(configuration.events, variant.version.text()),
      gate_(configuration.releases),
      work_timer_(loop, [this] { work(); }),
      save_timer_(loop, [this] { save(); }),
      tick_(loop, [this] { work(), look_at_gate(); }),
      heartbeat_timer_(loop, [this] { agent_.heartbeat(); }),
      stop_timer_(loop, [this] { finish_stop(); }),
      rotate_timer_(loop, [this] { work(); }) {}

int SampleAgent::run() {
  misbehave_at_start(configuration_);
  for (const StartCheck& check : start_checks(configuration_, variant.position_format)) {
    if (!agent_.add_check(check.name, check.run)) fail(agent_.error());
  }
  if (!agent_.ready()) {
    fail(agent_.error());
    return exit_status_;
  }
  conversation_.emplace(loop_, agent_.fd(), [this] { take_events(); });
  work_timer_.start(0);
  uv_run(&loop_, UV_RUN_DEFAULT);
  return exit_status_;
}

void SampleAgent::take_events() {
  while (const auto event = agent_.next()) {
    std::visit([this](const auto& known) { on(known); }, *event);
  }
}

void SampleAgent::on(const Agent::Welcome& welcome) {
  role_ = welcome.role;
  watchdog_ = welcome.watchdog;
  past_failure_ = welcome.failure;
  events_.note("started as " + name_of(role_) + ", generation " +
               std::to_string(welcome.generation));
  if (past_failure_) events_.note("upgrade_failed " + words_of(*past_failure_));
}

void SampleAgent::on(const Agent::Activate& activate) {
  const CopierSettings settings{.input = configuration_.input,
                                .output = configuration_.output,
                                .state_directory = configuration_.state_directory,
                                .version = variant.version.text(),
                                .position_format = variant.position_format,
                                .rotate_wait_us = configuration_.rotate_wait_ms * us_per_ms};
  events_.note("activated");
  on_trial_ = role_ == Agent::Role::candidate;
  Result<Copier> copier =
      Copier::take_over(settings, activate.clean ? activate.state : std::nullopt, now_us());
  if (!copier) return fail(copier.reason());
  copier_.emplace(std::move(copier.value()));
  events_.note("works next=" + std::to_string(copier_->next()));
  start_heartbeats();
  if (!on_trial_) settle();
  start_work();
}

// Starts to send heartbeats, from a timer on the event loop that also does the agent's work: an
// agent that hangs then sends no heartbeats.
void SampleAgent::start_heartbeats() {
  if (!watchdog_) return;
  const std::int64_t interval_ms = watchdog_->count() / heartbeats_a_watchdog;
  const auto repeat_ms = static_cast<std::uint64_t>(std::max<std::int64_t>(interval_ms, 1));
  heartbeat_timer_.start(0, repeat_ms);
}

void SampleAgent::start_work() {
  const std::filesystem::path input = configuration_.input;
  const std::filesystem::path directory = input.has_parent_path() ? input.parent_path() : ".";
  input_watch_.emplace(loop_, directory, input.filename(),
                       [this] { work_timer_.start(work_delay_ms); });
  tick_.start(tick_interval_ms, tick_interval_ms);
  work();
}

void SampleAgent::follow_releases() {
  if (configuration_.releases.empty() || agent_.alone()) return;
  auto follower = agent_releases::Follower::open(
      {.directory = configuration_.releases,
       .name = std::string(releases_name),
       .running = variant.version,
       .arguments = arguments_},
      {.ask = [this](const auto& id, const auto& release) { return ask(id, release.executable); },
       .report = [this](const std::string& text) { report(text); }});
  if (!follower) return fail(follower.reason());
  follower_.emplace(std::move(follower.value()));
  releases_.emplace(loop_, follower_->fd(), [this] { follower_->dispatch(); });
  if (past_failure_) follower_->upgrade_failed(shown_to_follower(*past_failure_));
  follower_->begin();
}

bool SampleAgent::ask(const std::string& id, const std::string& executable) {
  if (stop_) return false;
  Agent::Upgrade upgrade;
  upgrade.id = id;
  upgrade.executable = executable;
  if (configuration_.confirms_gate) upgrade.gate = Agent::Gate::confirm;
  if (configuration_.commits_healthy) upgrade.commit = Agent::CommitRule::healthy;
  gate_.close();
  events_.note("asks for " + executable);
  return agent_.request_upgrade(upgrade);
}

void SampleAgent::on(const Agent::Accepted& accepted) {
  events_.note("accepted " + accepted.id);
}

void SampleAgent::on(const Agent::CandidateReady& candidate) {
  waiting_ = candidate.id;
  report("version " + candidate.version.value_or("unknown") + " is ready and waits for " +
         configuration_.releases + "/confirm");
  look_at_gate();
}

void SampleAgent::look_at_gate() {
  if (!waiting_ || !gate_.take_opening()) return;
  events_.note("confirms " + *waiting_);
  if (!agent_.confirm(*std::exchange(waiting_, std::nullopt))) fail(agent_.error());
}

void SampleAgent::on(const Agent::UpgradeFailed& failed) {
  const Agent::Failure& failure = failed.failure;
  waiting_.reset();
  events_.note("upgrade_failed " + words_of(failure));
  if (follower_) follower_->upgrade_failed(shown_to_follower(failure));
}

void SampleAgent::on(const Agent::Committed& committed) {
  events_.note("committed " + committed.id);
  on_trial_ = false;
  if (copier_) settle();
}

// Makes the position file's format the newest one, which the previous version may be unable to
// read, and begins to look for new releases. Called when the upgrader no longer falls back to the
// previous version: at the commit or, without a trial, at the activation.
void SampleAgent::settle() {
  copier_->use_newest_format();
  save();
  follow_releases();
}

void SampleAgent::on(const Agent::Error& error) {
  report("not obeyed: " + error.reason);
}

void SampleAgent::work() {
  if (!copier_ || stop_) return;
  const Result<bool> copied = copier_->copy(now_us());
  if (!copied) return fail(copied.reason());
  if (copied.value()) work_timer_.start(0);
  if (const auto wait_us = copier_->wait_us()) rotate_timer_.start(*wait_us / us_per_ms + 1);
  for (const std::string& text : copier_->take_reports())
    report(text);
  if (copier_->has_unsaved()) save_timer_.start(save_delay_ms);
  if (!on_trial_) return;
  if (variant.fault == Fault::crash_on_trial) crash_while_writing(configuration_);
  if (configuration_.commits_healthy && !std::exchange(vouched_, true)) agent_.healthy();
}

void SampleAgent::save() {
  if (!copier_) return;
  if (Outcome saved = copier_->save(); !saved) fail(saved.reason());
}

void SampleAgent::on(const Agent::Stop& stop) {
  events_.note("told to stop: " + name_of(stop.reason));
  if (variant.fault == Fault::never_stops) return;
  stop_ = stop;
  stop_timer_.start(variant.fault == Fault::slow_to_stop ? slow_stop_ms : 0);
}

// Finishes the stop. No line is copied only in part at this point, since work() copies whole lines.
void SampleAgent::finish_stop() {
  save();
  take_events();  // if `candidate_lost` came during save(), this clears stop_
  if (!stop_) return;
  if (copier_) {
    events_.note("stopped next=" + std::to_string(copier_->next()));
    if (!agent_.stopped(copier_->state())) fail(agent_.error());
  }
  copier_.reset();
  uv_stop(&loop_);
}

// Takes the work back, because the candidate was lost. The agent has kept everything that it needs
// for its work, so it simply continues.
void SampleAgent::on(const Agent::CandidateLost& candidate) {
  if (!stop_ || stop_->reason != Agent::StopReason::upgrade) return;
  if (!agent_.cancel(candidate.id, "the candidate was lost")) return;
  events_.note("takes the work back from " + candidate.id);
  stop_.reset();
  work_timer_.start(0);
}

void SampleAgent::report(const std::string& text) {
  events_.note(text);
  if (agent_.alone()) {
    std::fprintf(stderr, "sample-agent: %s\n", text.c_str());
  } else if (!agent_.status(text)) {
    agent_.status(in_short(text, status_bytes_max));
  }
}

void SampleAgent::fail(const std::string& reason) {
  exit_status_ = 1;
  report(reason);
  if (on_trial_ && !agent_.unfit(reason)) agent_.unfit(in_short(reason, reason_bytes_max));
  copier_.reset();
  uv_stop(&loop_);
}

}  // namespace sample_agent
