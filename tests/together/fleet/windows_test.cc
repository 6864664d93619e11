// Tests windows, the times of the day or week in which work on nodes may begin. The tests check
// time zones with daylight saving time, the times at which windows open and close, and the decision
// whether work on a node may begin now. They also check which of two releases is newer.
#include "fleet/model/drivers/windows.h"

#include <catch2/catch.hpp>
#include <chrono>

#include "fleet/model/drivers/drivers.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/releases/release_list.h"

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

// Returns the contents of a time zone file, like one of tzdata's "slim" files. The file has one
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

bool may_begin(const Window& window, const TimeZone& zone, UnixSeconds now, std::int64_t takes) {
  return first_moment(window, zone, now, takes) == now;
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

// Requirements (tests/judging/rows): A-51
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
  // On 2026-03-29, clocks in Berlin go from 02:00 to 03:00 at 01:00 UTC. So this day has no 02:30,
  // and the window begins at 03:30, which is 01:30 UTC.
  CHECK(next_window(window, here, at(2026, 3, 28, 12))->begins == at(2026, 3, 29, 1, 30));
  // On 2026-10-25, Berlin has 02:30 twice: at 00:30 UTC and at 01:30 UTC. The window begins only
  // the first time.
  const auto autumn = next_window(window, here, at(2026, 10, 24, 12));
  CHECK(autumn == OpenWindow{at(2026, 10, 25, 0, 30), at(2026, 10, 25, 1, 30)});
  CHECK(next_window(window, here, at(2026, 10, 25, 1, 30))->begins == at(2026, 10, 26, 1, 30));
}

