#include "upgrader/core/attempts.h"

#include <charconv>

namespace upgrader {

// "COUNT PATH", and in a second line how it ended. A path may have any byte in it but U+0000: what
// stands behind the last newline but one is the ending's.
std::string print(const Attempts& attempts) {
  return std::to_string(attempts.count) + " " + attempts.executable + "\n" + attempts.ending + "\n";
}

Attempts read_attempts(std::string_view text) {
  Attempts attempts;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, attempts.count);
  const bool good = error == std::errc{} && rest != end && *rest == ' ' && attempts.count >= 0 &&
                    attempts.count <= 2 * attempts_max && text.ends_with('\n');
  if (!good) return {};
  text = text.substr(static_cast<std::size_t>(rest - text.data()) + 1);
  text.remove_suffix(1);
  const std::size_t newline = text.rfind('\n');
  if (newline == std::string_view::npos) return {};
  attempts.executable = text.substr(0, newline);
  attempts.ending = text.substr(newline + 1);
  return attempts;
}

NextAttempt next_attempt(const Attempts& before, const std::string& executable, int limit) {
  int count = before.executable == executable ? before.count : 0;
  if (count >= 2 * limit) count = 0;
  NextAttempt next{{count + 1, executable, ""}, std::nullopt};
  if (count < limit) return next;
  const std::string ending =
      before.ending.empty() ? "nobody was left to say how the last one ended" : before.ending;
  next.worn_out = executable + " did not last in " + std::to_string(count) +
                  (count == 1 ? " start" : " starts in a row") + ": " + ending;
  return next;
}

}  // namespace upgrader
