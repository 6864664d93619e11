#include "fleet/fleetctl/ordering.h"

#include <utility>

#include "fleet/common/identity.h"
#include "fleet/common/zone_file.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/model/records/record_text.h"

namespace fleetctl {
namespace {

// The maximum number of tries to give an order. A try fails if somebody else writes the record at
// the same moment, as the driver of a busy rollout often does.
constexpr int tries = 20;

// Commits the transactions of an order one after the other. Returns the exit status, or no value if
// somebody else has written one of the records, so that the order must be decided again.
std::optional<int> write_parts(Asker& asker, const fleet::Order& order, fleet::OrderTaken& taken) {
  for (std::size_t i = 0; i < taken.parts.size(); ++i) {
    fleet::Transaction& part = taken.parts[i];
    const bool is_last = i + 1 == taken.parts.size() && taken.creation == nullptr;
    if (is_last) add_note(part, taken.event);
    const fleet::Outcome outcome = asker.commit(part);
    if (std::holds_alternative<fleet::Committed>(outcome)) continue;
    if (std::holds_alternative<fleet::Refused>(outcome)) return std::nullopt;
    if (std::holds_alternative<fleet::Unknown>(outcome) && is_last && is_written(asker, part)) {
      continue;
    }
    return not_committed(outcome, order.subject);
  }
  return exit_done;
}

// Makes a lease for the order's records, if they need one. Returns the exit status.
int lease(Asker& asker, Placed& placed) {
  if (placed.taken.lease_s == 0) return exit_done;
  const auto made = asker.lease(std::chrono::seconds(placed.taken.lease_s));
  if (const auto* trouble = std::get_if<fleet::Trouble>(&made)) return unreachable(*trouble);
  placed.lease = std::get<fleet::Lease>(made).id;
  add_lease(placed.taken, placed.lease);
  return exit_done;
}

// Writes the records of a new rollout or plan, and then a note for the history, which names the
// person who has ordered it. A failure to write the note is ignored, since the record of the
// rollout or plan has that name, too.
int create(Asker& asker, fleet::OrderTaken& taken) {
  if (taken.creation == nullptr) return exit_done;
  if (const int status = write_all(asker, *taken.creation); status != exit_done) return status;
  fleet::Transaction note;
  add_note(note, taken.event);
  static_cast<void>(asker.commit(note));
  return exit_done;
}

}  // namespace

fleet::Reply<fleet::Reading> read_keys(Asker& asker, const std::vector<std::string>& keys) {
  fleet::Reading all;
  for (const std::string& key : keys) {
    auto reply = asker.read({key, key.ends_with('/')});
    if (std::holds_alternative<fleet::Trouble>(reply)) return reply;
    const auto& [revision, found] = std::get<fleet::Reading>(reply);
    // Keep the revision of the first reading: every record is at least as new as that revision.
    if (all.revision == 0) all.revision = revision;
    all.found.insert(all.found.end(), found.begin(), found.end());
  }
  put_in_order(all);  // sorts, and removes duplicates
  return all;
}

fleet::Orderer orderer_of(const Options& options, const std::string& trace) {
  return {.who = who_asks(options),
          .time = fleet::time_text(),
          .trace = trace,
          .zones = fleet::zone_of};
}

Placed place(const Options& options, Asker& asker, const fleet::Order& order) {
  return place(options, asker, order, fleet::new_instance_id().substr(0, 8));
}

Placed place(const Options& options, Asker& asker, const fleet::Order& order,
             const std::string& trace) {
  Placed placed{.trace = trace};
  for (int i = 0; i < tries; ++i) {
    const auto reply = read_keys(asker, order_reads(order));
    if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) {
      placed.status = unreachable(*trouble);
      return placed;
    }
    auto decision =
        decide_order(order, std::get<fleet::Reading>(reply), orderer_of(options, trace));
    if (auto* refused = std::get_if<fleet::OrderRefused>(&decision)) {
      placed.status = exit_refused;
      placed.refused = std::move(*refused);
      return placed;
    }
    placed.taken = std::move(std::get<fleet::OrderTaken>(decision));
    if (options.dry_run) return placed;
    if (const int status = lease(asker, placed); status != exit_done) {
      placed.status = status;
      return placed;
    }
    if (const auto status = write_parts(asker, order, placed.taken)) {
      placed.status = *status == exit_done ? create(asker, placed.taken) : *status;
      return placed;
    }
    if (placed.lease != 0) static_cast<void>(asker.end_lease(std::exchange(placed.lease, 0)));
  }
  complain(order.subject + ": it is written all the time; look, and try again");
  placed.status = exit_refused;
  return placed;
}

int say_refused(const Placed& placed, const std::string& about) {
  if (placed.refused) complain((about.empty() ? "" : about + ": ") + placed.refused->reason);
  return placed.status;
}

fleet::FleetEvent note_of(const Options& options, const std::string& subject,
                          const std::string& text) {
  return {.time = fleet::time_text(),
          .kind = "ordered",
          .subject = subject,
          .text = fleet::brief(text),
          .trace = fleet::new_instance_id().substr(0, 8),
          .who = who_asks(options)};
}

}  // namespace fleetctl
