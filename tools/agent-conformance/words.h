// Makes the messages that this program sends in place of an upgrader, and texts of durations.
#pragma once

#include <string>
#include <string_view>

#include "tools/agent-conformance/terms.h"

namespace conformance {

inline constexpr std::string_view upgrade_id = "u1";

[[nodiscard]] std::string welcome_first();
[[nodiscard]] std::string welcome_candidate(int generation, std::string_view previous_version);
[[nodiscard]] std::string welcome_standby(int generation);
[[nodiscard]] std::string activate(bool clean);
// Makes the `activate` of a standby. The message contains the failed upgrade because of which the
// standby gets the work.
[[nodiscard]] std::string activate_standby(bool clean);
[[nodiscard]] std::string activate_on_trial(bool clean);
[[nodiscard]] std::string activate_on_trial(bool clean, std::string_view state);
[[nodiscard]] std::string stop_for_upgrade(Duration deadline, int candidate);
[[nodiscard]] std::string stop(std::string_view reason, Duration deadline);
[[nodiscard]] std::string committed(int generation);
[[nodiscard]] std::string upgrade_failed(std::string_view id, std::string_view stage,
                                         std::string_view reason);

// Returns the duration as text, such as "30 s" or "1500 ms".
[[nodiscard]] std::string duration_in_words(Duration duration);

}  // namespace conformance
