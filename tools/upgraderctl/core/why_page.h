// Makes the page of `why`, about the last upgrade that failed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent-protocol/cpp/control/last_words.h"
#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

// Returns the newest ending of this run of the upgrader, or else of the previous one, that is a
// failure; null if there is none. An upgrade that was cancelled has not failed.
[[nodiscard]] const Ending* last_failure(const std::optional<Status>& status,
                                         const std::optional<Status>& previous);

// Agentify writes the last words as soon as the daemon has failed, which ends the upgrade. Words
// that were written later than this after the end belong to a later failure of the daemon, which no
// upgrade has caused.
inline constexpr Duration last_words_delay_max = std::chrono::seconds{5};

// Returns the lines of the page, escaped and without newlines. Last words from before the upgrade
// was accepted, or from long after its end, belong to another failure, and are left out.
[[nodiscard]] std::vector<std::string> why_page(const Ending& failure,
                                                const std::optional<LastWords>& last_words,
                                                Moment now);

}  // namespace upgraderctl
