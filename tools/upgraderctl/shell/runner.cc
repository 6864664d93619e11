#include "tools/upgraderctl/shell/runner.h"

#include <signal.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "agent-protocol/cpp/control/control_directory.h"
#include "base/event_loop.h"
#include "base/signal_watch.h"
#include "base/uv_handle.h"
#include "tools/upgraderctl/core/occasions.h"
#include "tools/upgraderctl/core/options.h"
#include "tools/upgraderctl/shell/news.h"
#include "tools/upgraderctl/shell/wall_clock.h"

namespace upgraderctl {

namespace {

// The interval at which the last line on a terminal, with its times and progress bar, is redrawn.
constexpr std::uint64_t repaint_ms = 200;

class Runner {
 public:
  Runner(uv_loop_t* loop, Decider& decider, Scene scene);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  [[nodiscard]] Finish run();

 private:
  [[nodiscard]] Duration now() const;
  void look();
  void feed(const Happening& happening);
  void perform(const Orders& orders);
  void perform(const Send& send);
  void perform(const Measure& measure);
  void perform(const Say& say);
  void perform(const Finish& finish);
  void show(const Look& look);
  void repaint();
  void set_timer();
  upgrader::UvHandle<uv_timer_t> new_timer();

  uv_loop_t* loop_;
  Decider& decider_;
  Scene scene_;
  News news_;
  upgrader::UvHandle<uv_timer_t> deadline_;
  upgrader::UvHandle<uv_timer_t> painter_;
  upgrader::SignalWatch signals_;
  std::optional<Status> shown_;  // the newest status of the upgrader that performs the upgrade
  std::optional<Finish> finish_;
};

Runner::Runner(uv_loop_t* loop, Decider& decider, Scene scene)
    : loop_(loop),
      decider_(decider),
      scene_(std::move(scene)),
      news_(loop, scene_.directory.path(), [this] { look(); }),
      deadline_(new_timer()),
      painter_(new_timer()) {
  static_cast<void>(signals_.begin(loop, {SIGINT, SIGTERM, SIGHUP, SIGQUIT},
                                   [this](int signal) { feed(Interrupted{signal}); }));
}

upgrader::UvHandle<uv_timer_t> Runner::new_timer() {
  auto timer = upgrader::make_handle(uv_timer_init, loop_, this);
  return timer;
}

Duration Runner::now() const {
  return Duration{static_cast<Duration::rep>(uv_now(loop_))};
}

Finish Runner::run() {
  if (scene_.progress && scene_.terminal.repaints()) {
    const auto on_timer = [](uv_timer_t* timer) { static_cast<Runner*>(timer->data)->repaint(); };
    uv_timer_start(painter_.get(), on_timer, repaint_ms, repaint_ms);
  }
  perform(decider_.start(now()));
  look();
  while (!finish_)
    uv_run(loop_, UV_RUN_ONCE);
  return *finish_;
}

// Reads the directory: first whether the FIFO still has a reader, and then the status. In this
// order, a status that is read after the reader has gone is certainly the last status that this
// upgrader has written.
void Runner::look() {
  const bool gone = scene_.directory.reader_gone();
  Look look = scene_.directory.look();
  show(look);
  feed(Looked{std::move(look), wall_clock()});
  if (gone) feed(ReaderGone{});
}

void Runner::feed(const Happening& happening) {
  if (finish_) return;
  perform(decider_.step(happening, now()));
  set_timer();
}

void Runner::perform(const Orders& orders) {
  for (const Order& order : orders) {
    std::visit([this](const auto& ordered) { perform(ordered); }, order);
  }
}

void Runner::perform(const Send& send) {
  feed(Wrote{scene_.directory.write(send.line)});
}

void Runner::perform(const Measure& measure) {
  feed(Measured{peak_memory_kib(measure.pid)});
}

void Runner::perform(const Say& say) {
  scene_.terminal.complain(say.text);
}

void Runner::perform(const Finish& finish) {
  finish_ = finish;
}

// Shows the new steps of the upgrade. Ignores a status that a later upgrader has written.
void Runner::show(const Look& look) {
  if (finish_ || !scene_.progress || !look.status) return;
  const Life& life = look.status->upgrader;
  if (life.started != scene_.life->started || life.pid != scene_.life->pid) return;
  for (const std::string& line : scene_.progress->take(*look.status))
    scene_.terminal.line(line);
  shown_ = look.status;
  repaint();
}

void Runner::repaint() {
  if (finish_ || !shown_ || !scene_.terminal.repaints()) return;
  scene_.terminal.paint({Progress::line(*shown_, wall_clock(), scene_.terminal.columns() - 1)});
}

void Runner::set_timer() {
  const std::optional<Duration> next = decider_.next_deadline();
  if (!next) {
    uv_timer_stop(deadline_.get());
    return;
  }
  const Duration left = std::max(*next - now(), Duration{0});
  const auto on_timer = [](uv_timer_t* timer) {
    auto* const runner = static_cast<Runner*>(timer->data);
    runner->look();  // a newer status may show that the awaited event has come in time
    runner->feed(TimePassed{});
  };
  uv_timer_start(deadline_.get(), on_timer, static_cast<std::uint64_t>(left.count()), 0);
}

}  // namespace

Finish run(Decider& decider, Scene scene) {
  upgrader::EventLoop loop;
  if (loop.error() != 0) {
    return {exit_usage, std::string("no event loop: ") + uv_strerror(loop.error())};
  }
  return Runner(loop.get(), decider, std::move(scene)).run();
}

// ---- the command `upgraderctl on`

namespace {

class OccasionRunner {
 public:
  OccasionRunner(uv_loop_t* loop, const Options& options, const std::string& path,
                 Terminal& terminal);
  OccasionRunner(const OccasionRunner&) = delete;
  OccasionRunner& operator=(const OccasionRunner&) = delete;

