// The commands fleetctl events and fleetctl history. They show the events of the cell, and the
// rollouts and plans that have ended.
#include <algorithm>

#include "fleet/fleetctl/cell_view.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/model/event_words.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace fleetctl {

using fleet::KeyKind;

namespace {

void keep_last(std::size_t limit, fleet::Reading& reading) {
  const std::size_t count = std::min(limit, reading.found.size());
  reading.found.erase(reading.found.begin(),
                      reading.found.end() - static_cast<std::ptrdiff_t>(count));
}

}  // namespace

int show_events(const Options& options, Asker& asker) {
  const auto reply = asker.read({fleet::prefix_of(KeyKind::event), true});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  fleet::Reading reading = std::get<fleet::Reading>(reply);
  std::erase_if(reading.found, [&options](const fleet::KeyValue& found) {
    const auto key = fleet::parse_key(found.key);
    if (!key || key->kind != KeyKind::event) return true;
    const auto event = fleet::read_record<fleet::FleetEvent>(found.value);
    if (!options.who.empty() && (!event || !fleet::is_by(event.value(), options.who))) return true;
    return !options.subject.empty() &&
           (!event || !fleet::is_about(event.value().subject, options.subject));
  });
  keep_last(options.limit, reading);
  if (options.json) {
    say_json(as_json(reading));
    return exit_done;
  }
  std::vector<upgraderctl::Row> rows{{"NUMBER", "TIME", "SUBJECT", "WHAT", "WHO", "TRACE"}};
  for (const fleet::KeyValue& found : reading.found) {
    const std::string number = std::to_string(fleet::parse_key(found.key)->number());
    const auto event = fleet::read_record<fleet::FleetEvent>(found.value);
    if (!event) {
      rows.push_back({number, "", "", event.reason(), "", ""});
      continue;
    }
    const fleet::FleetEvent& one = event.value();
    // If a certificate has not proved the person's name, the name is shown as `says NAME`.
    const std::string who = one.who.empty() || one.proved ? one.who : "says " + one.who;
    rows.push_back({number, one.time, one.subject, one.text, who, one.trace});
  }
  say_all(table(rows));
  return exit_done;
}

int show_history(const Options& options, Asker& asker) {
  const auto reply = asker.read({fleet::prefix_of(KeyKind::history), true});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  fleet::Reading reading = std::get<fleet::Reading>(reply);
  keep_last(options.limit, reading);
  if (options.json) {
    say_json(as_json(reading));
    return exit_done;
  }
  std::vector<upgraderctl::Row> rows{{"ENDED", "SUBJECT", "RAN", "STATE", "WHO", "REASON"}};
  for (const fleet::KeyValue& found : reading.found) {
    const auto line = fleet::read_record<fleet::PastRun>(found.value);
    const fleet::PastRun one = line ? line.value() : fleet::PastRun{.reason = line.reason()};
    rows.push_back({one.ended, one.subject, one.what, one.state, one.who, one.reason});
  }
  say_all(table(rows));
  return exit_done;
}

}  // namespace fleetctl
