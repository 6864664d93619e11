// Makes the page of `upgraderctl why`, about the last upgrade that has failed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent-protocol/cpp/control/last_words.h"
#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

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
