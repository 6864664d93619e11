#include "tools/agent-conformance/agent_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "tools/agent-conformance/effects.h"

namespace conformance {
namespace {

constexpr std::uint64_t pump_ms = 1;
constexpr int clogged_pipe_bytes = 4'096;
constexpr int lock_number = 3;

bool has_unread(int fd) {
  int count = 0;
  return ::ioctl(fd, FIONREAD, &count) == 0 && count > 0;
}

ino_t inode(int fd) {
  struct stat file {};
  return fd >= 0 && ::fstat(fd, &file) == 0 ? file.st_ino : 0;
}

// Makes a pipe. The end for this program is non-blocking, and the end for the agent is blocking.
bool make_pipe(upgrader::OwnedFd& read_end, upgrader::OwnedFd& write_end, bool we_read) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  read_end = upgrader::OwnedFd(ends[0]);
  write_end = upgrader::OwnedFd(ends[1]);
  return ::fcntl(ends[we_read ? 0 : 1], F_SETFL, O_NONBLOCK) == 0;
}

}  // namespace

bool drain(int fd, const std::function<void(std::string_view)>& take) {
  std::array<char, 65'536> bytes{};
  for (int reads = 0; reads < reads_a_turn_max; ++reads) {
    const ssize_t count = ::read(fd, bytes.data(), bytes.size());
    if (count == 0) return true;
    if (count > 0) {
      take({bytes.data(), static_cast<std::size_t>(count)});
    } else if (errno != EINTR) {
      return errno != EAGAIN;
    }
  }
  return false;
}

PolledFd::PolledFd(uv_loop_t* loop, upgrader::OwnedFd fd, std::function<void()> on_readable)
    : fd_(std::move(fd)),
      on_readable_(std::move(on_readable)),
      poll_(upgrader::make_handle(uv_poll_init, loop, this, fd_.get())) {
  if (!poll_) return;  // libuv could not make the handle, so nothing is read from fd_
  watch(true);
}

void PolledFd::watch(bool on) {
  if (!poll_) return;
  if (!on) {
    uv_poll_stop(poll_.get());
    return;
  }
  uv_poll_start(poll_.get(), UV_READABLE, [](uv_poll_t* poll, int, int) {
    static_cast<PolledFd*>(poll->data)->on_readable_();
  });
}

AgentProcess::AgentProcess(uv_loop_t* loop, int number, Tell tell)
    : loop_(loop),
      number_(number),
      tell_(std::move(tell)),
      pump_timer_(upgrader::make_handle(uv_timer_init, loop, this)) {}

bool AgentProcess::make_pipes(const Start& terms) {
  upgrader::OwnedFd output;
  upgrader::OwnedFd error;
  const bool made = make_pipe(child_input_, input_, false) &&
                    make_pipe(output, child_output_, true) && make_pipe(error, child_error_, true);
  if (!made) return false;
  if (terms.locked) lock_ = upgrader::OwnedFd(::memfd_create("lock", MFD_CLOEXEC));
  output_ = std::make_unique<PolledFd>(loop_, std::move(output), [this] { read_output(); });
  error_ = std::make_unique<PolledFd>(loop_, std::move(error), [this] { read_errors(); });
  return true;
}

// Opens the writing end of the agent's output pipe a second time, in non-blocking mode, so that
// clog() can fill the pipe. The agent's own descriptor still blocks when the pipe is full.
bool AgentProcess::open_output_writer() {
  const std::string path = "/proc/self/fd/" + std::to_string(child_output_.get());
  ::fcntl(child_output_.get(), F_SETPIPE_SZ, clogged_pipe_bytes);
  output_writer_ = upgrader::OwnedFd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  return static_cast<bool>(output_writer_);
}

void AgentProcess::start(const std::vector<std::string>& command, const Start& terms) {
  if (!make_pipes(terms)) return say(NotStarted{std::string("no pipe: ") + std::strerror(errno)});
  if (terms.clogged) {
    if (!open_output_writer()) return say(NotStarted{"its output cannot be filled"});
    clog();
  }
  spawn(command, terms);
}

void AgentProcess::spawn(const std::vector<std::string>& command, const Start& terms) {
  std::vector<std::string> words = command;
  if (terms.traced) {
    const std::string fifo = make_fifo();
    if (fifo.empty()) {
      return say(NotStarted{std::string("no pipe for strace can be made, see TMPDIR: ") +
                            std::strerror(errno)});
    }
    watch_trace(fifo);
    words = traced(command, fifo);
  }
  std::vector<std::string> variables = environment(terms.alone, terms.locked ? lock_number : -1);
  std::vector<char*> args = pointers(words);
  std::vector<char*> env = pointers(variables);
  std::array<uv_stdio_container_t, 4> stdio{};
  const std::array<int, 4> numbers{child_input_.get(), child_output_.get(), child_error_.get(),
                                   lock_.get()};
  for (std::size_t i = 0; i < stdio.size(); ++i) {
    stdio[i].flags = numbers[i] >= 0 ? UV_INHERIT_FD : UV_IGNORE;
    stdio[i].data.fd = numbers[i];
  }
  uv_process_options_t options{};
  options.file = args[0];
  options.args = args.data();
  options.env = env.data();
  options.flags = UV_PROCESS_DETACHED;  // in a session of its own, as under an upgrader
  options.stdio = stdio.data();
  options.stdio_count = terms.locked ? 4 : 3;
  options.exit_cb = [](uv_process_t* process, std::int64_t status, int signal) {
    static_cast<AgentProcess*>(process->data)->on_exit(status, signal);
  };
  // libuv keeps the handle even if uv_spawn() fails. So process_ owns the handle in any case, and
  // closes it later.
  process_.reset(new uv_process_t);
  const int error = uv_spawn(loop_, process_.get(), &options);
  process_->data = this;
  for (upgrader::OwnedFd* end : {&child_input_, &child_output_, &child_error_})
    end->reset();
  if (error != 0) return say(NotStarted{uv_strerror(error)});
  pid_ = process_->pid;
  say(Started{pid_});
}

