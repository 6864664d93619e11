// --attempts counts the starts in a row in which an executable did not last. This is the text of
// its file, and the decision what to start next. The contract is upgrader(8).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace upgrader {

inline constexpr std::int64_t attempts_max = 999'999;  // that --attempts takes

struct Attempts {
  int count = 0;           // starts, the present one included, after which nothing lasted
  std::string executable;  // resolved
  std::string ending;      // how the last one ended; empty: nobody was left to say it
  bool operator==(const Attempts&) const = default;
};

// The text of the file, and back. A text that cannot be read counts as no attempt.
[[nodiscard]] std::string print(const Attempts& attempts);
[[nodiscard]] Attempts read_attempts(std::string_view text);

struct NextAttempt {
  Attempts attempts;                    // what is to be written before anything is started
  std::optional<std::string> worn_out;  // why the other executable is to be started, if it is
  bool operator==(const NextAttempt&) const = default;
};

// `before` is what the file says, `executable` what AGENT's link names, `limit` what --attempts
// says. After `limit` starts in vain the other executable has the next `limit`, then this again.
// Without a `way_back`, which is that other, nothing is counted beyond `limit`: the attempts are
// those of before, and the file need not be written again at every start of a crash loop.
[[nodiscard]] NextAttempt next_attempt(const Attempts& before, const std::string& executable,
                                       int limit, bool way_back);

}  // namespace upgrader
