// Fuzz targets: functions that take arbitrary bytes and check that the rules hold. The fuzzer
// passes bytes that it invents (fuzzer.cc), `make check` those that have been kept
// (replay_test.cc).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tests/adversity/fuzz/planted_fault.h"

namespace fuzz {

// Returns bytes in a form that can be shown in a sentence.
[[nodiscard]] std::string printable(std::string_view bytes);

// Thrown by targets when a rule is broken; `what` names the rule, and describes the case.
struct Finding {
  std::string what;
};

inline void must(bool holds, const char* otherwise, std::string_view about = "") {
  if (!holds)
    throw Finding{std::string(otherwise) + (about.empty() ? "" : ": ") + printable(about)};
}

// The number of comparisons in which the tested code and a second implementation of the rules have
// agreed.
inline std::uint64_t comparisons = 0;

struct Target {
  std::string_view name;
  void (*take)(std::string_view input);
};

[[nodiscard]] std::span<const Target> targets();
// Returns null if there is no target of that name.
[[nodiscard]] const Target* find_target(std::string_view name);

void take_codec(std::string_view input);
void take_lines(std::string_view input);
void take_core(std::string_view input);
void take_session(std::string_view input);
void take_control(std::string_view input);
void take_words(std::string_view input);

}  // namespace fuzz
