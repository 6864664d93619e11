// Implements `fleetctl window set`, `list` and `remove`.
#include "fleet/model/drivers/windows.h"

#include <ctime>

#include "fleet/common/zone_file.h"
#include "fleet/fleetctl/cell_view.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/ordering.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleetctl {
namespace {

using fleet::KeyKind;

// Returns when a closed window opens next, or how long an open one stays open. With the time zone
// `site-local`, these times differ between nodes, and the text says so.
std::string next_of(const fleet::Window& window) {
  if (window.time_zone == fleet::site_local) return "by each node's clock";
  const bool is_utc = window.time_zone.empty() || window.time_zone == "UTC";
  const auto zone = is_utc ? fleet::Result<fleet::TimeZone>(fleet::TimeZone::utc())
                           : fleet::zone_of(window.time_zone);
  if (!zone) return "closed: " + zone.reason();
  const auto now = static_cast<fleet::UnixSeconds>(std::time(nullptr));
  const auto next = fleet::next_window(window, zone.value(), now);
  if (!next) return "never";
  if (next->begins <= now && next->ends == fleet::never_ends) return "always open";
  if (next->begins <= now) return "open for " + fleet::countdown(next->ends - now);
  return "in " + fleet::countdown(next->begins - now);
}

std::string days_of(const fleet::Window& window) {
  std::string days;
  for (const std::string& day : window.days) {
    days += (days.empty() ? "" : ",") + day;
  }
  return days.empty() ? "every day" : days;
}

}  // namespace

int set_window(const Options& options, Asker& asker) {
  const Placed placed =
      place(options, asker,
            {.subject = "window/" + options.group, .body = fleet::write_record(options.window)});
  if (placed.refused) {
    static_cast<void>(say_refused(placed, "a window"));
    return exit_usage;
  }
  if (placed.status == exit_done) say(options.group + ": " + next_of(options.window));
  return placed.status;
}

int list_windows(const Options& options, Asker& asker) {
  const auto reply = asker.read({fleet::prefix_of(KeyKind::window), true});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  const auto& reading = std::get<fleet::Reading>(reply);
  if (options.json) return say_json(as_json(reading));
  std::vector<upgraderctl::Row> rows{{"GROUP", "DAYS", "START", "FOR", "TIME ZONE", "NEXT"}};
  for (const fleet::KeyValue& found : reading.found) {
    const auto key = fleet::parse_key(found.key);
    if (!key) continue;
    const auto record = fleet::read_record<fleet::Window>(found.value);
    const fleet::Window window = record ? record.value() : fleet::Window{};
    rows.push_back({key->names[0], days_of(window), window.start,
                    fleet::countdown(window.duration_s), window.time_zone,
                    record ? next_of(window) : "closed: " + record.reason()});
  }
  return say_all(table(rows));
}

int remove_window(const Options& options, Asker& asker) {
  const Placed placed =
      place(options, asker, {.deed = fleet::Deed::erase, .subject = "window/" + options.group});
  const bool was_absent = placed.refused && placed.refused->why == fleet::OrderRefused::Why::absent;
  if (was_absent) return say(options.group + " had no window, so nothing is changed");
  if (placed.status != exit_done) return say_refused(placed);
  return say(options.group + " has no window now" +
             (options.group == "all"
                  ? ""
                  : ": upgrades there begin by the window of all, or at any time"));
}

}  // namespace fleetctl
