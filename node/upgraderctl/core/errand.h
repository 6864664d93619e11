// Makes an errand of a command: what is asked, under which names, and what is wanted of it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "node/upgraderctl/core/conversation.h"
#include "node/upgraderctl/core/options.h"

namespace upgraderctl {

// The name of a request: the time of day, for people, and something that nobody else has.
[[nodiscard]] std::string request_name(Moment now, std::uint32_t chance);

// The command's end without a request.
using NoErrand = Finish;

// `name` is one that no other request has ever had; `command` the words that lead to this upgrader.
// In `options`, `executable` is absolute, and `resolved` set where it exists. `previous` is the
// status of the life before.
[[nodiscard]] std::variant<Errand, NoErrand> errand_of(const Options& options, const Status& status,
                                                       const std::optional<Status>& previous,
                                                       const std::string& name,
                                                       const std::string& command);

}  // namespace upgraderctl
