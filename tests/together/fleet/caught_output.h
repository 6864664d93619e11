// Catches the output and the errors of this process, so that they appear nowhere else.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace fleet_test {

// Redirects standard output and standard error of this process into a file as long as this object
// exists.
class Caught {
 public:
  Caught() : file_(::memfd_create("caught", MFD_CLOEXEC)) {
    flush();
    for (int fd : {STDOUT_FILENO, STDERR_FILENO}) {
      before_[fd - 1] = ::dup(fd);
      ::dup2(file_, fd);
    }
  }
  Caught(const Caught&) = delete;
  Caught& operator=(const Caught&) = delete;
  ~Caught() {
    flush();
    for (int fd : {STDOUT_FILENO, STDERR_FILENO}) {
      ::dup2(before_[fd - 1], fd);
      ::close(before_[fd - 1]);
    }
    ::close(file_);
  }

  [[nodiscard]] std::string text() const {
    flush();
    std::string all(static_cast<std::size_t>(::lseek(file_, 0, SEEK_END)), '\0');
    const ssize_t count = ::pread(file_, all.data(), all.size(), 0);
    all.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    return all;
  }

 private:
  static void flush() {
    std::fflush(stdout);
    std::fflush(stderr);
  }

  int file_;
  int before_[2] = {};
};

}  // namespace fleet_test
