// The text of status.json in the control directory: a pure function of the supervisor's state and
// of the chronicle. The control directory writes it. Its members are on the page upgrader(8).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "upgrader/core/chronicle.h"
#include "upgrader/core/state.h"

namespace upgrader {

// With its newline.
inline constexpr std::size_t status_news_bytes_max = 65'536;

// The arguments of a program that an agent runs, or null if they are not known.
using ArgumentsOf = const std::vector<std::string>* (*)(const void* programs, ProgramId program);

// Facts about the next start of the upgrader.
struct BootFacts {
  std::optional<std::string> previous;   // LINK of --previous, as it was given
  std::optional<std::int64_t> attempts;  // what --attempts has counted, if it counts
};

struct StatusFacts {
  int pid = 0;  // the upgrader's
  BootFacts boot{};
  const void* programs = nullptr;
  ArgumentsOf arguments_of = nullptr;
};

// One line with its newline. If it would be too long the arguments are left out first, then the
// oldest endings. Everything else is bounded, and always fits.
[[nodiscard]] std::string status_news(const State& state, const Chronicle& chronicle,
                                      const StatusFacts& facts);

// True while nobody is active and somebody who is ready is next: nothing else may take time then.
[[nodiscard]] bool hands_over(const State& state);
// True while the active agent stops and somebody else follows it: its exit may come at any moment.
[[nodiscard]] bool active_agent_stops(const State& state);

}  // namespace upgrader
