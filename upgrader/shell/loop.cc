#include "upgrader/shell/loop.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/check.h"
#include "base/descriptors.h"

namespace upgrader {
namespace {

// Makes and closes an epoll and a pipe, as libuv will do first of all. Returns 0 or an errno value.
// Without this test, libuv would abort silently if no descriptor were left for its pipe.
int try_descriptors() {
  const OwnedFd waiter(::epoll_create1(EPOLL_CLOEXEC));
  int ends[2];
  if (!waiter || ::pipe2(ends, O_CLOEXEC) != 0) return errno;
  for (const int end : ends)
    ::close(end);
  return 0;
}

}  // namespace

Loop::Loop(const Options& options, Logbook& logbook, InitSystem& init_system, Lock* lock)
    : options_(options),
      logbook_(logbook),
      init_system_(init_system),
      lock_(lock),
      supervisor_(policy_of(options, init_system.watchdog())) {}

// Closes every handle, and runs the loop until libuv has freed them.
Loop::~Loop() {
  if (!loop_made_) return;
  control_.reset();
  agents_.reset();
  timer_.reset();
  signals_poll_.reset();
  // If uv_stop() has been called, the first uv_run() returns immediately. So uv_run() is repeated
  // until every handle is closed.
  while (uv_run(&loop_, UV_RUN_DEFAULT) != 0) {
  }
  UPGRADER_CHECK(uv_loop_close(&loop_) == 0);
}

// Makes the event loop and everything that it watches. Returns 0 or an errno value.
int Loop::set_up(ChildSetting setting) {
  if (const int error = try_descriptors(); error != 0) return error;
  if (const int error = uv_loop_init(&loop_); error != 0) return -error;
  loop_made_ = true;
  // A filter of system calls, such as seccomp, may forbid epoll_wait(). libuv would then abort
  // without a message. So try the call here first, to report an error.
  epoll_event unread;
  const bool waits = ::epoll_wait(uv_backend_fd(&loop_), &unread, 1, 0) >= 0 || errno == EINTR;
  if (!waits) return errno;
  timer_ = make_handle(uv_timer_init, &loop_, this);
  if (!timer_) return errno;
  agents_ = std::make_unique<Agents>(
      &loop_, std::move(setting), [this](Event event) { deliver(std::move(event)); },
      [this] { settle(); }, &logbook_);
  sigset_t read;
  ::sigemptyset(&read);
  for (const int signal_number : read_signals)
    ::sigaddset(&read, signal_number);
  signals_.reset(::signalfd(-1, &read, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!signals_) return errno;
  signals_poll_ = make_handle(uv_poll_init, &loop_, this, signals_.get());
  if (!signals_poll_) return errno;
  const auto callback = [](uv_poll_t* watched, int, int) {
    static_cast<Loop*>(watched->data)->on_signals();
  };
  return -uv_poll_start(signals_poll_.get(), UV_READABLE, callback);
}

void Loop::on_signals() {
  signalfd_siginfo told;
  while (!exit_status_ && ::read(signals_.get(), &told, sizeof told) == sizeof told) {
    on_signal(static_cast<int>(told.ssi_signo));
    settle();
  }
}

void Loop::on_signal(int signal_number) {
  switch (signal_number) {
    case SIGCHLD:  // one SIGCHLD may stand for many exits
      agents_->reap_exits();
      agents_->reap_strangers();
      return;
    case SIGTERM:
    case SIGINT:
      return deliver(StopRequested{});
    case SIGQUIT:
      return deliver(QuitRequested{});
    case SIGUSR2:
      if (lock_retry_) return tell_what_will_start();
      return deliver(UpgradeRequested{});
    default:
      return deliver(SignalReceived{signal_number});
  }
}

void Loop::on_timer() {
  if (lock_retry_) {
    init_system_.tell_what_is_due(now());
    return try_to_start();
  }
  for (const Notice& notice : log_limit_.due(now()))
    show(notice);
  if (control_) control_->read_backlog();
  // The time just before the agents' messages and exits are read. A deadline is missed only if it
  // had passed at this time, and still stands after the messages have been handled.
  const Time looked = now();
  const auto is_due = [&] {
    const std::optional<Time> deadline = supervisor_.next_deadline();
    return deadline && *deadline <= looked;
  };
  if (is_due()) {
    agents_->read_everything(supervisor_.late(looked));
  } else if (control_ && control_->next_deadline()) {
    agents_->reap_exits();  // exits are handled before status.json is written
  }
  if (is_due()) deliver(DeadlinePassed{looked});
  settle();
  // Init is notified only when no passed deadline is left.
  if (is_due()) return;
  init_system_.tell_what_is_due(looked);
  set_timer();
}

void Loop::end(int status) {
  exit_status_ = status;
  uv_stop(&loop_);
}

Time Loop::now() {
  return std::chrono::duration_cast<Time>(std::chrono::nanoseconds(uv_hrtime()));
}

// Queues the event, and handles all queued events one after the other. If an event is being handled
// already, only queues this one: it is handled when that event is done.
void Loop::deliver(Event event) {
  later_.push_back(std::move(event));
  if (stepping_) return;
  stepping_ = true;
  while (!later_.empty()) {
    for (const Event& next : std::exchange(later_, {}))
      feed(next);
  }
  stepping_ = false;
}

// Does the work that is due after all events of a turn of the loop: drops programs, notifies init,
// writes status.json, sets the timer. Done once a turn and not for each event, since an agent may
// cause any number of events.
void Loop::settle() {
  programs_.keep_only(supervisor_.programs());
  init_system_.tell(init_news(supervisor_.state()), now());
  if (control_) control_->settle(supervisor_.state(), now());
  set_timer();
}

// Passes an event to the supervisor, and performs the actions that the supervisor returns. Nothing
// else calls the supervisor's step().
void Loop::feed(const Event& event) {
  if (const auto* exited = std::get_if<ProcessExited>(&event)) {
    for (const Notice& notice : log_limit_.forget(exited->generation))
      show(notice);
    init_system_.forget_agent(exited->generation);
  }
  Actions actions = supervisor_.step(event, now(), std::exchange(carried_out_, {}));
  // No agent works until the new agent has read its `activate`. So `activate` is sent before this
  // step's log lines are written, which shortens the time without an active agent by a fiftieth. If
  // the step also has another action, such as putting AGENT's link back, the order is not changed.
  const Pending pending = supervisor_.state().pending;
  if (pending == Pending::activate) {
    const Action* first = actions.data();
    for (; std::holds_alternative<Log>(*first); ++first) {
    }
    if (first == &actions.back()) {
      perform(std::get<Send>(*first));
      actions.pop_back();
    }
  }
  if (control_) control_->note(event, actions, supervisor_.state());
  for (const Action& action : actions) {
    std::visit([&](const auto& order) { perform(order); }, action);
  }
  actions.clear();
  carried_out_ = std::move(actions);
  if (pending != Pending::nothing) feed(std::exchange(outcome_, {}));
}

void Loop::set_timer() {
  std::optional<Time> next = supervisor_.next_deadline();
  for (const auto& other : {log_limit_.next_deadline(), init_system_.next_deadline(),
                            control_ ? control_->next_deadline() : std::nullopt})
    next = earlier_of(next, other);
  if (lock_retry_) next = lock_retry_;
  if (!next || exit_status_) {
    uv_timer_stop(timer_.get());
    return;
  }
  const auto callback = [](uv_timer_t* timer) { static_cast<Loop*>(timer->data)->on_timer(); };
  const Duration delay = std::max(Duration::zero(), *next - now());
  uv_update_time(&loop_);
  UPGRADER_CHECK(
      uv_timer_start(timer_.get(), callback, static_cast<std::uint64_t>(delay.count()), 0) == 0);
}

void Loop::show(const Notice& notice) {
  logbook_.write(level_of(notice), notice.text);
  if (notice.kind == NoticeKind::status) {
    init_system_.show_agent_status(notice.generation, notice.text, now());
  }
}

}  // namespace upgrader
