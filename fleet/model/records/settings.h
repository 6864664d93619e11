// The settings of a cell: their names, the values that each may have, and their defaults. This file
// also turns the values, which are strings, into plain data.
//
// In the second column of the table, a single value, or the first word of a list, is the default of
// the setting. Words in capitals stand for values; such a setting has no default.
//
//     event-age                30d                       how long events are kept
//     event-count              10000                     how many events are kept at most
//     keep                     90d                       how long ended rollouts and plans are kept
//     webhook                  URL, file:PATH            the address to which successes, failures
//                                                        and halts are sent. A URL that contains a
//                                                        secret should be in a file on each
//                                                        controller
//     join                     token, ask                `token`: a machine with a new name may
//                                                        join with a token; `ask`: a person
//                                                        approves each machine
//     controllers              URL,URL                   the controllers' addresses, which
//                                                        `fleetctl` writes into the tokens with
//                                                        which machines join
//     unavailable.LABEL        NUMBER                    how many nodes with the same value of
//                                                        LABEL may be down at the same time: see
//                                                        budgets.h
//     watch.COMPONENT.source   URL, github:OWNER/NAME    the source of releases of COMPONENT
//     watch.COMPONENT.channel  production, staging       `production`: ignores prereleases
//     watch.COMPONENT.then     publish, desire, rollout  what a controller does with a new release:
//                                                        see release_watcher.h
//     watch.COMPONENT.every    10m                       the time between two queries to the source
//     watch.COMPONENT.target   *                         the target of the component's rollouts;
//                                                        batches, batch, canary, soak, pause and
//                                                        max-failed can be set in the same way
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/records/cell_records.h"
#include "fleet/model/records/rollout_records.h"
#include "fleet/model/records/transaction.h"
#include "fleet/model/releases/release_list.h"

namespace fleet {

// The name of the setting whose value is secret, since the URL of a webhook usually contains a
// password. This value is never written into an event, an answer or a list of differences.
inline constexpr std::string_view secret_setting = "webhook";

enum class ThenDo { publish, desire, rollout };

struct WatchSettings {
  std::string source = {};
  Channel channel = Channel::production;
  ThenDo then = ThenDo::publish;
  std::int64_t every_ms = 600'000;
  RolloutTerms terms = {};  // the terms for the rollouts of new releases of this component

  bool operator==(const WatchSettings&) const = default;
};

struct CellSettings {
  std::int64_t event_age_s = 30 * 86'400;
  std::int64_t event_count = 10'000;
  std::int64_t keep_s = 90 * 86'400;
  std::string webhook = {};
  bool joins_wait = false;                    // a person must approve each machine before it joins
  std::vector<std::string> controllers = {};  // the URLs of controllers, for machines that join
  std::map<std::string, WatchSettings> watches = {};     // the watched components, by their names
  std::map<std::string, std::int64_t> unavailable = {};  // the budgets, by their labels

  bool operator==(const CellSettings&) const = default;
};

// Returns a message that names the first wrong setting, and says what is wrong, or no value if all
// settings are right. `before` has the settings that are in the store now. A setting that has the
// same value in `before` is accepted, since a newer program, which knows more settings, may have
// written this value.
[[nodiscard]] std::optional<std::string> why_no_settings(const Settings& settings,
                                                         const Settings& before = {});

// Returns whether there is a setting with this name.
[[nodiscard]] bool is_setting(const std::string& name);

// Returns the settings as plain data. A setting with a wrong value gets its default.
[[nodiscard]] CellSettings cell_settings(const Settings& settings);

// Returns the cell's budgets, from the record `settings` in the reading: for each label, how many
// nodes with the same value of that label may be down at the same time.
[[nodiscard]] std::map<std::string, std::int64_t> budgets_in(const Reading& reading);

// Parses a duration such as `500ms`, `30s`, `10m`, `2h` or `30d`, and returns it in milliseconds.
[[nodiscard]] std::optional<std::int64_t> duration_ms(std::string_view text);

}  // namespace fleet
