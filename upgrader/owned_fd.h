// A file descriptor with one owner, which closes it.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace upgrader {

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

  // True if it owns an open descriptor: a failed open() gives -1.
  [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

  // Leaves errno as it was.
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
