// A descriptor with one owner, which closes it, and the calls that give private ones: close-on-exec
// from the start, and above those that a program uses by their numbers.
#pragma once

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <ctime>
#include <utility>

namespace agent_protocol {

// As everywhere in the project, also where the C library's default is less.
static_assert(sizeof(off_t) >= 8 && sizeof(std::time_t) >= 8);

// Private descriptors have at least this number: 0 to 9 are a shell's, and stray prints go to 1
// and 2, also where those are closed.
inline constexpr int private_descriptor_min = 10;

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
    if (number_ >= 0) ::close(number_);
  }

  [[nodiscard]] bool open() const { return number_ >= 0; }
  [[nodiscard]] int number() const { return number_; }

  // A private copy; not open, with errno, where there is none to be had.
  [[nodiscard]] static Descriptor private_copy_of(int number) {
    return Descriptor(::fcntl(number, F_DUPFD_CLOEXEC, private_descriptor_min));
  }

 private:
  int number_ = -1;
};

}  // namespace agent_protocol
