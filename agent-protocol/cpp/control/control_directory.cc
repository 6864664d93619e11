#include "agent-protocol/cpp/control/control_directory.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "agent-protocol/cpp/control/status_reader.h"

namespace upgraderctl {
namespace {

// The most bytes that are read of the file `last-words`. agentify writes no more than that.
constexpr std::size_t last_words_bytes_max = 2'048;

// The most bytes that are read of any file except `last-words`. The upgrader writes status.json
// with at most 65,536 bytes; a newer upgrader may write more.
constexpr std::size_t file_bytes_max = 1'048'576;

// Appends all the bytes that can be read from the descriptor to `text`. Returns 0 or an errno
// value.
int read_whole(int fd, std::string& text) {
  constexpr std::size_t piece = 65'536;
  for (;;) {
    const std::size_t before = text.size();
    if (before > file_bytes_max) return EFBIG;
    text.resize(before + piece);
    const ssize_t got = ::read(fd, text.data() + before, piece);
    text.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got == 0) return 0;
    if (got < 0 && errno != EINTR) return errno;
  }
}

// Reads a regular file, and follows no link. Returns 0 or an errno value. After a success, `facts`
// has the file's size and times.
int read_file(const std::string& path, std::string& text, struct stat& facts) {
  const upgrader::OwnedFd file(
      ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (!file) return errno;
  if (::fstat(file.get(), &facts) != 0) return errno;
  if (!S_ISREG(facts.st_mode)) return EINVAL;
  return read_whole(file.get(), text);
}

int read_file(const std::string& path, std::string& text) {
  struct stat facts {};
  return read_file(path, text, facts);
}

// Returns the text after a label in /proc/PID/status, up to the end of the file. Returns an empty
// text if the file cannot be read or has no such label.
std::string process_fact(std::int64_t pid, std::string_view label) {
  std::string text;
  if (read_file("/proc/" + std::to_string(pid) + "/status", text) != 0) return "";
  std::size_t at = text.find(label);
  if (at != std::string::npos) at = text.find_first_not_of(" \t", at + label.size());
  return at != std::string::npos ? text.substr(at) : "";
}

// Opens the FIFO for writing. If nobody reads the FIFO, returns no descriptor and sets errno.
upgrader::OwnedFd open_fifo(const std::string& directory) {
  upgrader::OwnedFd fifo(::open((directory + "/control").c_str(),
                                O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY));
  struct stat facts {};
  if (fifo && (::fstat(fifo.get(), &facts) != 0 || !S_ISFIFO(facts.st_mode))) {
    fifo.reset();
    errno = EINVAL;
  }
  return fifo;
}

int fifo_error_of(const std::string& directory) {
  return open_fifo(directory) ? 0 : errno;
}

bool is_there(std::int64_t pid) {
  return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH;
}

// Returns true if the file system is so full that the directory's owner cannot make one more file.
// Space that is reserved for root counts only if root is the owner.
bool is_full(const std::string& directory) {
  struct statvfs room {};
  struct stat facts {};
  if (::statvfs(directory.c_str(), &room) != 0 || room.f_blocks == 0) return false;
  const bool keeps_to_limits = ::stat(directory.c_str(), &facts) == 0 && facts.st_uid != 0;
  const bool no_inode = room.f_files != 0 && room.f_ffree == 0;
  return no_inode || room.f_bfree == 0 || (keeps_to_limits && room.f_bavail == 0);
}

}  // namespace

StatusFile ControlDirectory::read(const std::string& name) const {
  StatusFile file;
  const std::string path = path_ + "/" + name;
  file.error_number = read_file(path, file.text);
  if (file.error_number != 0) {
    struct stat facts {};
    const bool no_directory =
        file.error_number == ENOENT && ::stat(path_.c_str(), &facts) != 0 && errno == ENOENT;
    file.trouble = no_directory ? path_ + ": there is no such directory"
                                : path + ": " + std::strerror(file.error_number);
    return file;
  }
  agent_protocol::Result<Status> status = read_status(file.text);
  if (status) {
    file.status = std::move(status.value());
  } else {
    file.trouble = path + " " + status.reason();
  }
  return file;
}

Look ControlDirectory::look() const {
  Look look;
  Sight sight = see();
  look.status = std::move(sight.file.status);
  look.hearing = sight.hearing;
  look.error_number = sight.file.error_number;
  look.trouble = std::move(sight.file.trouble);
  look.previous = previous().status;
  struct stat facts {};
  look.directory_there = ::stat(path_.c_str(), &facts) == 0 || errno == EACCES;
  return look;
}

int ControlDirectory::open() {
  fifo_ = open_fifo(path_);
  return fifo_ ? 0 : errno;
}

bool ControlDirectory::reader_gone() const {
  if (!fifo_) return false;
  pollfd poll{.fd = fifo_.get(), .events = 0, .revents = 0};
  return ::poll(&poll, 1, 0) == 1 && (poll.revents & POLLERR) != 0;
}

WriteOutcome ControlDirectory::write(std::string_view line) const {
  const ssize_t written = ::write(fifo_.get(), line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) return WriteOutcome::written;
  return written < 0 && errno == EPIPE ? WriteOutcome::gone : WriteOutcome::full;
}

Sight ControlDirectory::see() const {
  Signs signs;
  signs.fifo_error = fifo_error_of(path_);
  Sight sight;
  sight.file = status();
  const std::int64_t pid = sight.file.status ? sight.file.status->upgrader.pid.value_or(0) : 0;
  if (pid > 0) {
    signs.process_there = is_there(pid);
    signs.process_stopped = process_fact(pid, "\nState:").starts_with('T');
  }
  signs.disk_full = is_full(path_);
  sight.hearing = hearing_of(signs);
  return sight;
}

std::optional<LastWords> ControlDirectory::last_words() const {
  LastWords words;
  struct stat facts {};
  if (read_file(path_ + "/last-words", words.text, facts) != 0) return std::nullopt;
  const auto since_1970 =
      std::chrono::seconds(facts.st_mtim.tv_sec) + std::chrono::nanoseconds(facts.st_mtim.tv_nsec);
  words.written = Moment(std::chrono::duration_cast<std::chrono::milliseconds>(since_1970));
  if (words.text.size() > last_words_bytes_max)
    words.text.erase(0, words.text.size() - last_words_bytes_max);
  return words;
}

std::optional<std::int64_t> peak_memory_kib(std::int64_t pid) {
  const std::string text = process_fact(pid, "\nVmHWM:");
  std::int64_t kib = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), kib);
  if (error != std::errc{}) return std::nullopt;
  return kib;
}

}  // namespace upgraderctl
