// Implements `fleetctl dev`, which runs a complete cell on this machine, for a trial.

#include <signal.h>
#include <uv.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/event_loop.h"
#include "base/process.h"
#include "base/signal_watch.h"
#include "base/uv_handle.h"
#include "fleet/cell/dev_cell.h"
#include "fleet/cell/dev_life.h"
#include "fleet/fleetctl/child.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/dev_setup.h"

namespace fleetctl {
namespace {

// Runs the programs of a trial cell: passes events to the state machine DevLife, and performs the
// actions that it returns.
class DevRun {
 public:
  DevRun(const fleet::DevTerms& terms, bool is_kept);
  DevRun(const DevRun&) = delete;
  DevRun& operator=(const DevRun&) = delete;

  // Runs the cell until SIGINT, SIGTERM or SIGHUP arrives, or until the cell has failed. Then waits
  // until all child processes have ended. Returns the exit status.
  [[nodiscard]] int run();

 private:
  void take_signal(int signal_number);
  void take(const fleet::DevEvent& event);
  void perform(const fleet::DevAction& action);
  void start(std::size_t program);
  void signal(std::size_t program, int number) const;
  void finish(bool is_failure);
  void reap();
  void look();
  void set_deadline();
  [[nodiscard]] upgrader::Time now() const;

  fleet::DevTerms terms_;
  bool is_kept_;
  std::vector<fleet::DevProgram> programs_;
  fleet::DevLife life_;
  upgrader::EventLoop loop_;
  upgrader::SignalWatch signals_;
  // The timer that calls look() until the started programs are ready and, at the end, reap() until
  // all orphans have exited.
  upgrader::UvHandle<uv_timer_t> looks_;
  upgrader::UvHandle<uv_timer_t> deadline_;  // the timer for the deadline of life_
  std::deque<fleet::DevEvent> events_;
  std::map<pid_t, std::size_t> pids_;  // the running programs, by process id
  bool is_stepping_ = false;
  // the round of started programs that are not ready yet; -1: all are ready
  int awaited_ = -1;
  bool is_over_ = false;
  upgrader::Time orphans_killed_at_{0};
  int status_ = 0;
};

using upgrader::Time;

constexpr std::uint64_t between_looks_ms = 30;
// How long orphans, such as the daemons of a killed upgrader, may run on before they are killed.
constexpr Time orphan_limit{3'000};

// Prints lines at once, even if the standard output is not a terminal.
void say_now(const std::vector<std::string>& lines) {
  say_all(lines);
  std::fflush(stdout);
}

DevRun::DevRun(const fleet::DevTerms& terms, bool is_kept)
    : terms_(terms), is_kept_(is_kept), programs_(dev_programs(terms)), life_(programs_) {
  UPGRADER_CHECK(loop_.error() == 0);
  for (auto* timer : {&looks_, &deadline_}) {
    *timer = upgrader::make_handle(uv_timer_init, loop_.get(), this);
    UPGRADER_CHECK(*timer != nullptr);
  }
  UPGRADER_CHECK(signals_.begin(loop_.get(), {SIGINT, SIGTERM, SIGHUP, SIGCHLD},
                                [this](int number) { take_signal(number); }));
}

int DevRun::run() {
  take(fleet::DevBegan{});
  while (!is_over_) {
    uv_run(loop_.get(), UV_RUN_ONCE);
  }
  return status_;
}

void DevRun::take_signal(int signal_number) {
  if (signal_number == SIGCHLD) return reap();
  take(fleet::DevStopAsked{});
}

// Passes an event to DevLife, and performs the actions that it returns. An action may cause a new
// event, which is queued until all actions are done.
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
    if (found == pids_.end()) continue;  // an orphan, adopted by this process
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

// Blocks SIGINT, SIGTERM and SIGHUP in its lifetime, so that they do not end the process while it
// writes files.
class StopsHeld {
 public:
  StopsHeld() {
    sigset_t stops;
    sigemptyset(&stops);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      sigaddset(&stops, number);
    }
    ::sigprocmask(SIG_BLOCK, &stops, &before_);
  }
  StopsHeld(const StopsHeld&) = delete;
  StopsHeld& operator=(const StopsHeld&) = delete;
  ~StopsHeld() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

int run_dev(const Options& options) {
  fleet::DevTerms terms{.programs = find_programs(), .nodes = options.nodes};
  if (const std::string missing = fleet::missing_words(terms.programs); !missing.empty()) {
    return refuse(missing);
  }
  std::optional<StopsHeld> held(std::in_place);
  // Ignore SIGPIPE. Otherwise it would kill fleetctl at the first line after its terminal was
  // closed, and leave the children behind.
  ::signal(SIGPIPE, SIG_IGN);
  DevDirectory directory;
  if (const std::string why = directory.open(options.directory); !why.empty()) return refuse(why);
  terms.directory = directory.path();
  if (const std::string why = fill_directory(terms); !why.empty()) return refuse(why);
  // Adopt orphans, so that they can be killed at the end. If that fails, they become init's
  // children.
  static_cast<void>(upgrader::become_subreaper());
  DevRun run(terms, directory.is_kept());
  held.reset();
  return run.run();
}

}  // namespace fleetctl
