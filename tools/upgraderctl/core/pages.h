// Makes texts about upgraders for people: the pages of `upgraderctl status` and `why`, and the
// tables of `list` and `history`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent-protocol/cpp/control/hearing.h"
#include "agent-protocol/cpp/control/last_words.h"
#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

// Returns the lines of the page of `status`, without newlines.
[[nodiscard]] std::vector<std::string> status_page(const Status& status,
                                                   const std::optional<Status>& previous,
                                                   Hearing hearing, Moment now);

// Returns one line about what runs and which upgrade is under way. `status --watch` prints such a
// line at each change.
[[nodiscard]] std::string status_line(const Status& status, Hearing hearing, Moment now);

// Returns a text that changes when the facts in status_line() change. A new line is printed only
// then.
[[nodiscard]] std::string change_key(const Status& status, Hearing hearing);

struct Listed {
  std::string name;
  std::optional<Status> status;
  Hearing hearing = Hearing::unknown;
  std::string trouble;  // the reason why the status cannot be read
};
[[nodiscard]] std::vector<std::string> list_table(const std::vector<Listed>& all, Moment now);

// Returns the table of `history`: the known endings of the upgrader's present run and of the run
// before it, newest first.
[[nodiscard]] std::vector<std::string> history_table(const std::optional<Status>& status,
                                                     Hearing hearing,
                                                     const std::optional<Status>& previous);

// ---- the page of `why`, about the last upgrade that has failed

// Returns the newest failure among the endings of this run of the upgrader or, if there is none, of
// the run before. Returns null if no upgrade has failed. A cancelled upgrade has not failed.
[[nodiscard]] const Ending* last_failure(const std::optional<Status>& status,
                                         const std::optional<Status>& previous);

// The last words of a daemon belong to a failed upgrade if they were written at most this long
// after its end: agentify writes them as soon as the daemon has failed, which ends the upgrade.
// Later ones belong to a later failure of the daemon, which no upgrade has caused.
inline constexpr Duration last_words_delay_max = std::chrono::seconds{5};

// Returns the lines of the page, escaped and without newlines. Leaves out last words from before
// the upgrade was accepted, or from long after its end, because they belong to another failure.
[[nodiscard]] std::vector<std::string> why_page(const Ending& failure,
                                                const std::optional<LastWords>& last_words,
                                                Moment now);

}  // namespace upgraderctl
