#include "fleet/fleetctl/dev_run.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <utility>

#include "base/check.h"
#include "fleet/fleetctl/child.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/dev_store.h"
#include "fleet/fleetctl/exit_status.h"

namespace fleetctl {
namespace {

using upgrader::Time;

constexpr std::uint64_t between_looks_ms = 30;
// How long orphans, such as the daemons of a killed upgrader, may take to end by themselves. After
// that they are killed.
constexpr Time orphan_limit{3'000};

// Flushes after each line: a standard output that is not a terminal would keep lines in its buffer.
void say_now(const std::vector<std::string>& lines) {
  say_all(lines);
  std::fflush(stdout);
}

}  // namespace

DevRun::DevRun(const fleet::DevTerms& terms, bool is_kept)
    : terms_(terms), is_kept_(is_kept), programs_(dev_programs(terms)), life_(programs_) {
  UPGRADER_CHECK(uv_loop_init(&loop_) == 0);
  for (auto* timer : {&looks_, &deadline_}) {
    *timer = upgrader::make_handle(uv_timer_init, &loop_, this);
    UPGRADER_CHECK(*timer != nullptr);
  }
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) {
    listen(number);
  }
}

DevRun::~DevRun() {
  signals_.clear();
  looks_ = nullptr;
  deadline_ = nullptr;
  uv_run(&loop_, UV_RUN_DEFAULT);  // libuv frees the closed handles here
  uv_loop_close(&loop_);
}

int DevRun::run() {
  take(fleet::DevBegan{});
  while (!is_over_) {
    uv_run(&loop_, UV_RUN_ONCE);
  }
  return status_;
}

void DevRun::listen(int signal_number) {
  signals_.push_back(upgrader::make_handle(uv_signal_init, &loop_, this));
  UPGRADER_CHECK(signals_.back() != nullptr);
  const auto heard = [](uv_signal_t* handle, int number) {
    static_cast<DevRun*>(handle->data)->take_signal(number);
  };
  UPGRADER_CHECK(uv_signal_start(signals_.back().get(), heard, signal_number) == 0);
}

void DevRun::take_signal(int signal_number) {
  if (signal_number == SIGCHLD) return reap();
  take(fleet::DevStopAsked{});
}

// Passes an event to DevLife, which decides, and performs the actions that it returns. If an action
// causes a further event at once, that event waits until all earlier actions are done.
void DevRun::take(const fleet::DevEvent& event) {
  events_.push_back(event);
  if (std::exchange(is_stepping_, true)) return;
  while (!events_.empty()) {
    const fleet::DevEvent next = std::move(events_.front());
    events_.pop_front();
    for (const fleet::DevAction& action : life_.step(next, now())) {
      perform(action);
    }
  }
  is_stepping_ = false;
  set_deadline();
}

void DevRun::perform(const fleet::DevAction& action) {
  if (const auto* start_it = std::get_if<fleet::DevStart>(&action)) return start(start_it->program);
  if (const auto* end = std::get_if<fleet::DevTerminate>(&action))
    return signal(end->program, SIGTERM);
  if (const auto* kill = std::get_if<fleet::DevKill>(&action))
    return signal(kill->program, SIGKILL);
  if (const auto* words = std::get_if<fleet::DevSay>(&action))
    return words->is_trouble ? complain(words->text) : say_now({words->text});
  if (const auto* last = std::get_if<fleet::DevFinish>(&action)) return finish(last->is_failure);
  if (const auto* await = std::get_if<fleet::DevAwait>(&action)) {
    awaited_ = await->round;
    const auto due = [](uv_timer_t* timer) { static_cast<DevRun*>(timer->data)->look(); };
    uv_timer_start(looks_.get(), due, 0, between_looks_ms);
    return;
  }
  say_now(dev_welcome(terms_, is_kept_));
}

void DevRun::start(std::size_t program) {
  const fleet::DevProgram& one = programs_[program];
  const ChildStarted started =
      start_child({.arguments = one.arguments, .environment = one.environment, .log = one.log});
  if (started.pid > 0) {
    pids_[started.pid] = program;
  } else {
    take(fleet::DevEnded{program, "cannot be started: " + started.error});
  }
}

void DevRun::signal(std::size_t program, int number) const {
  for (const auto& [pid, index] : pids_) {
    if (index == program) ::kill(pid, number);
  }
}

void DevRun::finish(bool is_failure) {
  status_ = is_failure ? exit_failed : exit_done;
  awaited_ = -1;
  orphans_killed_at_ = now() + orphan_limit;
  const auto due = [](uv_timer_t* timer) { static_cast<DevRun*>(timer->data)->reap(); };
  uv_timer_start(looks_.get(), due, 0, between_looks_ms);
}

void DevRun::reap() {
  bool none_left = false;
  while (const auto ended = reap_child(none_left)) {
    const auto found = pids_.find(ended->pid);
    if (found == pids_.end()) continue;  // an orphan, which is our child now
    const std::size_t program = found->second;
    pids_.erase(found);
    take(fleet::DevEnded{program, in_words(ended->ending)});
  }
  if (orphans_killed_at_ == Time{0}) return;
  if (now() >= orphans_killed_at_) kill_children();
  is_over_ = none_left;
}

void DevRun::look() {
  const int round = awaited_;
  if (round == 0 && is_store_ready(terms_)) {
    awaited_ = -1;
    const std::string why = fill_store(terms_);
    if (!why.empty()) return take(fleet::DevFailed{why});
    return take(fleet::DevRoundReady{});
  }
  if (round == 1 && do_all_report(terms_)) {
    awaited_ = -1;
    return take(fleet::DevRoundReady{});
  }
  if (round < 0) uv_timer_stop(looks_.get());
}

void DevRun::set_deadline() {
  const auto next = life_.next_deadline();
  const auto due = [](uv_timer_t* timer) {
    static_cast<DevRun*>(timer->data)->take(fleet::DevTimePassed{});
  };
  if (!next) {
    uv_timer_stop(deadline_.get());
  } else {
    const Time left = std::max(*next - now(), Time{0});
    uv_timer_start(deadline_.get(), due, static_cast<std::uint64_t>(left.count()), 0);
  }
}

Time DevRun::now() const {
  return Time(static_cast<std::int64_t>(uv_hrtime() / 1'000'000));
}

}  // namespace fleetctl
