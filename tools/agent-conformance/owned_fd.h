// Owns a descriptor.
#pragma once

#include <unistd.h>

#include <utility>

namespace conformance {

class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int number) : number_(number) {}
  OwnedFd(OwnedFd&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  OwnedFd(const OwnedFd&) = delete;
  OwnedFd& operator=(const OwnedFd&) = delete;
  ~OwnedFd() { reset(); }

  void reset() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

}  // namespace conformance
