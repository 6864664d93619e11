// Makes texts about an upgrader for people: the page of `status`, the tables of `list` and
// `history`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent-protocol/cpp/control/hearing.h"
#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

// Returns the lines of the page, without newlines.
[[nodiscard]] std::vector<std::string> status_page(const Status& status,
                                                   const std::optional<Status>& previous,
                                                   Hearing hearing, Moment now);

// Returns one line about what runs and what is under way. `status --watch` prints it at each
// change.
[[nodiscard]] std::string status_line(const Status& status, Hearing hearing, Moment now);

// Returns a key of the facts in status_line(). As long as the key is the same, no new line is
// printed.
[[nodiscard]] std::string change_key(const Status& status, Hearing hearing);

struct Listed {
  std::string name;
  std::optional<Status> status;
  Hearing hearing = Hearing::unknown;
  std::string trouble;  // why there is no status of this upgrader
};
[[nodiscard]] std::vector<std::string> list_table(const std::vector<Listed>& all, Moment now);

// Returns the endings of the upgrader's present run and of the run before it, as far as they are
// known; newest first.
[[nodiscard]] std::vector<std::string> history_table(const std::optional<Status>& status,
                                                     Hearing hearing,
                                                     const std::optional<Status>& previous);

}  // namespace upgraderctl
