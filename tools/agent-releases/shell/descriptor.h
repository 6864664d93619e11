// A file descriptor with one owner, which closes it.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace agent_releases {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    const int error = errno;
    if (number_ >= 0) ::close(number_);
    errno = error;
  }

  [[nodiscard]] explicit operator bool() const { return number_ >= 0; }
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_ = -1;
};

}  // namespace agent_releases
