#include "upgrader/shell/control.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "base/errno_name.h"
#include "upgrader/core/words.h"
#include "upgrader/shell/agents.h"

namespace upgrader {
namespace {

Stamp stamp() {
  const auto monotonic_us = static_cast<std::int64_t>(uv_hrtime() / 1'000);
  timespec wall{};
  ::clock_gettime(CLOCK_REALTIME, &wall);
  return {monotonic_us, std::int64_t{wall.tv_sec} * 1'000 + wall.tv_nsec / 1'000'000};
}

}  // namespace

bool Control::claim(uv_loop_t* loop, Take take, Show show, TurnOver turn_over) {
  const int error = directory_.lock();
  if (error == EWOULDBLOCK) return false;
  locked_ = error == 0;
  if (!locked_) {
    logbook_.warning("--control={} is not used: it cannot be locked: {}"_with(directory_.path(),
                                                                              SystemError{error}));
  }
  chronicle_.begin(stamp());
  loop_ = loop;
  take_ = std::move(take);
  show_ = std::move(show);
  turn_over_ = std::move(turn_over);
  return true;
}

bool Control::has_lock(Time now) {
  if (loop_ == nullptr || locked_) return locked_;
  if (last_ && now < *last_ + retry_interval) return false;
  last_ = now;
  locked_ = directory_.lock() == 0;
  if (locked_) last_.reset();
  return locked_;
}

// Prepares the files of the control directory, once, after the first agent's start: this may take a
// while, and must not delay that agent.
void Control::prepare_files() {
  if (std::exchange(has_files_, true)) return;
  if (const int error = directory_.keep_last(); error != 0) {
    logbook_.warning(
        "cannot keep the last status.json as previous.json: {}"_with(SystemError{error}));
  }
  if (!directory_.is_in_memory()) {
    logbook_.warning(
        "{} is not on tmpfs: writing status.json may wait for a disk"_with(directory_.path()));
  }
}

// Opens the FIFO if it is not open. A failure is logged, unless the previous try has failed as
// well; a later call tries again.
void Control::open_fifo() {
  if (poll_) return;
  int error = has_fifo_ ? 0 : directory_.make_fifo();
  has_fifo_ = error == 0;
  if (has_fifo_) error = listen();
  if (error != 0 && !deaf_) {
    logbook_.warning(
        "no requests are taken by {}/control: {}"_with(directory_.path(), SystemError{error}));
  }
  deaf_ = error != 0;
}

// Opens the FIFO and begins to watch it for lines. Returns 0, or an errno value if the FIFO is not
// open.
int Control::listen() {
  // The old descriptor is closed only when the new one is open, so that writers always find a
  // reader.
  OwnedFd fresh = directory_.open_fifo();
  const int error = errno;
  poll_.reset();
  fifo_ = std::move(fresh);
  if (!fifo_) return error;
  poll_ = make_handle(uv_poll_init, loop_, this, fifo_.get());
  if (!poll_) {
    fifo_.reset();  // without a reader, writers get an error instead of waiting for a reply
    return ENOMEM;
  }
  return -uv_poll_start(poll_.get(), UV_READABLE, [](uv_poll_t* handle, int, int) {
    static_cast<Control*>(handle->data)->on_readable();
  });
}

void Control::on_readable() {
  if (!lines_.pending()) {
    const std::span<char> space = lines_.space();
    const ssize_t count = ::read(fifo_.get(), space.data(), space.size());
    if (count == 0) return reopen();
    if (count < 0) return;
    lines_.written(static_cast<std::size_t>(count));
  }
  pass_lines();
}

// Opens the FIFO again, since the last writer has closed it. If that fails, settle() tries again at
// the end of this turn of the loop.
void Control::reopen() {
  if (const auto rest = lines_.rest()) pass_line(*rest);
  static_cast<void>(listen());
  turn_over_();
}

void Control::pass_lines() {
  for (int taken = 0; taken < lines_a_turn; ++taken) {
    const std::optional<agent_protocol::Line> line = lines_.next();
    if (!line) break;
    pass_line(*line);
  }
  turn_over_();
}

void Control::pass_line(const agent_protocol::Line& line) {
  const auto stray = [&](std::string_view reason) {
    show_({0, NoticeKind::stray,
           "control directory: stray output: {}: {}"_with(reason,
                                                          escape(line.text, stray_bytes_max))});
  };
  if (!line.complete) return stray("not a whole line");
  ControlLine decoded = decode_control_line(line.text);
  if (const auto* none = std::get_if<ControlStray>(&decoded)) return stray(none->reason);
  if (auto* refused = std::get_if<ControlRefused>(&decoded)) {
    if (chronicle_.has_answered(refused->name)) return;
    const std::string told = words::request_refused(
        refused->name, escape(refused->type, stray_bytes_max), refused->reason);
    chronicle_.note_answer(
        {std::move(refused->name), std::move(refused->type), false, std::move(refused->reason)});
    return show_({0, NoticeKind::request, told});
  }
  auto event = chronicle_.judge(std::get<ControlRequest>(std::move(decoded)));
  if (event) take_(*std::move(event));
}

void Control::note_started(Generation generation, int pid, const Program& program) {
  chronicle_.note_started(generation, pid, program.path, stamp());
}

void Control::note(const Event& event, const Actions& actions, const State& state) {
  chronicle_.note(event, actions, state, stamp());
}

void Control::settle(const State& state, Time now) {
  if (!has_lock(now)) return;
  prepare_files();
  open_fifo();
  if (!due_) {
    // While the active agent stops, wait another `status_interval` before status.json is written,
    // so that writing the file does not delay the handling of the agent's exit.
    const Time soonest = active_agent_stops(state) ? now + status_interval : now;
    due_ = last_ ? std::max(*last_ + status_interval, soonest) : soonest;
  }
  held_back_ = hands_over(state);
  if (held_back_ || now < *due_) return;
  last_ = now;
  due_.reset();
  write(state);
}

std::optional<Time> Control::next_deadline() const {
  // Lines that were read from the FIFO but not handled yet are handled in the next turn of the
  // loop.
  if (lines_.pending()) return Time{0};
  const bool retries = deaf_ || fails_ || (loop_ != nullptr && !locked_);
  if (retries && last_ && !due_) return *last_ + retry_interval;
  return held_back_ ? std::nullopt : due_;
}

void Control::finish(const State& state, int exit_status) {
  if (loop_ == nullptr || (!locked_ && directory_.lock() != 0)) return;
  prepare_files();
  poll_.reset();
  fifo_.reset();
  directory_.remove_fifo();
  chronicle_.note_end(exit_status, stamp());
  write(state);
}

void Control::write(const State& state) {
  StatusFacts facts{.pid = ::getpid(), .previous = previous_};
  if (!attempt_.executable.empty()) facts.attempts = attempt_.count;
  if (state.incumbent) facts.incumbent_arguments = &programs_.at(state.incumbent->program).args;
  if (state.candidate) facts.candidate_arguments = &programs_.at(state.candidate->program).args;
  std::string text = status_news(state, chronicle_, facts);
  if (text == written_) return;
  const int error = directory_.replace_status(text);
  if (error == 0) {
    written_ = std::move(text);
  } else if (!fails_) {
    logbook_.warning("cannot write {}/status.json: {}"_with(directory_.path(), SystemError{error}));
  }
  fails_ = error != 0;
}

}  // namespace upgrader