void AgentProcess::watch_trace(const std::string& path) {
  upgrader::OwnedFd fifo(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  trace_ = std::make_unique<PolledFd>(loop_, std::move(fifo), [this] { read_trace(); });
}

// ---- writing to the agent

void AgentProcess::write(const Write& order) {
  unwritten_.push_back({order.bytes, order.bytewise});
  pump();
}

void AgentProcess::hang_up() {
  hangs_up_ = true;
  pump();
}

void AgentProcess::tell_when_taken() {
  tells_taken_ = true;
  uv_timer_start(
      pump_timer_.get(), [](uv_timer_t* timer) { static_cast<AgentProcess*>(timer->data)->pump(); },
      0, pump_ms);
}

// Writes as many of the waiting bytes to the agent's input pipe as the pipe has room for. A timer
// calls this function again every millisecond until all bytes are written. If tells_taken_ is true,
// the timer runs until the agent has read all bytes, and this function then reports the event
// InputTaken.
void AgentProcess::pump() {
  while (!unwritten_.empty() && write_some()) {
  }
  if (unwritten_.empty() && hangs_up_) input_.reset();
  const bool taken = unwritten_.empty() && (!input_ || !has_unread(input_.get()));
  if (unwritten_.empty() && (taken || !tells_taken_)) {
    uv_timer_stop(pump_timer_.get());
  } else if (uv_is_active(reinterpret_cast<uv_handle_t*>(pump_timer_.get())) == 0) {
    uv_timer_start(
        pump_timer_.get(),
        [](uv_timer_t* timer) { static_cast<AgentProcess*>(timer->data)->pump(); }, pump_ms,
        pump_ms);
  }
  if (taken && std::exchange(tells_taken_, false)) say(InputTaken{});
}

// Writes the next part of the bytes that wait to be written to the agent's input. Returns false if
// no more can be written now.
bool AgentProcess::write_some() {
  Chunk& chunk = unwritten_.front();
  if (!input_) {
    unwritten_.clear();
    return false;
  }
  if (chunk.bytewise && has_unread(input_.get())) return false;
  const std::size_t size = chunk.bytewise ? 1 : chunk.bytes.size();
  const ssize_t count = ::write(input_.get(), chunk.bytes.data(), size);
  if (count < 0) {
    // after any other error, the agent has closed its input, and no more bytes can be written
    if (errno != EAGAIN && errno != EINTR) unwritten_.clear();
    return false;
  }
  chunk.bytes.erase(0, static_cast<std::size_t>(count));
  if (chunk.bytes.empty()) unwritten_.pop_front();
  return true;
}

void AgentProcess::send_signal(int number) const {
  if (runs()) ::kill(pid_, number);
}

// Fills the agent's output pipe with empty lines, and stops reading from the pipe, so that writes
// of the agent block. When the pipe is read again, the empty lines are skipped.
void AgentProcess::clog() {
  output_->watch(false);
  const std::string page(clogged_pipe_bytes, '\n');
  while (::write(output_writer_.get(), page.data(), page.size()) > 0) {
  }
  while (::write(output_writer_.get(), page.data(), 1) > 0) {
  }
}

void AgentProcess::unclog() {
  output_->watch(true);
}

// ---- reporting the agent's output, its standard error, the output of strace, and the agent's exit

void AgentProcess::read_output() {
  const auto take = [this](const Line& line) { say(line); };
  const bool over =
      drain(output_->number(), [&](std::string_view bytes) { output_lines_.add(bytes, take); });
  if (!over || std::exchange(output_is_over_, true)) return;
  output_->watch(false);
  output_lines_.end(take);
  say(OutputClosed{});
}

void AgentProcess::read_errors() {
  const auto take = [this](const Line& line) { say(ErrorLine{line.bytes}); };
  const bool over =
      drain(error_->number(), [&](std::string_view bytes) { error_lines_.add(bytes, take); });
  if (!over) return;
  error_->watch(false);
  error_lines_.end(take);
}

void AgentProcess::read_trace() {
  const auto take = [this](const Line& line) { say(Traced{line.bytes}); };
  const bool over =
      drain(trace_->number(), [&](std::string_view bytes) { trace_lines_.add(bytes, take); });
  if (!over) return;
  trace_->watch(false);
  say(TraceEnded{});
}

// Reports the lines that the agent has written before its exit, and then the exit.
void AgentProcess::on_exit(std::int64_t status, int signal) {
  has_exited_ = true;
  read_errors();
  if (!output_is_over_) read_output();
  say(Exited{.status = static_cast<int>(status), .signal = signal});
}

void AgentProcess::look() {
  Facts facts = look_at(pid_, {.output = inode(output_->number()), .lock = inode(lock_.get())});
  pollfd watched{.fd = input_.get(), .events = POLLOUT, .revents = 0};
  facts.input_closed =
      facts.alive && input_ && ::poll(&watched, 1, 0) == 1 && (watched.revents & POLLERR) != 0;
  say(Looked{std::make_shared<const Facts>(std::move(facts))});
}

}  // namespace conformance