// Requirements (tests/judging/rows): A-52
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
  CHECK(next_window(always, TimeZone::utc(), at(2026, 7, 4))->ends == never_ends);
  CHECK(may_begin(always, TimeZone::utc(), at(2026, 7, 4), 30 * 86'400));
  const Window whole_week{.days = {"mon"}, .start = "10:00", .duration_s = 7 * 86'400};
  CHECK(next_window(whole_week, TimeZone::utc(), at(2026, 7, 4))->ends == never_ends);
  const Window six_days{
      .days = {"mon", "tue", "wed", "thu", "fri", "sat"}, .start = "00:00", .duration_s = 86'400};
  CHECK(next_window(six_days, TimeZone::utc(), at(2026, 7, 6))->ends == at(2026, 7, 12));
  const Window late_saturday{.days = {"sat"}, .start = "10:00", .duration_s = 60};
  CHECK(next_window(late_saturday, TimeZone::utc(), at(2026, 7, 4, 11))->ends ==
        at(2026, 7, 11, 10, 1));
  CHECK(why_no_window({.start = "24:00", .duration_s = 60}) == "start \"24:00\" is no HH:MM");
  CHECK(why_no_window({.start = "2:00", .duration_s = 60}) == "start \"2:00\" is no HH:MM");
  for (const char* wrong : {"23:60", "a2:00", "02.00", "02:0a", "-1:00", ""})
    CHECK(why_no_window({.start = wrong, .duration_s = 60}));
  for (const char* right : {"00:00", "23:59", "09:58"})
    CHECK_FALSE(why_no_window({.start = right, .duration_s = 60}));
  const Window last_minute{.start = "23:59", .duration_s = 60};
  CHECK(next_window(last_minute, TimeZone::utc(), 0)->begins == 86'400 - 60);
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

// Requirements (tests/judging/rows): A-54
TEST_CASE("the time until the next window is shown as a countdown") {
  CHECK(countdown(86'400 + 4 * 3'600 + 18) == "1d4h18s");
  CHECK(countdown(61) == "1m1s");
  CHECK(countdown(0) == "0s");
  CHECK(countdown(-5) == "0s");
}

// Requirements (tests/judging/rows): N-15, N-16, N-17
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

// Requirements (tests/judging/rows): N-03, N-05, N-18, N-19
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

// ---- whether the windows allow work now; the test sets the wall clock

constexpr Ms minute = 60'000;
constexpr UnixSeconds midnight = 1'000 * 86'400;

const ZoneBook no_zones = [](const std::string&) -> Result<TimeZone> { return Refusal{"unknown"}; };

KeyValue window(const std::string& group, const Window& window) {
  return {.key = key_of(KeyKind::window, {group}), .value = write_record(window), .modified = 1};
}

KeyValue node(const std::string& id, const std::string& group, const std::string& zone = "") {
  NodeInfo info{.time_zone = zone};
  if (!group.empty()) info.labels["group"] = group;
  return {.key = key_of(KeyKind::node_info, {id}), .value = write_record(info), .modified = 1};
}

const Window at_two{.start = "02:00", .duration_s = 3'600, .time_zone = "UTC"};

WindowView view_at(UnixSeconds wall) {
  WindowView view(no_zones);
  view.set_wall(wall, 0);
  return view;
}

// Requirements (tests/judging/rows): A-51
TEST_CASE("a node has the window of its group, or that of all, or is always open") {
  WindowView view = view_at(midnight);
  view.take(node("a", "shop"));
  view.take(node("b", ""));
  CHECK(view.opening("a", minute, 0).is_open);
  view.take(window("shop", at_two));
  CHECK_FALSE(view.opening("a", minute, 0).is_open);
  CHECK(view.opening("b", minute, 0).is_open);
  view.take(window("all", {.start = "00:00", .duration_s = 60, .time_zone = "UTC"}));
  CHECK(view.opening("b", minute, 0).is_open);
  CHECK_FALSE(view.opening("nobody", 2 * minute, 0).is_open);
  view.take_absent(key_of(KeyKind::window, {"shop"}));
  CHECK(view.opening("a", minute, 0).is_open);
}

// Requirements (tests/judging/rows): A-52
TEST_CASE("a window opens at its time, and work that cannot end inside waits for the next") {
  WindowView view = view_at(midnight);
  view.take(window("all", at_two));
  const Opening closed = view.opening("n", minute, 0);
  CHECK(closed == Opening{false, 120 * minute, "its window opens in 2h"});
  CHECK(view.opening("n", minute, 120 * minute).is_open);
  CHECK(view.opening("n", 60 * minute, 120 * minute).is_open);
  const Opening late = view.opening("n", 30 * minute, 151 * minute);
  CHECK_FALSE(late.is_open);
  CHECK(late.until == (24 + 2) * 60 * minute);
  const Opening never = view.opening("n", 61 * minute, 120 * minute);
  CHECK(never == Opening{false, std::nullopt, "it takes longer than its window is open"});
}

TEST_CASE("work that is longer than one opening begins if openings that join are long enough") {
  const Ms hour = 60 * minute;
  WindowView view = view_at(midnight);
  view.take(window("all", {.start = "00:00", .duration_s = 86'400, .time_zone = "UTC"}));
  CHECK(view.opening("n", 30 * hour, 0).is_open);

  // The moment `midnight` is on a Wednesday. Wednesday alone is too short, and Saturday with Sunday
  // is long enough.
  view.take(window(
      "all",
      {.days = {"wed", "sat", "sun"}, .start = "00:00", .duration_s = 86'400, .time_zone = "UTC"}));
  CHECK(view.opening("n", 30 * hour, 0) == Opening{false, 3 * 24 * hour, "its window opens in 3d"});
  CHECK(view.opening("n", 49 * hour, 0) ==
        Opening{false, std::nullopt, "it takes longer than its window is open"});
}

TEST_CASE("the latest time of the wall clock counts") {
  WindowView view = view_at(midnight);
  view.take(window("all", at_two));
  CHECK_FALSE(view.opening("n", minute, 5).is_open);
  view.set_wall(midnight + 2 * 3'600, 10);
  CHECK(view.opening("n", minute, 10).is_open);
}

TEST_CASE("a time zone is looked up once until the clock is heard again, for however many nodes") {
  int lookups = 0;
  const ZoneBook counting = [&lookups](const std::string& name) -> Result<TimeZone> {
    ++lookups;
    return name == "Moon/Base" ? Result<TimeZone>(Refusal{"unknown"}) : TimeZone::utc();
  };
  DesiredTask task({"agent", "web"}, DesiredSettings{}, counting);
  Window local = at_two;
  local.time_zone = "site-local";
  task.take(window("all", local));
  task.wall_shows(midnight, 0);
  for (int i = 0; i < 1'000; ++i)
    task.take(node("n" + std::to_string(i), "", i % 2 == 0 ? "Europe/Berlin" : "Moon/Base"));

  for (int event = 0; event < 20; ++event) {
    task.take(node("n" + std::to_string(event), "", "Europe/Berlin"));
    static_cast<void>(task.next(1, event));
  }
  CHECK(lookups == 0);  // no time zone matters, since no node has the component
  task.take({.key = key_of(KeyKind::desired, {"web"}),
             .value = write_record(Desired{.version = "2"}),
             .modified = 3});
  for (int i = 0; i < 1'000; ++i) {
    const std::string name = "n" + std::to_string(i);
    task.take({.key = key_of(KeyKind::node_versions, {name}),
               .value = write_record(Versions{{{"agent", "1"}, {"web", "1"}}}),
               .modified = 2});
    task.take({.key = key_of(KeyKind::node_instance, {name, "i"}),
               .value = write_record(Instance{.version = "1", .ready = true}),
               .modified = 2});
    task.take({.key = key_of(KeyKind::node_active, {name}),
               .value = write_record(Active{.instance = "i"}),
               .modified = 2});
  }
  for (int event = 0; event < 20; ++event)
    static_cast<void>(task.next(1, event));
  CHECK(lookups == 2);  // one lookup for each of the two time zones

  task.wall_shows(midnight + 60, 60'000);
  static_cast<void>(task.next(1, 60'000));
  CHECK(lookups == 4);
}

TEST_CASE("the window of a node that has ended holds no batch") {
  RolloutTask task("c", "r", no_zones);
  const auto put = [&task](const std::string& key, const std::string& value) {
    task.take({.key = key, .value = value, .created = 1, .modified = 1});
  };
  task.wall_shows(midnight, 0);
  put(key_of(KeyKind::rollout, {"r"}),
      write_record(Rollout{.terms = {.component = "web", .version = "2"},
                           .state = RolloutState::rolling,
                           .batches = 1}));
  put(key_of(KeyKind::rollout_batch, {"r"}, 0), write_record(RolloutBatch{.nodes = {"a", "b"}}));
  put(key_of(KeyKind::node_active, {"b"}), write_record(Active{.instance = "i"}));
  task.take(node("a", "two"));
  task.take(window("two", at_two));
  // The node `a` was removed from the cell: only its record of the rollout is left.
  put(key_of(KeyKind::rollout_node, {"r", "a"}),
      write_record(RolloutNode{.stage = NodeStage::left}));
  CHECK(std::holds_alternative<GrantLease>(task.next(1, 0)));
  // The batch is done again, with the node a.
  put(key_of(KeyKind::node_active, {"a"}), write_record(Active{.instance = "i"}));
  put(key_of(KeyKind::rollout_node, {"r", "a"}), write_record(RolloutNode{}));
  CHECK(std::holds_alternative<Wait>(task.next(1, 0)));
}

const Window at_three = [] {
  Window window = at_two;
  window.start = "03:00";
  return window;
}();

// Returns a view at midnight. The window of the node a opens at two o'clock, and that of b at
// three.
WindowView view_of_two_and_three() {
  WindowView view = view_at(midnight);
  view.take(window("two", at_two));
  view.take(window("three", at_three));
  view.take(node("a", "two"));
  view.take(node("b", "three"));
  return view;
}

TEST_CASE("an answer about a window holds for no other window, zone, length or moment") {
  WindowView view = view_of_two_and_three();
  CHECK(view.opening("a", minute, 0).until == 120 * minute);
  CHECK(view.opening("b", minute, 0).until == 180 * minute);
  CHECK(view.opening("a", 61 * minute, 0).until == std::nullopt);
  CHECK(view.opening("a", minute, 120 * minute).is_open);
  view.take(window("two", at_three));
  CHECK_FALSE(view.opening("a", minute, 120 * minute).is_open);
  view.take_absent(key_of(KeyKind::window, {"two"}));
  CHECK(view.opening("a", minute, 120 * minute).is_open);
  view.take(window("two", at_two));
  view.set_wall(midnight + 4 * 3'600, 120 * minute);
  CHECK_FALSE(view.opening("a", minute, 120 * minute).is_open);
}

TEST_CASE("while anything about a window is not known, it is closed") {
  WindowView unknown(no_zones);
  unknown.take(window("all", at_two));
  CHECK(unknown.opening("n", minute, 0).why == "nobody knows what time it is");
  WindowView view = view_at(midnight);
  view.take({.key = key_of(KeyKind::window, {"all"}), .value = "{", .modified = 1});
  CHECK(view.opening("n", minute, 0).why.starts_with("its window "));
  view.take(window("all", {.start = "25:00", .duration_s = 60}));
  CHECK(view.opening("n", minute, 0).why == "its window start \"25:00\" is no HH:MM");
  Window elsewhere = at_two;
  elsewhere.time_zone = "Moon/Base";
  view.take(window("all", elsewhere));
  CHECK(view.opening("n", minute, 0).why == "time zone Moon/Base: unknown");
  elsewhere.time_zone = "site-local";
  view.take(window("all", elsewhere));
  CHECK(view.opening("n", minute, 0).why == "it does not say its time zone");
  view.take(node("n", "", "UTC"));
  CHECK(view.opening("n", minute, 0).why == "its window opens in 2h");
}

TEST_CASE("of several nodes the one whose window opens last decides") {
  WindowView view = view_at(midnight);
  Window long_one = at_two;
  long_one.duration_s = 7'200;
  view.take(window("two", long_one));
  view.take(window("three", at_three));
  view.take(node("a", "two"));
  view.take(node("b", "three"));
  for (const std::vector<std::string>& nodes :
       {std::vector<std::string>{"a", "b", "c"}, {"b", "a"}})
    CHECK(view.opening(nodes, minute, 0) ==
          Opening{false, 180 * minute, "b: its window opens in 3h"});
  CHECK(view.opening(std::vector<std::string>{"c"}, minute, 0).is_open);
}

TEST_CASE(
    "several nodes begin when their windows are open together, and wait for a person if that never "
    "happens") {
  using Nodes = std::vector<std::string>;
  WindowView view = view_of_two_and_three();
  const Opening never{false, std::nullopt,
                      "a, b: their windows are never open at the same time for long enough"};
  CHECK(view.opening(Nodes{"a", "b", "c"}, minute, 0) == never);
  CHECK(view.opening(Nodes{"a", "b"}, minute, 130 * minute) == never);

  // On Saturday, in three days, both windows are open from 03:00 to 04:00.
  view.take(
      window("two", {.days = {"sat"}, .start = "02:00", .duration_s = 7'200, .time_zone = "UTC"}));
  CHECK(view.opening(Nodes{"a", "b"}, minute, 0) ==
        Opening{false, (3 * 24 + 3) * 60 * minute,
                "the windows of all its nodes are open together in 3d3h"});
  CHECK(view.opening(Nodes{"a", "b"}, 60 * minute, (3 * 24 + 3) * 60 * minute).is_open);
  CHECK_FALSE(view.opening(Nodes{"a", "b"}, 61 * minute, 0).until);
}

// ---- the drivers of rollouts and plans, which begin nothing while a window is closed

Reading cell_with(const std::string& key, const std::string& record) {
  Reading reading{.revision = 9};
  reading.found = {{.key = key, .value = record, .modified = 3}, window("all", at_two)};
  return reading;
}

TEST_CASE("a rollout orders nothing until the windows of its batch are open, or are ignored") {
  RolloutTask task("c", "r", no_zones);
  Rollout rollout{.terms = {.component = "agent", .version = "2", .target = "*"},
                  .state = RolloutState::rolling,
                  .batches = 1};
  const auto next_of = [&](Ms now) {
    Reading reading = cell_with(key_of(KeyKind::rollout, {"r"}), write_record(rollout));
    reading.found.push_back({.key = key_of(KeyKind::rollout_batch, {"r"}, 0),
                             .value = write_record(RolloutBatch{{"n"}}),
                             .modified = 3});
    reading.found.push_back({.key = key_of(KeyKind::node_active, {"n"}),
                             .value = write_record(Active{}),
                             .modified = 3});
    task.take_all(reading);
    return task.next(1, now);
  };
  task.wall_shows(midnight, 0);
  CHECK(next_of(0) == DriverStep{Wait{120 * minute}});
  CHECK(std::holds_alternative<GrantLease>(next_of(120 * minute)));
  // If the rollout began now, the window would close too soon. A node that is not confirmed returns
  // to the old version after some time, and this must happen before the window closes.
  CHECK(next_of(176 * minute) == DriverStep{Wait{(24 + 2) * 60 * minute}});
  rollout.terms.ignore_window = true;
  CHECK_FALSE(std::holds_alternative<Wait>(next_of(0)));
}

TEST_CASE("a plan begins only if all its steps can end inside the windows of its members") {
  PlanTask task("c", "p", no_zones);
  Plan plan{.version = "2",
            .steps = {{.name = "a", .kind = StepClass::any, .hook = "h"},
                      {.name = "b", .kind = StepClass::one_at_a_time, .hook = "h"}},
            .state = PlanState::running};
  CHECK(longest({.plan = plan, .ids = {"m", "n"}}, nullptr) == 30 * minute);
  const auto next_of = [&](Ms now) {
    Reading reading = cell_with(key_of(KeyKind::plan, {"p"}), write_record(plan));
    for (const std::string id : {"m", "n"}) {
      reading.found.push_back({.key = key_of(KeyKind::plan_member, {"p", id}),
                               .value = write_record(PlanPlace{}),
                               .modified = 4});
      reading.found.push_back(
          {.key = key_of(KeyKind::node_plan, {id, "p"}),
           .value = write_record(PlanMember{.step = 1, .phase = MemberPhase::waiting}),
           .modified = 4});
    }
    task.take_all(reading);
    return task.next(1, now);
  };
  task.wall_shows(midnight, 0);
  CHECK(next_of(0) == DriverStep{Wait{120 * minute}});
  CHECK(std::holds_alternative<Write>(next_of(150 * minute)));
  CHECK(next_of(151 * minute) == DriverStep{Wait{(24 + 2) * 60 * minute}});
  plan.ignore_window = true;
  CHECK(std::holds_alternative<Write>(next_of(0)));
  // A plan that has begun continues even if a window is closed.
  plan.ignore_window = false;
  plan.step = 1;
  CHECK(next_of(0) != DriverStep{Wait{120 * minute}});
}

}  // namespace

}  // namespace windows_test
