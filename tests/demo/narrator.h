// Shows the demo's events as they happen. At the end it draws when each version was active.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/demo/line_proof.h"

namespace demo {

class Narrator {
 public:
  // `output` is the agents' output file. Colours are used only on a terminal.
  explicit Narrator(std::string output);

  // Prints an action of the person who runs the demo.
  void tell(const std::string& text) const;

  // Prints an event that an agent has written into its event log. Leaves some events out.
  void tell(const SeenEvent& event);

  // Prints a line without a time.
  void say(const std::string& text = "") const;

  // Draws when each version was active, with one row for each.
  void draw(const std::vector<SeenEvent>& events, std::uint64_t end_us) const;

 private:
  enum class Mood { plain, good, bad };
  void print(std::uint64_t time_us, Mood mood, const std::string& text) const;

  [[nodiscard]] std::uint64_t end_of_work_before(std::string_view works) const;

  std::string output_;
  std::uint64_t begin_us_;
  bool colours_;
  std::uint64_t stopped_us_ = 0;  // when the last agent stopped; 0 if none has stopped
};

// Returns a time as "1.2 ms".
[[nodiscard]] std::string in_ms(std::uint64_t time_us);

}  // namespace demo
