// Fuzz targets are functions that run the tested code on arbitrary bytes, and check that the code
// keeps its rules. The bytes come from the fuzzer, which invents them (fuzzer.cc), or are the
// stored inputs, with which `make check` runs (replay_test.cc).
//
// This file has the code that the targets share: it reads inputs, reports broken rules, and injects
// bugs to prove that a run would find them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

namespace fuzz {

struct Target {
  std::string_view name;
  void (*take)(std::string_view input);
};

[[nodiscard]] std::span<const Target> targets();
// Returns the fuzz target of this name, or null if there is none.
[[nodiscard]] const Target* find_target(std::string_view name);

void take_codec(std::string_view input);
void take_lines(std::string_view input);
void take_core(std::string_view input);
void take_session(std::string_view input);
void take_control(std::string_view input);
void take_words(std::string_view input);

// ---- the report of a broken rule

// Returns the bytes as text that can be printed in a message.
[[nodiscard]] std::string printable(std::string_view bytes);

// The exception that a target throws when a rule is broken. `what` names the rule, and describes
// the input that breaks it.
struct Finding {
  std::string what;
};

inline void must(bool holds, const char* otherwise, std::string_view about = "") {
  if (!holds)
    throw Finding{std::string(otherwise) + (about.empty() ? "" : ": ") + printable(about)};
}

// The number of comparisons so far in which the tested code and a second implementation of the
// rules agreed.
inline std::uint64_t comparisons = 0;

// ---- reading an input

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

// Returns the length for which this byte of the input stands. Most of these lengths are at limits
// of the protocol.
[[nodiscard]] std::size_t interesting_length(unsigned char code);

// Returns the text for which an input stands, but at most the first `bytes_max` bytes of it. In an
// input, the byte 0x01 is followed by a code for a length, a number N, and N bytes, which are
// repeated until they fill that length. All other bytes stand for themselves. So a few bytes can
// stand for a line that exceeds the limit, and the fuzzer can turn one length near the limit into
// the next by changing one byte.
[[nodiscard]] std::string unfold(std::string_view input, std::size_t bytes_max);

// ---- bugs that a test injects on purpose

// Returns the name of the bug that the environment variable PLANTED_FAULT injects into the tests'
// own code, or "" if the variable is not set. The tested code never has these bugs.
inline std::string name_of_planted_fault() {
  const char* const name = std::getenv("PLANTED_FAULT");
  return name == nullptr ? "" : name;
}

// The name of the bug that this process injects into the tests' own code; "" if there is none.
inline std::string planted_fault = name_of_planted_fault();

inline bool planted(std::string_view fault) {
  return fault == planted_fault;
}

}  // namespace fuzz
