// Makes texts about upgraders for people: the page of `upgraderctl status`, and the tables of
// `list` and `history`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent-protocol/cpp/control/hearing.h"
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

}  // namespace upgraderctl
