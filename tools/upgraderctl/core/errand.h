// Makes the errand of a command: the request to send to an upgrader, and the goal to wait for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "tools/upgraderctl/core/conversation.h"
#include "tools/upgraderctl/core/options.h"

namespace upgraderctl {

// Returns a name for a request. It contains the time of day, for people, and digits of the random
// number `chance`, so that two requests in the same second have different names.
[[nodiscard]] std::string request_name(Moment now, std::uint32_t chance);

// The exit status and message with which a command ends at once, because it needs no request, or
// must not send its request.
using NoErrand = Finish;

// The facts about the upgrader that are known before the request is sent.
struct Seen {
  Status status;
  Hearing hearing = Hearing::listens;
  // The last status of the previous upgrader in this control directory, if that status could be
  // read.
  std::optional<Status> previous;
  // The reason why the status of the previous upgrader could not be read. Empty if it was read, or
  // if its file does not exist.
  std::string previous_trouble;
  std::string command;  // a command line that selects this upgrader: "upgraderctl app"
};

// Returns the errand of a command: the request to send and the goal to wait for. If the command
// must end at once instead, returns its exit status and message. `name` is a new, unique name for
// the request. If `options` has an `executable`, that path must be absolute, and `resolved` must be
// set if the file exists.
[[nodiscard]] std::variant<Errand, NoErrand> errand_of(const Options& options, const Seen& seen,
                                                       const std::string& name);

}  // namespace upgraderctl
