#include "base/no_wait.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/owned_fd.h"
#include "base/repeated.h"

namespace upgrader {
namespace {

// If poll() reports a terminal as writable, two writes do not block: one of at most this many bytes
// without a newline, and one of a single newline. So each newline is written by itself.
constexpr std::size_t terminal_bytes = 128;

// Writes to a pipe without blocking, and without a flag that other processes would share. First
// tries RWF_NOWAIT, which Linux 6.4 and later support, but not for named pipes. Otherwise writes to
// a private pipe, and moves the bytes from there with splice(), which can be told not to block.
ssize_t write_to_pipe(int descriptor, std::string_view bytes) {
  constexpr int no_wait = 0x8;  // the value of RWF_NOWAIT, which not every libc defines
  const iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  const ssize_t count = ::syscall(SYS_pwritev2, descriptor, &part, 1, -1L, -1L, no_wait);
  if (count >= 0 || errno == EAGAIN || errno == EINTR) return count;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return -1;
  const OwnedFd from(ends[0]);
  const OwnedFd into(ends[1]);
  if (::write(into.get(), bytes.data(), bytes.size()) < 0) return -1;
  return ::splice(from.get(), nullptr, descriptor, nullptr, bytes.size(), SPLICE_F_NONBLOCK);
}

std::string_view piece_for_terminal(std::string_view bytes) {
  return bytes.substr(0, std::clamp(bytes.find('\n'), std::size_t{1}, terminal_bytes));
}

bool takes_bytes_now(int descriptor) {
  pollfd one{.fd = descriptor, .events = POLLOUT, .revents = 0};
  return ::poll(&one, 1, 0) == 1 && (one.revents & POLLOUT) != 0;
}

ssize_t write_some(int descriptor, mode_t mode, std::string_view bytes) {
  if (S_ISSOCK(mode)) {
    return ::send(descriptor, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  if (S_ISFIFO(mode)) return write_to_pipe(descriptor, bytes);
  if (!takes_bytes_now(descriptor)) return 0;
  if (S_ISCHR(mode)) bytes = piece_for_terminal(bytes);
  return ::write(descriptor, bytes.data(), bytes.size());
}

}  // namespace

std::size_t write_without_waiting(int descriptor, mode_t mode, std::string_view bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto count = repeated([&] { return write_some(descriptor, mode, bytes.substr(done)); });
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

}  // namespace upgrader
