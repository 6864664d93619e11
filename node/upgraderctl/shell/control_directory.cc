#include "node/upgraderctl/shell/control_directory.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "node/upgraderctl/wire/status_reader.h"

namespace upgraderctl {
namespace {

// The upgrader writes at most 65,536 bytes; a younger one may write more.
constexpr std::size_t file_bytes_max = 1'048'576;

// To write to it, where somebody reads it, and never to wait.
constexpr int fifo_flags = O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY;

class OpenFile {
 public:
  OpenFile(const std::string& path, int flags)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

// 0, or an errno.
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

// 0, or an errno. Only a regular file is read, and no link is followed.
int read_file(const std::string& path, std::string& text) {
  const OpenFile file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (file.get() < 0) return errno;
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return errno;
  if (!S_ISREG(facts.st_mode)) return EINVAL;
  return read_whole(file.get(), text);
}

// What stands behind a label in /proc/PID/status, and all that follows it. Empty: nobody tells.
std::string process_fact(std::int64_t pid, std::string_view label) {
  std::string text;
  if (read_file("/proc/" + std::to_string(pid) + "/status", text) != 0) return "";
  std::size_t at = text.find(label);
  if (at != std::string::npos) at = text.find_first_not_of(" \t", at + label.size());
  return at != std::string::npos ? text.substr(at) : "";
}

}  // namespace

StatusFile ControlDirectory::read(const std::string& name) const {
  StatusFile file;
  const std::string path = path_ + "/" + name;
  file.error_number = read_file(path, file.text);
  if (file.error_number != 0) {
    file.trouble = path + ": " + std::strerror(file.error_number);
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

// One that may not be written to may have a reader.
bool ControlDirectory::taken() const {
  const OpenFile fifo(path_ + "/control", fifo_flags);
  return fifo.get() >= 0 || (errno != ENXIO && errno != ENOENT);
}

Look ControlDirectory::look() const {
  Look look;
  look.taken = taken();
  look.status = status().status;
  look.previous = previous().status;
  struct stat facts {};
  look.directory_there = ::stat(path_.c_str(), &facts) == 0 || errno == EACCES;
  return look;
}

int ControlDirectory::open() {
  close();
  const std::string path = path_ + "/control";
  const int fd = ::open(path.c_str(), fifo_flags);
  if (fd < 0) return errno;
  struct stat facts {};
  if (::fstat(fd, &facts) != 0 || !S_ISFIFO(facts.st_mode)) {
    ::close(fd);
    return EINVAL;
  }
  fifo_ = fd;
  return 0;
}

void ControlDirectory::close() {
  if (fifo_ >= 0) ::close(std::exchange(fifo_, -1));
}

bool ControlDirectory::reader_gone() const {
  if (fifo_ < 0) return false;
  pollfd poll{.fd = fifo_, .events = 0, .revents = 0};
  return ::poll(&poll, 1, 0) == 1 && (poll.revents & POLLERR) != 0;
}

WriteOutcome ControlDirectory::write(std::string_view line) const {
  const ssize_t written = ::write(fifo_, line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) return WriteOutcome::written;
  return written < 0 && errno == EPIPE ? WriteOutcome::gone : WriteOutcome::full;
}

Hearing ControlDirectory::hearing() {
  if (fifo_ < 0) {
    const int error = open();
    if (error == ENXIO || error == ENOENT) return Hearing::gone;
    if (error != 0) return Hearing::unknown;
  }
  if (!reader_gone()) return Hearing::listens;
  close();
  return Hearing::gone;
}

Hearing with_process(Hearing hearing, const std::optional<Status>& status) {
  if (hearing != Hearing::listens || !status || !status->upgrader.pid) return hearing;
  const bool is_stopped = process_fact(*status->upgrader.pid, "\nState:").starts_with('T');
  return is_stopped ? Hearing::stopped : hearing;
}

std::optional<std::int64_t> peak_memory_kib(std::int64_t pid) {
  const std::string text = process_fact(pid, "\nVmHWM:");
  std::int64_t kib = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), kib);
  if (error != std::errc{}) return std::nullopt;
  return kib;
}

}  // namespace upgraderctl