  [[nodiscard]] int run();

 private:
  void look();
  void go_on();
  void start(const OccasionEnvironment& environment);
  void command_ended(std::int64_t status, int number);
  [[nodiscard]] Duration now() const { return Duration{static_cast<Duration::rep>(uv_now(loop_))}; }
  [[nodiscard]] bool is_over() const { return status_ || signal_ != 0; }

  uv_loop_t* loop_;
  const Options& options_;
  ControlDirectory directory_;
  Terminal& terminal_;
  Occasions occasions_;
  News news_;
  upgrader::UvHandle<uv_timer_t> timer_;
  upgrader::SignalWatch signals_;
  upgrader::UvHandle<uv_process_t> command_;  // the running command; null if none runs
  std::optional<int> status_;                 // the exit status, unless a signal causes the exit
  int signal_ = 0;                            // the last signal that has come, or 0
  bool leaves_command_ = false;               // exit even while the command still runs
};

OccasionRunner::OccasionRunner(uv_loop_t* loop, const Options& options, const std::string& path,
                               Terminal& terminal)
    : loop_(loop),
      options_(options),
      directory_(path),
      terminal_(terminal),
      occasions_(*options.occasion, options.after.value_or(std::chrono::seconds{30})),
      news_(loop, path, [this] { look(); }),
      timer_(upgrader::make_handle(uv_timer_init, loop, this)) {
  static_cast<void>(signals_.begin(loop, {SIGINT, SIGTERM, SIGHUP}, [this](int signal) {
    leaves_command_ = std::exchange(signal_, signal) != 0;
  }));
}

int OccasionRunner::run() {
  look();
  // The command may be writing to a boot loader, so a signal lets it end. A second signal does not.
  while (!is_over() || (command_ && !leaves_command_))
    uv_run(loop_, UV_RUN_ONCE);
  if (command_) terminal_.complain("--exec=" + *options_.exec + " is left, and still runs");
  return status_.value_or(exit_signal_base + signal_);
}

void OccasionRunner::look() {
  const std::optional<Finish> finish = occasions_.looked(directory_.look(), now());
  if (finish && !is_over()) {
    terminal_.complain(finish->text);
    status_ = finish->status;
  }
  go_on();
}

void OccasionRunner::go_on() {
  if (is_over()) return;
  if (const auto environment = occasions_.next(now())) start(*environment);
  const std::optional<Duration> due = occasions_.next_deadline();
  if (!due) {
    uv_timer_stop(timer_.get());
    return;
  }
  const Duration left = std::max(Duration{0}, *due - now());
  const auto on_time = [](uv_timer_t* timer) { static_cast<OccasionRunner*>(timer->data)->look(); };
  uv_timer_start(timer_.get(), on_time, static_cast<std::uint64_t>(left.count()), 0);
}

void OccasionRunner::start(const OccasionEnvironment& environment) {
  std::vector<char*> entries;
  for (char** entry = environ; *entry != nullptr; ++entry)
    entries.push_back(*entry);
  for (const std::string& entry : environment)
    entries.push_back(const_cast<char*>(entry.c_str()));
  entries.push_back(nullptr);
  char shell[] = "/bin/sh";
  char option[] = "-c";
  char* words[] = {shell, option, const_cast<char*>(options_.exec->c_str()), nullptr};
  uv_stdio_container_t streams[3]{};
  streams[0].flags = UV_IGNORE;
  for (int fd = 1; fd <= 2; ++fd) {
    streams[fd].flags = UV_INHERIT_FD;
    streams[fd].data.fd = fd;
  }
  uv_process_options_t how{};
  how.file = shell;
  how.args = words;
  how.env = entries.data();
  how.stdio = streams;
  how.stdio_count = 3;
  how.exit_cb = [](uv_process_t* ended, std::int64_t status, int number) {
    static_cast<OccasionRunner*>(ended->data)->command_ended(status, number);
  };
  auto process = upgrader::UvHandle<uv_process_t>(new uv_process_t{});
  process->data = this;
  // libuv requires that the handle is closed even if no process was started.
  if (const int error = uv_spawn(loop_, process.get(), &how); error != 0) {
    terminal_.complain(std::string("/bin/sh: ") + uv_strerror(error));
    occasions_.command_ended(false, now());
    return;
  }
  command_ = std::move(process);
}

void OccasionRunner::command_ended(std::int64_t status, int number) {
  command_.reset();
  const bool well = status == 0 && number == 0;
  if (!well) {
    const std::string how = number != 0 ? "was killed by signal " + std::to_string(number)
                                        : "exited with status " + std::to_string(status);
    terminal_.complain("--exec=" + *options_.exec + ": " + how +
                       (is_over() ? "" : "; it is run again in " + show_duration(occasion_retry)));
  }
  occasions_.command_ended(well, now());
  go_on();
}

}  // namespace

int run_on_occasions(const Options& options, const std::string& path, Terminal& terminal) {
  upgrader::EventLoop loop;
  if (loop.error() != 0) {
    terminal.complain(std::string("no event loop: ") + uv_strerror(loop.error()));
    return exit_usage;
  }
  return OccasionRunner(loop.get(), options, path, terminal).run();
}

}  // namespace upgraderctl
