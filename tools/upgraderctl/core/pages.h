// Makes the text that upgraderctl prints about upgraders: the pages of `status` and `why`, and the
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

// Returns one line that says which agent runs and which upgrade is under way. `status --watch`
// prints this line at each change.
[[nodiscard]] std::string status_line(const Status& status, Hearing hearing, Moment now);

// Returns a string that changes if and only if a fact in status_line() other than an age changes.
// `status --watch` prints a new line only if this string has changed.
[[nodiscard]] std::string change_key(const Status& status, Hearing hearing);

struct Listed {
  std::string name;
  std::optional<Status> status;
  Hearing hearing = Hearing::unknown;
  std::string trouble;  // the reason why the status cannot be read
};
[[nodiscard]] std::vector<std::string> list_table(const std::vector<Listed>& all, Moment now);

// Returns the table of `history`: how the upgrades of the upgrader's current run and of its
// previous run have ended, as far as is known, newest first.
[[nodiscard]] std::vector<std::string> history_table(const std::optional<Status>& status,
                                                     Hearing hearing,
                                                     const std::optional<Status>& previous);

// ---- the page that the command `why` prints, about the last upgrade that has failed

// Returns the newest failed upgrade of the upgrader's current run or, if no upgrade has failed in
// this run, of its previous run. Returns null if no upgrade has failed. A cancelled upgrade has not
// failed.
[[nodiscard]] const Ending* last_failure(const std::optional<Status>& status,
                                         const std::optional<Status>& previous);

// The file of last words has a daemon's last lines of output. agentify writes it as soon as the
// daemon has failed, and this failure ends the upgrade. A file that was written more than this time
// after the end of an upgrade belongs to a different failure.
inline constexpr Duration last_words_delay_max = std::chrono::seconds{5};

// Returns the lines of the page of `why`, escaped and without newlines. `last_words` are the last
// lines of a daemon's output. They are left out if they were written before the upgrade was
// accepted or long after it ended, because they then belong to a different failure.
[[nodiscard]] std::vector<std::string> why_page(const Ending& failure,
                                                const std::optional<LastWords>& last_words,
                                                Moment now);

}  // namespace upgraderctl
