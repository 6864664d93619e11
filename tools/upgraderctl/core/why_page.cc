#include "tools/upgraderctl/core/why_page.h"

#include <algorithm>
#include <string_view>

#include "base/shown.h"
#include "base/table.h"
#include "tools/upgraderctl/core/sentences.h"

namespace upgraderctl {
namespace {

const Ending* failure_in(const std::optional<Status>& status) {
  if (!status) return nullptr;
  for (const Ending& ending : status->endings) {
    if (ending.outcome != "committed" && ending.stage != "cancel") return &ending;
  }
  return nullptr;
}

std::string end_words(const Ending& failure) {
  if (failure.signal) return "killed by signal " + std::to_string(*failure.signal);
  if (failure.exit_status) return "exited with status " + std::to_string(*failure.exit_status);
  return failure.error.empty() ? "" : "the system says " + shown(failure.error);
}

bool are_of(const LastWords& last_words, const Ending& failure) {
  if (failure.accepted && last_words.written < *failure.accepted) return false;
  return !failure.ended || last_words.written <= *failure.ended + last_words_delay_max;
}

}  // namespace

const Ending* last_failure(const std::optional<Status>& status,
                           const std::optional<Status>& previous) {
  const Ending* const now = failure_in(status);
  return now != nullptr ? now : failure_in(previous);
}

std::vector<std::string> why_page(const Ending& failure, const std::optional<LastWords>& last_words,
                                  Moment now) {
  const std::string when =
      failure.ended ? show_duration(now - *failure.ended) + " ago" : "at an unknown time";
  std::vector<Row> rows{{"upgrade", shown(failure.id) + ", " + when + ", " +
                                        side_name(failure.from) + " to " + side_name(failure.to)},
                        {"why", ending_sentence(failure)}};
  if (const std::string end = end_words(failure); !end.empty()) rows.push_back({"end", end});
  if (!last_words || !are_of(*last_words, failure)) return in_columns(rows);
  for (std::string_view rest = last_words->text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (!line.empty()) rows.push_back({"wrote", shown(line)});
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  return in_columns(rows);
}

}  // namespace upgraderctl
