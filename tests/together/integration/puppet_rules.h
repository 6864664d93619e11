// Checks the upgrader's lines to one agent: the protocol page must allow each. Written from the
// page alone, without a look at the code under test.
#pragma once

#include <string>
#include <string_view>

namespace puppet {

class Rules {
 public:
  // Judges a line (without its newline) from the upgrader. Returns what is wrong with the line, or
  // "".
  std::string hears(std::string_view line);

  // Notes a line that the agent writes, whether the protocol page allows it or not.
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

// Returns the value of the first `"type":` in the line, found by a plain search; "" if there is
// none.
std::string_view type_of(std::string_view line);

}  // namespace puppet
