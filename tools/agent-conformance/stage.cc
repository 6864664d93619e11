#include "tools/agent-conformance/stage.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "tools/agent-conformance/agent_process.h"
#include "tools/agent-conformance/seen.h"

namespace conformance {

namespace {

// How long an agent may take to exit after the end of its input, before it is killed.
constexpr std::chrono::milliseconds end_patience{5'000};
constexpr std::chrono::milliseconds leftover_patience{1'000};
constexpr std::chrono::milliseconds glance{10};

}  // namespace

Stage::Stage(const std::vector<std::string>& command) : command_(command) {
  uv_loop_init(&loop_);
  timer_ = upgrader::make_handle(uv_timer_init, &loop_, this);
  began_ = uv_hrtime();
}

Stage::~Stage() {
  agents_.clear();
  timer_.reset();
  signals_.end();
  while (uv_run(&loop_, UV_RUN_DEFAULT) != 0) {
  }
  uv_loop_close(&loop_);
}

Time Stage::now() const {
  return std::chrono::duration_cast<Time>(std::chrono::nanoseconds(uv_hrtime() - began_));
}

int Stage::play(Play& play, bool patience) {
  const auto on_signal = [this](int signal) {
    signal_ = signal;
    uv_stop(&loop_);
  };
  static_cast<void>(signals_.begin(&loop_, {SIGINT, SIGTERM, SIGHUP}, on_signal));
  play_ = &play;
  tells_ = true;
  for (const Order& order : play.begin(now()))
    perform(order);
  tells_ = false;
  tell_waiting();
  while (!play.is_over() && signal_ == 0)
    uv_run(&loop_, UV_RUN_DEFAULT);
  play_ = nullptr;
  end_all(patience && signal_ == 0);
  return signal_;
}

void Stage::take(const Event& event) {
  waiting_.push_back(event);
  if (!tells_) tell_waiting();
}

// Delivers the waiting events to the check, one at a time. For each event, carries out all orders
// that the check returns, before the next event is delivered.
void Stage::tell_waiting() {
  tells_ = true;
  while (!waiting_.empty()) {
    const Event event = std::move(waiting_.front());
    waiting_.pop_front();
    if (play_ == nullptr) continue;
    for (const Order& order : play_->step(event, now()))
      perform(order);
  }
  tells_ = false;
  // All events have been delivered. If the check is over, the loop ends. Otherwise the loop waits
  // for new events or the next deadline.
  if (play_ == nullptr || play_->is_over())
    uv_stop(&loop_);
  else
    set_timer();
}

void Stage::perform(const Order& order) {
  if (std::holds_alternative<Start>(order.what)) {
    agents_.push_back(std::make_unique<AgentProcess>(&loop_, order.agent,
                                                     [this](const Event& event) { take(event); }));
  }
  AgentProcess& agent = *agents_[static_cast<std::size_t>(order.agent)];
  std::visit(Overloaded{
                 [&](const Start& start) { agent.start(command_, start); },
                 [&](const Write& write) { agent.write(write); },
                 [&](const HangUp&) { agent.hang_up(); },
                 [&](const Signal& signal) { agent.send_signal(signal.number); },
                 [&](const TellWhenTaken&) { agent.tell_when_taken(); },
                 [&](const Look&) { agent.look(); },
                 [&](const Clog&) { agent.clog(); },
                 [&](const Unclog&) { agent.unclog(); },
             },
             order.what);
}

void Stage::set_timer() {
  if (!play_->deadline()) {
    uv_timer_stop(timer_.get());
    has_looked_ = false;
    return;
  }
  // on_timer() has set the timer already, so that the loop reads the input once more before the
  // deadline counts as missed. Do not set the timer again.
  if (has_looked_) return;
  uv_update_time(&loop_);
  const auto left = std::max(*play_->deadline() - now(), Time{0});
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  uv_timer_start(
      timer_.get(), [](uv_timer_t* timer) { static_cast<Stage*>(timer->data)->on_timer(); },
      static_cast<std::uint64_t>(ms), 0);
}

// Handles the expiry of the timer for a deadline. libuv runs timers before it reads input, and the
// agent may have written in time. So the loop runs once more before the deadline counts as missed.
void Stage::on_timer() {
  if (!std::exchange(has_looked_, true)) {
    uv_timer_start(
        timer_.get(), [](uv_timer_t* timer) { static_cast<Stage*>(timer->data)->on_timer(); }, 1,
        0);
    return;
  }
  has_looked_ = false;
  take({.agent = 0, .what = TimeUp{}});
}

bool Stage::any_runs() const {
  return std::any_of(agents_.begin(), agents_.end(), [](const auto& it) { return it->runs(); });
}

void Stage::run_for(std::chrono::milliseconds time) {
  uv_update_time(&loop_);
  uv_timer_start(
      timer_.get(), [](uv_timer_t* timer) { uv_stop(timer->loop); },
      static_cast<std::uint64_t>(time.count()), 0);
  while (any_runs() && uv_is_active(reinterpret_cast<uv_handle_t*>(timer_.get())) != 0)
    uv_run(&loop_, UV_RUN_DEFAULT);
  uv_timer_stop(timer_.get());
}

void Stage::end_all(bool patience) {
  for (const auto& agent : agents_) {
    if (!agent->runs()) continue;
    agent->unclog();
    if (patience)
      agent->hang_up();
    else
      agent->send_signal(SIGKILL);
  }
  if (patience) run_for(end_patience);
  while (any_runs()) {
    for (const auto& agent : agents_)
      agent->send_signal(SIGKILL);
    run_for(end_patience);
  }
  kill_what_is_left();
}

// Kills the processes that the agents have left behind, so that these processes do not disturb the
// next check. First gives these processes some time to exit by themselves.
void Stage::kill_what_is_left() const {
  const std::uint64_t begin = uv_hrtime();
  for (const auto& agent : agents_) {
    if (agent->pid() == 0) continue;
    for (;;) {
      const std::vector<int> left = session_of(agent->pid());
      if (left.empty()) break;
      const auto waited = std::chrono::nanoseconds(uv_hrtime() - begin);
      if (waited > leftover_patience) {
        for (const int pid : left)
          ::kill(pid, SIGKILL);
      }
      if (waited > leftover_patience + end_patience) break;  // the process is stuck in the kernel
      uv_sleep(static_cast<unsigned>(glance.count()));
    }
  }
}

}  // namespace conformance
