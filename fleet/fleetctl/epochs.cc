// fleetctl restored and accept-epoch: a store that was restored from a snapshot says again what was
// true then, so nobody acts on it before a person has looked.
#include "fleet/agent/identity.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/exit_status.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace fleetctl {
namespace {

using fleet::KeyKind;

struct EpochNow {
  fleet::Epoch epoch = {};
  fleet::Revision revision = 0;
  bool is_stopped = false;
};

int read_epoch(Asker& asker, EpochNow& now) {
  const std::string key = fleet::key_of(KeyKind::epoch);
  const std::string stop = fleet::key_of(KeyKind::stop);
  const auto epoch = asker.read({key});
  const auto stopped = asker.read({stop});
  for (const auto* reply : {&epoch, &stopped}) {
    if (const auto* trouble = std::get_if<fleet::Trouble>(reply)) return unreachable(*trouble);
  }
  now.is_stopped = std::get<fleet::Reading>(stopped).find(stop) != nullptr;
  const fleet::KeyValue* found = std::get<fleet::Reading>(epoch).find(key);
  if (found == nullptr) return exit_done;
  now.revision = found->modified;
  const auto record = fleet::read_record<fleet::Epoch>(found->value);
  if (record) now.epoch = record.value();
  return exit_done;
}

int commit(Asker& asker, const fleet::Transaction& transaction, const std::string& words_if_done) {
  const fleet::Outcome outcome = asker.commit(transaction);
  if (std::holds_alternative<fleet::Committed>(outcome)) {
    say(words_if_done);
    return exit_done;
  }
  complain(words(outcome));
  return std::holds_alternative<fleet::Unknown>(outcome) ? exit_unknown : exit_refused;
}

}  // namespace

int restored(const Options& options, Asker& asker) {
  EpochNow now;
  if (const int status = read_epoch(asker, now); status != exit_done) return status;
  const fleet::Epoch next{.number = now.epoch.number + 1, .why = options.why};
  const std::string key = fleet::key_of(KeyKind::epoch);
  fleet::Transaction transaction{.compares = {{.key = key, .revision = now.revision}},
                                 .puts = {{.key = key, .value = fleet::write_record(next)}}};
  if (!now.is_stopped) {
    const std::string stop = fleet::key_of(KeyKind::stop);
    const fleet::Stop halt{
        .who = who_asks(), .why = "the store was restored", .since = fleet::time_text()};
    transaction.compares.push_back({.key = stop});
    transaction.puts.push_back({.key = stop, .value = fleet::write_record(halt)});
  }
  return commit(asker, transaction,
                "epoch " + std::to_string(next.number) +
                    ": nothing is done anywhere until accept-epoch, and nothing begins until stop "
                    "off");
}

int accept_epoch(const Options& /*options*/, Asker& asker) {
  EpochNow now;
  if (const int status = read_epoch(asker, now); status != exit_done) return status;
  if (now.revision == 0) {
    complain("there is no epoch: fleetctl restored begins one");
    return exit_refused;
  }
  fleet::Epoch epoch = now.epoch;
  const std::string words_if_done = "epoch " + std::to_string(epoch.number) + " is accepted";
  if (epoch.accepted) {
    say(words_if_done + ", as before");
    return exit_done;
  }
  epoch.accepted = true;
  const std::string key = fleet::key_of(KeyKind::epoch);
  return commit(asker,
                {.compares = {{.key = key, .revision = now.revision}},
                 .puts = {{.key = key, .value = fleet::write_record(epoch)}}},
                words_if_done);
}

}  // namespace fleetctl
