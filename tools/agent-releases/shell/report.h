// Prints facts about releases on standard output, for people or as JSON. On a terminal, shows the
// progress of a fetch as a bar.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent-releases/releases.h"
#include "tools/agent-releases/core/ledger.h"

namespace agent_releases {

struct Fact {
  Release release;
  bool current = false;
  bool previous = false;
  bool desired = false;
  std::optional<Entry> last{};  // the newest entry in the ledger about this release
};

struct Overview {
  std::string directory;
  std::string name;
  bool newest_is_desired = true;
  std::vector<Fact> facts;
};

// Writes JSON or lines for people to standard output. In lines for people, the caller must have
// escaped foreign texts with shown(). A character that could still control a terminal is written as
// its JSON escape.
void print(const std::string& text);

[[nodiscard]] std::string json_of(const Fact& fact);
[[nodiscard]] std::string json_of(const Overview& overview);
[[nodiscard]] std::string text_of(const Overview& overview);

// Returns the facts about one release, one fact on each line.
[[nodiscard]] std::string text_of(const Fact& fact);

// Returns a number of bytes in a form for people, such as "4.2 MB".
[[nodiscard]] std::string shown_bytes(std::int64_t bytes);

class ProgressLine {
 public:
  explicit ProgressLine(bool json) : json_(json) {}
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const Progress& progress);

 private:
  void draw(const Progress& progress, std::int64_t percent);

  bool json_;
  bool drawn_ = false;
  std::int64_t shown_ = -1;  // how much of the bar was filled when the bar was last drawn
};

}  // namespace agent_releases
