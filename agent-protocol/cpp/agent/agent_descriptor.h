// A descriptor with one owner, which closes it. Private descriptors are made here: they are
// close-on-exec from the start, and have higher numbers than the descriptors that programs expect
// to be free.
#pragma once

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <ctime>
#include <utility>

namespace agent_protocol {

// Files over 2 GiB and times after 2038 must work everywhere, even if the C library's default types
// are smaller.
static_assert(sizeof(off_t) >= 8 && sizeof(std::time_t) >= 8);

// The lowest number of a private descriptor. Lower numbers are not safe: shells use 0 to 9, and a
// program writes stray output to 1 and 2 even if it has closed them.
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

  // Makes a private copy of the descriptor `number`. If that fails, the object returned has no
  // descriptor, and errno says why.
  [[nodiscard]] static Descriptor private_copy_of(int number) {
    return Descriptor(::fcntl(number, F_DUPFD_CLOEXEC, private_descriptor_min));
  }

 private:
  int number_ = -1;
};

}  // namespace agent_protocol
