// Types for times. State machines get the time as an argument, in milliseconds on a clock that
// never goes back (Ms). Times of the wall clock are in seconds since 1970 (UnixSeconds); TimeZone
// converts them to local time. No code in fleet/model reads a clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fleet {

// A time for state machines. Only the difference between two such times has a meaning.
using Ms = std::int64_t;

inline constexpr std::int64_t day_seconds = 86'400;

using agent_protocol::Refusal;
using agent_protocol::Result;

// A time of the wall clock, in seconds since 1970.
using UnixSeconds = std::int64_t;

// The limit for a time zone file. The largest file in tzdata is about 4 KiB.
inline constexpr std::size_t time_zone_bytes_max = 65'536;

// The moment of each year at which summer time begins or ends, from a rule in the format of POSIX's
// TZ: Mm.w.d, Jn or n.
struct ZoneChange {
  enum class Kind { month_week_day, julian_without_leap, day_of_year };

  Kind kind = Kind::month_week_day;
  int month = 0;
  int week = 0;  // the week of the month, from 1; 5: the last week
  int day = 0;
  std::int64_t seconds = 7'200;  // seconds after midnight, in the local time before the change

  bool operator==(const ZoneChange&) const = default;
};

// A time zone file lists changes of the offset from UTC. This rule is for all times after the last
// listed change.
struct ZoneRule {
  std::int64_t standard = 0;  // the offset without daylight saving, in seconds ahead of UTC
  std::optional<std::int64_t> summer = {};
  ZoneChange begins = {};
  ZoneChange ends = {};

  bool operator==(const ZoneRule&) const = default;
};

// A time zone: says how far local time is ahead of UTC at any moment, including daylight saving.
// The class parses the bytes of a file of tzdata (TZif, RFC 8536), but does not read the file.
class TimeZone {
 public:
  [[nodiscard]] static TimeZone utc() { return {}; }

  // Parses the bytes of a time zone file. Returns a Refusal if they are damaged, or are not TZif of
  // version 2 or later.
  [[nodiscard]] static Result<TimeZone> parse(std::string_view bytes);

  // Returns how many seconds local time is ahead of UTC.
  [[nodiscard]] std::int64_t offset_at(UnixSeconds moment) const;

  // Returns the moment at which clocks show `local`, a local time in seconds since 1970 as if the
  // zone were UTC. If clocks show this time twice, returns the first moment. If clocks are put
  // forward and skip this time, returns the moment at which clocks that were not put forward would
  // show it.
  [[nodiscard]] UnixSeconds moment_of(std::int64_t local) const;

  bool operator==(const TimeZone&) const = default;

 private:
  struct Transition {
    UnixSeconds at = 0;
    std::int64_t offset = 0;

    bool operator==(const Transition&) const = default;
  };

  std::int64_t first_ = 0;  // the offset from UTC before the first change, in seconds
  std::vector<Transition> transitions_ = {};
  std::optional<ZoneRule> rule_ = {};
};

// Parses the rule of a time zone, such as `CET-1CEST,M3.5.0,M10.5.0/3`. Returns no value if the
// text is not a valid rule.
[[nodiscard]] std::optional<ZoneRule> parse_zone_rule(std::string_view text);

}  // namespace fleet
