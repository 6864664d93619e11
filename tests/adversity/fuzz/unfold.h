// Makes long inputs from short ones, so that a few bytes of the corpus can stand for a line that is
// longer than the limit. The fuzzer can turn a length at a limit into the next length by changing
// one byte.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fuzz {

// Returns the bytes of an input one after the other. At the end of the input, returns zeroes.
class Bytes {
 public:
  explicit Bytes(std::string_view rest) : rest_(rest) {}

  [[nodiscard]] bool empty() const { return rest_.empty(); }
  [[nodiscard]] std::size_t left() const { return rest_.size(); }

  unsigned char take() {
    if (rest_.empty()) return 0;
    const char byte = rest_.front();
    rest_.remove_prefix(1);
    return static_cast<unsigned char>(byte);
  }

  std::string_view take(std::size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }

 private:
  std::string_view rest_;
};

// Returns the length that this byte of the input stands for. Most of these lengths are at limits of
// the protocol.
[[nodiscard]] std::size_t interesting_length(unsigned char code);

// Unfolds an input. The byte 0x01 is followed by a code for a length, a number N, and N bytes. It
// stands for these N bytes, repeated up to that length. All other bytes stand for themselves.
// Returns at most `bytes_max` bytes.
[[nodiscard]] std::string unfold(std::string_view input, std::size_t bytes_max);

}  // namespace fuzz
