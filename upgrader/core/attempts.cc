#include "upgrader/core/attempts.h"

#include <charconv>

#include "agent-protocol/wire/form.h"

namespace upgrader {

using agent_protocol::operator""_with;

// "COUNT PATH", and in a second line how it ended. A path may have any byte in it but U+0000: what
// stands behind the last newline but one is the ending's.
std::string print(const Attempts& attempts) {
  return "{} {}\n{}\n"_with(attempts.count, attempts.executable, attempts.ending);
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
  std::string_view ending = before.ending;
  if (ending.empty()) ending = "nobody was left to say how the last one ended";
  next.worn_out = "{} did not last in {} {}: {}"_with(
      executable, count, count == 1 ? "start" : "starts in a row", ending);
  return next;
}

}  // namespace upgrader
