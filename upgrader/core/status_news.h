// The text of status.json, which shows the state of the upgrader in the control directory. The text
// depends on the arguments of status_news() alone. control_directory.h writes the file. upgrader(8)
// describes the members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "upgrader/core/chronicle.h"
#include "upgrader/core/state.h"

namespace upgrader {

// The most bytes of status.json, with its newline.
inline constexpr std::size_t status_news_bytes_max = 65'536;

struct StatusFacts {
  int pid = 0;                             // the upgrader's pid
  std::optional<std::string> previous{};   // the LINK of --previous, absolute
  std::optional<std::int64_t> attempts{};  // the starts that --attempts has counted, if it counts
  // The arguments of the agents State::incumbent and State::candidate; null if there is no such
  // agent.
  const std::vector<std::string>* incumbent_arguments = nullptr;
  const std::vector<std::string>* candidate_arguments = nullptr;
};

// Returns the text of status.json: one line with its newline. If the line would be too long, the
// arguments of agents are left out first, then the oldest ended upgrades. All other parts have a
// maximum length, and always fit.
[[nodiscard]] std::string status_news(const State& state, const Chronicle& chronicle,
                                      const StatusFacts& facts);

// Returns true while no agent is active, and a ready agent is about to be activated. status.json is
// not written during this time, since writing it would delay the activation.
[[nodiscard]] bool hands_over(const State& state);
// Returns true while the active agent stops and another agent is to follow it. status.json is then
// written a little later: the agent may exit at any moment, and its successor should not have to
// wait for the file.
[[nodiscard]] bool active_agent_stops(const State& state);

}  // namespace upgrader
