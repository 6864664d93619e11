#include "base/signals.h"

#include "base/ending.h"
#include "base/number.h"

namespace upgrader {
namespace {

// The last signal with a name of its own. Higher numbers are real-time signals.
constexpr int signal_max = 31;

}  // namespace

std::optional<int> parse_signal(std::string_view name) {
  if (const auto number = whole_number(name, signal_max); number && *number > 0) {
    return static_cast<int>(*number);
  }
  const bool is_short = !name.starts_with("SIG");
  for (int number = 1; number <= signal_max; ++number) {
    const char* const known = known_signal(number);
    if (known != nullptr && name == known + (is_short ? 3 : 0)) return number;
  }
  return std::nullopt;
}

std::string signal_name(int number) {
  const char* const name = known_signal(number);
  return name != nullptr ? name : "signal {}"_with(number);
}

}  // namespace upgrader
