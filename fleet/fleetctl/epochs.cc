// Implements `fleetctl restored` and `fleetctl accept-epoch`. A store that was restored from a
// snapshot contains old orders. `restored` increases the store's epoch, so that no node obeys them.
// `accept-epoch` lets the nodes continue, after a person has checked the records.
#include <ctime>

#include "fleet/common/identity.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/ordering.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/signer/store_snapshots.h"

namespace fleetctl {

using fleet::KeyKind;

int restored(const Options& options, Asker& asker) {
  const std::string key = fleet::key_of(KeyKind::epoch);
  const std::string stop = fleet::key_of(KeyKind::stop);
  OneRecord<fleet::Epoch> now;
  OneRecord<fleet::Stop> stopped;
  if (const int status = read_one(asker, key, now); status != exit_done) return status;
  if (const int status = read_one(asker, stop, stopped); status != exit_done) return status;
  const fleet::Epoch next =
      fleet::next_epoch(now.record.value_or(fleet::Epoch{}), std::time(nullptr), options.why);
  fleet::Transaction transaction{.compares = {{.key = key, .revision = now.revision}},
                                 .puts = {{.key = key, .value = fleet::write_record(next)}}};
  if (stopped.revision == 0) {
    const fleet::Stop halt{
        .who = who_asks(options), .why = "the store was restored", .since = fleet::time_text()};
    transaction.compares.push_back({.key = stop});
    transaction.puts.push_back({.key = stop, .value = fleet::write_record(halt)});
  }
  add_note(transaction, note_of(options, "epoch", "the store was restored"));
  return commit(asker, transaction,
                "epoch " + std::to_string(next.number) +
                    ": nothing is done anywhere until accept-epoch, and nothing begins until stop "
                    "off");
}

int accept_epoch(const Options& options, Asker& asker) {
  const std::string key = fleet::key_of(KeyKind::epoch);
  OneRecord<fleet::Epoch> now;
  if (const int status = read_one(asker, key, now); status != exit_done) return status;
  if (now.revision == 0) return refuse("there is no epoch: fleetctl restored begins one");
  fleet::Epoch epoch = now.record.value_or(fleet::Epoch{});
  const std::string words_if_done = "epoch " + std::to_string(epoch.number) + " is accepted";
  if (epoch.accepted) return say(words_if_done + ", as before");
  epoch.accepted = true;
  epoch.begins = now.revision;
  fleet::Transaction transaction{.compares = {{.key = key, .revision = now.revision}},
                                 .puts = {{.key = key, .value = fleet::write_record(epoch)}}};
  add_note(transaction, note_of(options, "epoch", "is accepted"));
  return commit(asker, transaction, words_if_done);
}

}  // namespace fleetctl
