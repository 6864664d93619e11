// The settings of a cell, by names: the only place that knows them, the values that each may have,
// and those that hold if it is not set. People write texts; plain data follows from them.
//
//     event-age                30d                how long events are kept
//     event-count              10000              how many, at most
//     keep                     90d                how long ended rollouts and plans are kept
//     webhook                  URL, file:PATH     where successes, failures and halts are told; a
//                                                 URL with a secret in it stands in a file of
//                                                 each controller's own
//     watch.COMPONENT.source   URL, github:OWNER/NAME
//     watch.COMPONENT.channel  production, staging
//     watch.COMPONENT.then     publish, desire, rollout
//     watch.COMPONENT.every    10m
//     watch.COMPONENT.target   *                  of rollouts: and batches, batch, canary, soak,
//                                                 pause, max-failed
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "fleet/model/cell_records.h"
#include "fleet/model/release_watch.h"
#include "fleet/model/rollout_records.h"

namespace fleet {

enum class ThenDo { publish, desire, rollout };

struct WatchSettings {
  std::string source = {};
  Channel channel = Channel::production;
  ThenDo then = ThenDo::publish;
  std::int64_t every_ms = 600'000;
  RolloutTerms terms = {};  // of the rollout, where there is one

  bool operator==(const WatchSettings&) const = default;
};

struct CellSettings {
  std::int64_t event_age_s = 30 * 86'400;
  std::int64_t event_count = 10'000;
  std::int64_t keep_s = 90 * 86'400;
  std::string webhook = {};
  std::map<std::string, WatchSettings> watches = {};  // by component

  bool operator==(const CellSettings&) const = default;
};

// No value if all of them may be; otherwise the one that may not, and why.
[[nodiscard]] std::optional<std::string> why_no_settings(const Settings& settings);

// A setting that may not be is left at the value that holds without it.
[[nodiscard]] CellSettings cell_settings(const Settings& settings);

// `500ms`, `30s`, `10m`, `2h`, `30d`.
[[nodiscard]] std::optional<std::int64_t> duration_ms(std::string_view text);

}  // namespace fleet
