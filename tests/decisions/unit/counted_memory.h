// Counts the bytes that a test program allocates with `new`. Replaces `new` in the whole program,
// so only one source file of the program may include this file.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace agent_protocol::wire_test {

inline std::size_t taken_bytes = 0;

// Counts the bytes that have been allocated since the construction of this object.
class CountedMemory {
 public:
  [[nodiscard]] std::size_t taken() const { return taken_bytes - base_; }

 private:
  std::size_t base_ = taken_bytes;
};

}  // namespace agent_protocol::wire_test

void* operator new(std::size_t size) {
  agent_protocol::wire_test::taken_bytes += size;
  void* const memory = std::malloc(size > 0 ? size : 1);
  if (memory == nullptr) std::abort();
  return memory;
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return operator new(size);
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
