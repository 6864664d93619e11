// Makes the errand of a command, which is its task with an upgrader: the request to send, its
// names, and the goal to wait for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "tools/upgraderctl/core/conversation.h"
#include "tools/upgraderctl/core/options.h"

namespace upgraderctl {

// Returns a name for a request: the time of day, for people, and digits of the random number
// `chance`, so that two requests of the same second have different names.
[[nodiscard]] std::string request_name(Moment now, std::uint32_t chance);

// The result of a command that ends at once, because it needs no request or must not send one.
using NoErrand = Finish;

// The state of the upgrader before the request is sent.
struct Seen {
  Status status;
  Hearing hearing = Hearing::listens;
  // The status of the upgrader that ran before the present one, if it could be read.
  std::optional<Status> previous;
  // Why the file with that status could not be read. Empty if there is no such file.
  std::string previous_trouble;
  std::string command;  // the command line that selects this upgrader: "upgraderctl app"
};

// Returns the errand of a command. `name` is the name for its request, which no other request may
// have had. In `options`, `executable` must be absolute, and `resolved` set if the file exists.
[[nodiscard]] std::variant<Errand, NoErrand> errand_of(const Options& options, const Seen& seen,
                                                       const std::string& name);

}  // namespace upgraderctl
