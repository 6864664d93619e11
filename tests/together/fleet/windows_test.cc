// Tests windows in time zones that have daylight saving time. Also tests which of two releases is
// newer.
#include "fleet/model/windows.h"

#include <catch2/catch.hpp>
#include <chrono>

#include "fleet/model/release_watch.h"

namespace windows_test {

namespace {

using namespace fleet;
using namespace std::chrono;

UnixSeconds at(int year, unsigned month, unsigned day, int hour = 0, int minute = 0) {
  const sys_days date{std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day)};
  return date.time_since_epoch().count() * std::int64_t{86'400} + hour * 3'600 + minute * 60;
}

std::string number(std::int64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i)
    text += static_cast<char>(value >> (8 * i));
  return text;
}

std::string header(int times, int types) {
  return "TZif2" + std::string(15, '\0') + number(0, 4) + number(0, 4) + number(0, 4) +
         number(times, 4) + number(types, 4) + number(4, 4);
}

// Returns the contents of a time zone's file, like one of tzdata's "slim" files: with one
// transition in 1980, and a rule for all later years.
std::string zone_file(const std::string& rule, std::int64_t offset = 3'600) {
  return header(0, 1) + number(0, 6) + "LMT" + std::string(1, '\0') + header(1, 2) +
         number(at(1980, 1, 1), 8) + std::string(1, '\1') + number(3'208, 4) + number(0, 2) +
         number(offset, 4) + number(0, 2) + "LMT" + std::string(1, '\0') + "\n" + rule + "\n";
}

TimeZone zone(const std::string& rule) {
  const auto parsed = TimeZone::parse(zone_file(rule));
  REQUIRE(parsed);
  return parsed.value();
}

const std::string berlin = "CET-1CEST,M3.5.0,M10.5.0/3";

TEST_CASE("a zone's file says how far it is ahead of UTC, by transitions and by its rule") {
  const TimeZone here = zone(berlin);
  CHECK(here.offset_at(at(1970, 1, 1)) == 3'208);
  CHECK(here.offset_at(at(2026, 1, 1)) == 3'600);
  CHECK(here.offset_at(at(2026, 7, 1)) == 7'200);
  CHECK(here.offset_at(at(2026, 3, 29, 1) - 1) == 3'600);
  CHECK(here.offset_at(at(2026, 3, 29, 1)) == 7'200);
  CHECK(here.offset_at(at(2026, 10, 25, 1) - 1) == 7'200);
  CHECK(here.offset_at(at(2026, 10, 25, 1)) == 3'600);
}

TEST_CASE("rules of the south, without summer and with odd offsets are read, and others refused") {
  CHECK(zone("NZST-12NZDT,M9.5.0,M4.1.0/3").offset_at(at(2026, 1, 1)) == 13 * 3'600);
  CHECK(zone("NZST-12NZDT,M9.5.0,M4.1.0/3").offset_at(at(2026, 7, 1)) == 12 * 3'600);
  CHECK(zone("<+0545>-5:45").offset_at(at(2026, 7, 1)) == 20'700);
  CHECK(zone("AAA3BBB2,J60/0,300").offset_at(at(2024, 3, 1, 3)) == -7'200);
  for (const char* wrong : {"", "CET", "CET-1CEST", "CET-1CEST,M13.5.0,M10.5.0", "C-1",
                            "CET-1CEST,M3.5.0", "CET-1CEST,M3.5.0,M10.5.0/3x", "<CET-1"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_zone_rule(wrong));
  }
}

TEST_CASE("a zone's file that is cut off anywhere, or of another kind, is refused") {
  const std::string whole = zone_file(berlin);
  for (std::size_t size = 0; size + berlin.size() + 1 < whole.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(TimeZone::parse(std::string_view(whole).substr(0, size)));
  }
  CHECK_FALSE(TimeZone::parse("[Unit]\n"));
  std::string many = whole;
  many[32] = '\x7f';
  CHECK_FALSE(TimeZone::parse(many));
}

// Rows: A-51
TEST_CASE("a window opens on its days, at its local time, for as long as it says") {
  const TimeZone here = zone(berlin);
  const Window window{.days = {"sat", "sun"}, .start = "22:00", .duration_s = 4 * 3'600};
  // 2026-07-03 is a Friday.
  const auto next = next_window(window, here, at(2026, 7, 3, 12));
  CHECK(next == OpenWindow{at(2026, 7, 4, 20), at(2026, 7, 5, 0)});
  CHECK(next_window(window, here, at(2026, 7, 4, 23)) == next);
  CHECK(next_window(window, here, at(2026, 7, 5, 0))->begins == at(2026, 7, 5, 20));
  CHECK(next_window(window, here, at(2026, 7, 6, 0))->begins == at(2026, 7, 11, 20));
}

TEST_CASE("a window whose start clocks skip begins after it; if they repeat it, it begins once") {
  const TimeZone here = zone(berlin);
  const Window window{.start = "02:30", .duration_s = 3'600};
  // On 2026-03-29, clocks in Berlin go from 02:00 to 03:00 at 01:00 UTC. So this day has no 02:30.
  CHECK(next_window(window, here, at(2026, 3, 28, 12))->begins == at(2026, 3, 29, 1, 30));
  // On 2026-10-25, Berlin has 02:30 twice: at 00:30 UTC and at 01:30 UTC.
  const auto autumn = next_window(window, here, at(2026, 10, 24, 12));
  CHECK(autumn == OpenWindow{at(2026, 10, 25, 0, 30), at(2026, 10, 25, 1, 30)});
  CHECK(next_window(window, here, at(2026, 10, 25, 1, 30))->begins == at(2026, 10, 26, 1, 30));
}

// Rows: A-52
TEST_CASE("nothing begins outside a window, and nothing that cannot end inside") {
  const Window window{.start = "22:00", .duration_s = 3'600};
  const TimeZone utc = TimeZone::utc();
  CHECK_FALSE(may_begin(window, utc, at(2026, 7, 4, 21, 59), 60));
  CHECK(may_begin(window, utc, at(2026, 7, 4, 22), 3'600));
  CHECK_FALSE(may_begin(window, utc, at(2026, 7, 4, 22), 3'601));
  CHECK(may_begin(window, utc, at(2026, 7, 4, 22, 59), 60));
  CHECK_FALSE(may_begin(window, utc, at(2026, 7, 4, 23), 0));
}

TEST_CASE("a window of every whole day is always open, and an invalid one never") {
  const Window always{.start = "00:00", .duration_s = 86'400};
  for (int hour = 0; hour < 48; ++hour) {
    CHECK(may_begin(always, TimeZone::utc(), at(2026, 7, 4, hour), 0));
  }
  CHECK(why_no_window({.start = "24:00", .duration_s = 60}) == "start \"24:00\" is no HH:MM");
  CHECK(why_no_window({.start = "2:00", .duration_s = 60}) == "start \"2:00\" is no HH:MM");
  CHECK(why_no_window({.start = "02:00"}) == "a duration is a minute to seven days");
  CHECK(why_no_window({.days = {"Mon"}, .start = "02:00", .duration_s = 60}) ==
        "\"Mon\" is no day (mon, tue, wed, thu, fri, sat, sun)");
  CHECK_FALSE(next_window({.start = "nonsense", .duration_s = 60}, TimeZone::utc(), 0));
}

TEST_CASE("a clock in 1970, or before, finds the next window as any other does") {
  const Window window{.days = {"thu"}, .start = "01:00", .duration_s = 3'600};
  CHECK(next_window(window, TimeZone::utc(), 0)->begins == 3'600);
  CHECK(next_window(window, TimeZone::utc(), -86'400)->begins == 3'600);
}

// Rows: A-54
TEST_CASE("the time until the next window is shown as a countdown") {
  CHECK(countdown(86'400 + 4 * 3'600 + 18) == "1d4h18s");
  CHECK(countdown(61) == "1m1s");
  CHECK(countdown(0) == "0s");
  CHECK(countdown(-5) == "0s");
}

// Rows: N-15, N-16, N-17
TEST_CASE("a tag's version is what follows the first hyphen") {
  CHECK(version_of_tag("release-2018.11.07-1") == "2018.11.07-1");
  CHECK(version_of_tag("v-1.2.3+x") == "1.2.3+x");
  CHECK_FALSE(version_of_tag("v1.2.3"));
  CHECK_FALSE(version_of_tag("-1.2.3"));
  CHECK_FALSE(version_of_tag("release-"));
  CHECK_FALSE(version_of_tag("release-../../x"));
}

TEST_CASE("versions have one order, which nodes have too: that of releases") {
  const std::vector<std::string> ascending = {
      "1.0",         "2018.11.07-1", "unknown",    "0.9.0",       "1.2.3-1",
      "1.2.3-alpha", "1.2.3-rc.1",   "1.2.3-rc.2", "1.2.3-rc.10", "1.2.3",
      "1.2.10",      "1.10.0",       "10.0.0",     "2018.11.7-1", "2018.11.7"};
  for (std::size_t a = 0; a < ascending.size(); ++a) {
    for (std::size_t b = 0; b < ascending.size(); ++b) {
      CAPTURE(ascending[a], ascending[b]);
      CHECK(compare_versions(ascending[a], ascending[b]) == (a <=> b));
    }
  }
  CHECK(compare_versions("1.0.0+a", "1.0.0+b") == std::strong_ordering::equal);
}

// Rows: N-03, N-05, N-18, N-19
TEST_CASE("the newest release of the channel is taken if it is newer and nothing is under way") {
  const std::vector<FoundRelease> found = {{"release-1.1.0", false},
                                           {"release-1.3.0-rc1", true},
                                           {"release-1.2.0", false},
                                           {"release-2018.11.07-1", false},
                                           {"nonsense", false}};
  CHECK(release_to_take(found, Channel::production, {.current = "1.1.0"}) == "1.2.0");
  CHECK(release_to_take(found, Channel::staging, {.current = "1.1.0"}) == "1.3.0-rc1");
  CHECK(release_to_take(found, Channel::production, {}) == "1.2.0");
  CHECK_FALSE(release_to_take(found, Channel::production, {.current = "1.2.0"}));
  CHECK_FALSE(release_to_take(found, Channel::production, {.current = "1.3.0"}));
  CHECK_FALSE(release_to_take(found, Channel::production, {.current = "1.1.0", .under_way = true}));
  CHECK_FALSE(release_to_take(found, Channel::production, {.current = "1.1.0", .halted = true}));
  CHECK_FALSE(release_to_take({}, Channel::staging, {}));
}

TEST_CASE("a window that is open when another day's opens stays open until that one ends") {
  const Window window{.days = {"mon", "tue"}, .start = "00:00", .duration_s = 36 * 3'600};
  const TimeZone utc = TimeZone::utc();
  const UnixSeconds monday = at(2026, 7, 6, 0);

  CHECK(next_window(window, utc, monday) == OpenWindow{monday, monday + 60 * 3'600});
  CHECK(may_begin(window, utc, monday + 30 * 3'600, 20 * 3'600));
  CHECK(next_window(window, utc, monday + 60 * 3'600)->begins == at(2026, 7, 13, 0));
}

}  // namespace

}  // namespace windows_test
