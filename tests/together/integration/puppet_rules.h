// Checks the lines that the upgrader sends to one agent. The protocol page must allow each line.
// These rules were written from that page alone, without a look at the code under test.
#pragma once

#include <string>
#include <string_view>

namespace puppet {

class Rules {
 public:
  // Checks a line from the upgrader, given without its newline. Returns the error of the line, or
  // "" if the line is allowed.
  std::string hears(std::string_view line);

  // Records a line that the agent writes, even if the protocol page does not allow this line.
  void says(std::string_view line);

 private:
  std::string hears_type(std::string_view type);

  bool said_hello_ = false;
  bool said_ready_ = false;
  bool said_stopped_ = false;
  bool welcomed_ = false;
  bool activated_ = false;
  bool told_to_stop_ = false;
  bool committed_ = false;
};

// Returns the string after the first `"type":` in the line, or "" if there is none. Finds it by a
// plain search, and does not parse the line.
std::string_view type_of(std::string_view line);

}  // namespace puppet
