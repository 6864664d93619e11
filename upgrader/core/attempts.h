// --attempts counts the starts in a row after which an executable did not last. This file has the
// text in which the count is kept, and the decision which program to start next. The contract is
// upgrader(8).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace upgrader {

inline constexpr std::int64_t attempts_max = 999'999;  // the largest value that --attempts accepts

struct Attempts {
  int count = 0;           // starts in a row, with the present one, after which no agent lasted
  std::string executable;  // its path, without symbolic links
  std::string ending;      // how the last start ended; empty if nothing could record that
  bool operator==(const Attempts&) const = default;
};

// Makes the text of the file, and reads it. A text that cannot be read counts as no attempt.
[[nodiscard]] std::string print(const Attempts& attempts);
[[nodiscard]] Attempts read_attempts(std::string_view text);

struct NextAttempt {
  Attempts attempts;  // to be written to the file before anything is started
  // The reason to start the other executable, if it is started.
  std::optional<std::string> worn_out;
  bool operator==(const NextAttempt&) const = default;
};

// Decides which executable to start. `before` is the content of the file, `executable` the target
// of AGENT's link, and `limit` the value of --attempts. After `limit` starts in vain the other
// executable has the next `limit` starts, then the first one again. `way_back` says whether there
// is such another executable. Without one, nothing is counted beyond `limit`: the attempts stay as
// they were, and the file need not be written again at every start of a crash loop.
[[nodiscard]] NextAttempt next_attempt(const Attempts& before, const std::string& executable,
                                       int limit, bool way_back);

}  // namespace upgrader
