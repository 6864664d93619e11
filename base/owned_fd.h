// A file descriptor with one owner, which closes it.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <utility>

namespace upgrader {

// Files over 2 GiB and times after 2038 must work on 32-bit machines, too. If the C library's
// default types are smaller, _FILE_OFFSET_BITS and _TIME_BITS must be 64.
static_assert(sizeof(off_t) >= 8 && sizeof(std::time_t) >= 8);

class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(other.release()) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    reset(other.release());
    return *this;
  }
  ~OwnedFd() { reset(); }

  // Returns true if this object owns a descriptor. -1, which a failed open() returns, is not a
  // descriptor.
  [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

  // Closes the descriptor that this object owns, and owns `fd` from now on. Leaves errno as it was.
  void reset(int fd = -1) {
    const int old = std::exchange(fd_, fd);
    if (old < 0 || old == fd) return;
    const int error = errno;
    ::close(old);
    errno = error;
  }

 private:
  int fd_ = -1;
};

}  // namespace upgrader
