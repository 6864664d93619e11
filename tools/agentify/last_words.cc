#include "tools/agentify/last_words.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/descriptors.h"
#include "base/directory.h"
#include "base/errno_name.h"
#include "base/no_wait.h"
#include "base/owned_fd.h"
#include "tools/agentify/command.h"

namespace agentify {
namespace {

constexpr mode_t last_words_mode = 0600;

// The counter in the shared memory has 32 bits and not 64, because 64-bit atomics need a lock on
// 32-bit MIPS.
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "two processes share it");

}  // namespace

// Makes the shared memory. The kernel fills it with zeros, the initial values of all members of
// LastWords.
LastWords* LastWords::share() {
  void* const place =
      ::mmap(nullptr, sizeof(LastWords), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return place == MAP_FAILED ? nullptr : static_cast<LastWords*>(place);
}

void LastWords::add(std::string_view bytes) {
  if (bytes.size() > last_words_bytes_max) bytes.remove_prefix(bytes.size() - last_words_bytes_max);
  std::uint32_t end = end_.load(std::memory_order_relaxed);
  for (const char byte : bytes) {
    bytes_[end % last_words_bytes_max].store(byte, std::memory_order_relaxed);
    if (++end == 2 * last_words_bytes_max) end = last_words_bytes_max;
  }
  end_.store(end, std::memory_order_release);
}

std::string LastWords::text() const {
  const std::uint32_t end = end_.load(std::memory_order_acquire);
  std::string text;
  for (std::uint32_t at = end - std::min(end, last_words_bytes_max); at < end; ++at)
    text += bytes_[at % last_words_bytes_max].load(std::memory_order_relaxed);
  return text;
}

std::string LastWords::last_line() const {
  LastLines lines;
  lines.add(text());
  return lines.last();
}

std::optional<std::string> write_last_words(const LastWords& words, const std::string& path) {
  upgrader::Entry file;
  // O_PATH works even if the user may not list the directory. It is enough because the directory is
  // not synced.
  int error = file.open(path, O_PATH);
  if (error == 0) {
    error = file.directory.replace_file(file.name, words.text(), false, last_words_mode);
  }
  if (error == 0) return std::nullopt;
  return path + ": " + in_words(upgrader::SystemError{error});
}

// ---- the class OutputRelay, which passes the daemon's output on to the log

namespace {

using upgrader::OwnedFd;

// The most reads from the daemon's output in one turn of the loop of the keeper, which is the
// daemon's parent process. With this limit, a daemon that writes without pause does not delay the
// orders that agentify sends to the keeper.
constexpr int reads_in_relay_turn = 16;
constexpr std::size_t relay_piece_bytes = 16'384;
// The most bytes of one write. A pipe accepts up to PIPE_BUF bytes atomically, so no bytes of a
// different process can come in between.
constexpr std::size_t relay_write_bytes = 4'096;

// The keeper, the daemon's parent process, passes the daemon's output on to the log. If the log is
// full when the keeper exits, the keeper waits for room at most `last_waits` times, each time for
// at most `last_wait_ms` milliseconds.
constexpr int last_waits = 10;
constexpr int last_wait_ms = 100;

// Returns the bytes to write next: as many whole lines as fit into one write. If the first line is
// too long for one write, returns the beginning of this line. Returns an empty string if the first
// line is not complete and is not too long so far.
std::string_view next_piece(std::string_view waiting) {
  const std::string_view piece = waiting.substr(0, relay_write_bytes);
  const std::size_t end = piece.rfind('\n');
  if (end != std::string_view::npos) return piece.substr(0, end + 1);
  return piece.size() == relay_write_bytes ? piece : std::string_view{};
}

}  // namespace

bool OutputRelay::begin(LastWords* words) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  OwnedFd source(ends[0]);
  const OwnedFd write(ends[1]);
  const int first = upgrader::first_passed_descriptor;
  OwnedFd sink(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, first));
  struct stat status {};
  if (!sink || ::fstat(sink.get(), &status) != 0) return false;
  if (::fcntl(source.get(), F_SETFL, O_NONBLOCK) != 0) return false;
  if (::dup2(write.get(), STDOUT_FILENO) < 0 || ::dup2(write.get(), STDERR_FILENO) < 0) {
    return false;
  }
  source_ = std::move(source);
  sink_ = std::move(sink);
  sink_mode_ = status.st_mode;
  words_ = words;
  return true;
}

void OutputRelay::go_on() {
  // Write each piece to the log before the next piece is read, because all pieces of one turn
  // together may exceed the limit of `waiting_`.
  for (int i = 0; i < reads_in_relay_turn && take(); ++i)
    pass_on();
  pass_on();
}

void OutputRelay::finish() {
  if (!source_) return;
  // Read at most waiting_bytes_max bytes, which is more than a pipe holds by default. Without this
  // limit, a process that still writes for a moment after SIGKILL could prolong this loop.
  for (std::size_t taken = 0; taken < waiting_bytes_max && take(); taken += relay_piece_bytes)
    pass_on();
  if (!waiting_.empty() && waiting_.back() != '\n') waiting_ += '\n';
  pass_on();
  for (int i = 0; i < last_waits && waits(); ++i) {
    pollfd log{.fd = sink_.get(), .events = POLLOUT, .revents = 0};
    ::poll(&log, 1, last_wait_ms);
    pass_on();
  }
}

bool OutputRelay::waits() const {
  return !next_piece(waiting_).empty();
}

// Reads a piece of the daemon's output from the pipe. Returns false if there was nothing to read.
bool OutputRelay::take() {
  char bytes[relay_piece_bytes];
  const ssize_t count = ::read(source_.get(), bytes, sizeof bytes);
  if (count <= 0) return false;
  const std::string_view taken(bytes, static_cast<std::size_t>(count));
  words_->add(taken);
  keep(taken);
  return true;
}

void OutputRelay::keep(std::string_view bytes) {
  const std::size_t space = waiting_bytes_max - std::min(waiting_bytes_max, waiting_.size());
  lost_ += bytes.size() - std::min(space, bytes.size());
  waiting_ += bytes.substr(0, space);
}

void OutputRelay::pass_on() {
  std::size_t done = 0;
  std::string_view rest = waiting_;
  for (std::string_view piece; !(piece = next_piece(rest)).empty();) {
    const std::size_t written = upgrader::write_without_waiting(sink_.get(), sink_mode_, piece);
    done += written;
    rest.remove_prefix(written);
    if (written < piece.size()) break;
  }
  waiting_.erase(0, done);
  if (lost_ == 0 || done == 0) return;
  waiting_ += "\nagentify: " + std::to_string(lost_) +
              " bytes of the daemon's output were lost here: the log was not read in time\n";
  lost_ = 0;
}

}  // namespace agentify
