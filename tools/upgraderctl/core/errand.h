// Makes the errand of a command: its request, the names in it, and the command's goal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "tools/upgraderctl/core/conversation.h"
#include "tools/upgraderctl/core/options.h"

namespace upgraderctl {

// Returns a name for a request: the time of day, for people, and digits of the random number
// `chance`, so that no two requests have the same name.
[[nodiscard]] std::string request_name(Moment now, std::uint32_t chance);

// The end of a command that needs no request, or must not make one.
using NoErrand = Finish;

// The state of the upgrader before the request is sent.
struct Seen {
  Status status;
  Hearing hearing = Hearing::listens;
  // The status of the upgrader before this one, if it could be read.
  std::optional<Status> previous;
  std::string previous_trouble;  // why `previous` could not be read, if there is one
  std::string command;           // the command line that selects this upgrader: "upgraderctl app"
};

// Returns the errand of a command. `name` must be one that no other request has had. In `options`,
// `executable` must be absolute, and `resolved` set if the file exists.
[[nodiscard]] std::variant<Errand, NoErrand> errand_of(const Options& options, const Seen& seen,
                                                       const std::string& name);

}  // namespace upgraderctl
