#include "upgrader/core/attempts.h"

#include "base/form.h"
#include "base/number.h"

namespace upgrader {

// The text of the file of --attempts: "COUNT PATH", a newline, how the last start ended, and a
// newline. The path may contain newlines, so the ending follows the second-to-last newline.
std::string print(const Attempts& attempts) {
  return "{} {}\n{}\n"_with(attempts.count, attempts.executable, attempts.ending);
}

Attempts read_attempts(std::string_view text) {
  Attempts attempts;
  const std::optional<std::int64_t> count = take_number(text);
  const bool good = count && *count >= 0 && *count <= 2 * attempts_max && text.starts_with(' ') &&
                    text.ends_with('\n');
  if (!good) return {};
  attempts.count = static_cast<int>(*count);
  text = text.substr(1, text.size() - 2);
  const std::size_t newline = text.rfind('\n');
  if (newline == std::string_view::npos) return {};
  attempts.executable = text.substr(0, newline);
  attempts.ending = text.substr(newline + 1);
  return attempts;
}

NextAttempt next_attempt(const Attempts& before, const std::string& executable, int limit,
                         bool way_back) {
  int count = before.executable == executable ? before.count : 0;
  if (count >= 2 * limit) count = 0;
  NextAttempt next{{count + 1, executable, ""}, std::nullopt};
  if (count < limit) return next;
  std::string_view ending = before.ending;
  if (ending.empty()) ending = "nobody was left to say how the last one ended";
  next.worn_out = "{} did not last in {} {}: {}"_with(
      executable, count, count == 1 ? "start" : "starts in a row", ending);
  if (!way_back) next.attempts = before;
  return next;
}

}  // namespace upgrader
