// A time zone of tzdata, taken from the bytes of its file (TZif, RFC 8536): how far local time is
// ahead of UTC at any moment, daylight saving included. The file is read elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fleet {

inline constexpr std::int64_t day_seconds = 86'400;

using agent_protocol::Refusal;
using agent_protocol::Result;

// Seconds since 1970, of the wall clock.
using UnixSeconds = std::int64_t;

// The largest of tzdata's has about 4 KiB.
inline constexpr std::size_t time_zone_bytes_max = 65'536;

// The day of a year on which a rule of POSIX's TZ changes the offset: Mm.w.d, or Jn, or n.
struct ZoneChange {
  enum class Kind { month_week_day, julian_without_leap, day_of_year };

  Kind kind = Kind::month_week_day;
  int month = 0;
  int week = 0;  // 5: the last
  int day = 0;
  std::int64_t seconds = 7'200;  // after midnight, local time before the change

  bool operator==(const ZoneChange&) const = default;
};

// The rule that holds after the file's last transition.
struct ZoneRule {
  std::int64_t standard = 0;  // seconds ahead of UTC
  std::optional<std::int64_t> summer = {};
  ZoneChange begins = {};
  ZoneChange ends = {};

  bool operator==(const ZoneRule&) const = default;
};

class TimeZone {
 public:
  [[nodiscard]] static TimeZone utc() { return {}; }

  // Refused: no TZif of version 2 or later, or damaged.
  [[nodiscard]] static Result<TimeZone> parse(std::string_view bytes);

  // Seconds ahead of UTC.
  [[nodiscard]] std::int64_t offset_at(UnixSeconds moment) const;

  // The moment at which clocks show `local`, counted as if that were UTC. If they show it twice,
  // the first; if they skip it, as much behind the skip as it would be behind its beginning.
  [[nodiscard]] UnixSeconds moment_of(std::int64_t local) const;

  bool operator==(const TimeZone&) const = default;

 private:
  struct Transition {
    UnixSeconds at = 0;
    std::int64_t offset = 0;

    bool operator==(const Transition&) const = default;
  };

  std::int64_t first_ = 0;  // before the first transition
  std::vector<Transition> transitions_ = {};
  std::optional<ZoneRule> rule_ = {};
};

// `CET-1CEST,M3.5.0,M10.5.0/3`; none: it is no such rule.
[[nodiscard]] std::optional<ZoneRule> parse_zone_rule(std::string_view text);

}  // namespace fleet
