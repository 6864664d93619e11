// Fuzz targets: functions that take arbitrary bytes and check that the rules hold. The fuzzer
// passes bytes that it invents (fuzzer.cc). `make check` passes the stored inputs (replay_test.cc).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tests/adversity/fuzz/planted_fault.h"

namespace fuzz {

// Returns bytes as a text that can be printed in a message.
[[nodiscard]] std::string printable(std::string_view bytes);

// The exception that a target throws when a rule is broken. `what` names the rule, and describes
// the case.
struct Finding {
  std::string what;
};

inline void must(bool holds, const char* otherwise, std::string_view about = "") {
  if (!holds)
    throw Finding{std::string(otherwise) + (about.empty() ? "" : ": ") + printable(about)};
}

// Counts the cases in which the tested code was compared with a second implementation of the rules,
// and both agreed.
inline std::uint64_t comparisons = 0;

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

}  // namespace fuzz
