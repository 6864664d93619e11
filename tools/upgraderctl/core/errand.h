// Makes an errand of a command: what is asked, under which names, and what is wanted of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "tools/upgraderctl/core/conversation.h"
#include "tools/upgraderctl/core/options.h"

namespace upgraderctl {

// The name of a request: the time of day, for people, and something that nobody else has.
[[nodiscard]] std::string request_name(Moment now, std::uint32_t chance);

// The command's end without a request.
using NoErrand = Finish;

// The state that was seen before a request is sent.
struct Seen {
  Status status;
  Hearing hearing = Hearing::listens;
  std::optional<Status> previous;  // of the life before, if it could be read
  std::string previous_trouble;    // why it could not, if there is one
  std::string command;             // the words that lead to this upgrader: "upgraderctl app"
};

// `name` is one that no other request has ever had. In `options`, `executable` is absolute, and
// `resolved` set where it exists.
[[nodiscard]] std::variant<Errand, NoErrand> errand_of(const Options& options, const Seen& seen,
                                                       const std::string& name);

}  // namespace upgraderctl
