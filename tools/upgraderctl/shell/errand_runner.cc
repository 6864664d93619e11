#include "tools/upgraderctl/shell/errand_runner.h"

#include <signal.h>
#include <uv.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "base/uv_handle.h"
#include "tools/upgraderctl/core/options.h"
#include "tools/upgraderctl/shell/news.h"
#include "tools/upgraderctl/shell/wall_clock.h"

namespace upgraderctl {
namespace {

// The interval at which the last line on a terminal is painted again.
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
  std::vector<upgrader::UvHandle<uv_signal_t>> signals_;
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
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    auto handle = upgrader::make_handle(uv_signal_init, loop, this);
    uv_signal_start(
        handle.get(),
        [](uv_signal_t* caught, int signal) {
          static_cast<Runner*>(caught->data)->feed(Interrupted{signal});
        },
        number);
    signals_.push_back(std::move(handle));
  }
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
// order, a status that is read when the reader has gone is certainly the last one of that upgrader.
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

// Shows the new steps of the upgrade. Ignores the status of any other upgrader.
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
    runner->look();  // reads the directory before deadlines are judged
    runner->feed(TimePassed{});
  };
  uv_timer_start(deadline_.get(), on_timer, static_cast<std::uint64_t>(left.count()), 0);
}

}  // namespace

Finish run(Decider& decider, Scene scene) {
  uv_loop_t loop;
  if (const int error = uv_loop_init(&loop); error != 0) {
    return {exit_usage, std::string("no event loop: ") + uv_strerror(error)};
  }
  Finish finish;
  {
    Runner runner(&loop, decider, std::move(scene));
    finish = runner.run();
  }
  uv_run(&loop, UV_RUN_DEFAULT);
  uv_loop_close(&loop);
  return finish;
}

}  // namespace upgraderctl
