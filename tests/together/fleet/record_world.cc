#include "tests/together/fleet/record_world.h"

#include <cstdlib>
#include <stdexcept>

#include "fleet/common/roles.h"
#include "fleet/controller/campaign.h"
#include "fleet/model/drivers/drivers.h"
#include "fleet/model/history/chronicle.h"
#include "fleet/model/nodes/identities.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_kinds.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/record_tree.h"
#include "fleet/model/signer/joining.h"

namespace fleet_test {
namespace {

using namespace fleet;

constexpr int rounds = 30;
// The number of rounds, at the beginning, in which random records are written. In the later rounds,
// the rollout `good` of the nodes g1 and g2 must be completed. After the last round, the history
// must still record a new desired version.
constexpr int rounds_of_writing = 12;
// The maximum number of a driver's actions in one run. A driver with more actions counts as being
// in an endless loop.
constexpr int actions_max = 3'000;
const std::string last_wish = "tool";

Result<TimeZone> no_zone(const std::string&) {
  return agent_protocol::Refusal{"there is no such zone"};
}

// Returns the first key in the transaction that a controller has no right to write, or an empty
// text.
std::string why_not_allowed(const Transaction& transaction) {
  static const Permissions rights = permissions_of("controller", "c1");
  const auto is_allowed = [](const std::string& key) {
    return std::any_of(rights.writes.begin(), rights.writes.end(),
                       [&key](const Keys& keys) { return keys.have(key); });
  };
  for (const Put& put : transaction.puts) {
    if (!is_allowed(put.key)) return put.key;
  }
  for (const Erase& erase : transaction.erases) {
    if (!is_allowed(erase.key)) return erase.key;
  }
  return "";
}

}  // namespace

RecordWorld::RecordWorld(std::uint64_t seed, Planted planted) : maker_(seed), planted_(planted) {
  put_bystanders();
}

void RecordWorld::is_wrong(const std::string& what) {
  if (wrong_.empty()) wrong_ = what;
}

// Writes the records of two good nodes, and of a rollout that brings both to version 2.
void RecordWorld::put_bystanders() {
  for (const std::string id : {"g1", "g2"}) {
    store_.put(key_of(KeyKind::node_info, {id}), write_record(NodeInfo{.protocol = 1}));
    store_.put(key_of(KeyKind::node_versions, {id}), write_record(Versions{{{"agent", "1"}}}));
    store_.put(key_of(KeyKind::node_active, {id}), write_record(Active{"i", "b", 1}));
    store_.put(key_of(KeyKind::node_instance, {id, "i"}),
               write_record(Instance{.version = "1", .boot_id = "b", .ready = true}));
  }
  store_.put(key_of(KeyKind::rollout_batch, {"good"}, 0), write_record(RolloutBatch{{"g1"}}));
  store_.put(key_of(KeyKind::rollout_batch, {"good"}, 1), write_record(RolloutBatch{{"g2"}}));
  store_.put(key_of(KeyKind::rollout, {"good"}),
             write_record(Rollout{.terms = {.component = "agent", .version = "2", .soak_ms = 1},
                                  .state = RolloutState::rolling,
                                  .batches = 2}));
}

void RecordWorld::write_odd_records() {
  for (std::uint64_t i = 2 + maker_.below(12); i > 0; --i) {
    const Written one = maker_.next();
    // etcd refuses keys that are too long. So no program ever reads such a key, and this test does
    // not write one.
    if (one.key.size() <= key_bytes_max) store_.put(one.key, one.value);
  }
}

void RecordWorld::live() {
  for (int round = 0; round < rounds && wrong_.empty(); ++round) {
    if (round < rounds_of_writing) write_odd_records();
    if (round == rounds_of_writing) store_.erase(key_of(KeyKind::stop));
    if (planted_ == Planted::abort && round == 3) std::abort();
    if (planted_ == Planted::exception && round == 3) throw std::out_of_range("planted");
    if (planted_ == Planted::endless && round == 3) is_wrong("planted never rests");
    drive_all();
    good_nodes_act();
    tell_people();
    watch_releases();
    renew_certificates();
    let_machines_join();
    now_ += static_cast<Ms>(maker_.below(4) == 0 ? maker_.below(700'000) : maker_.below(3'000));
    if (round % 6 != 5) continue;
    if (auto wrong = wrong_in_fleetctl(store_, maker_, planted_); !wrong.empty()) is_wrong(wrong);
    if (auto wrong = wrong_in_http(store_, maker_); !wrong.empty()) is_wrong(wrong);
    if (auto wrong = wrong_in_agent(store_, maker_); !wrong.empty()) is_wrong(wrong);
  }
  judge_neighbours();
}

// ---- drivers

std::map<std::string, KeyValue, std::less<>> RecordWorld::records() const {
  return {store_.all().begin(), store_.all().end()};
}

void RecordWorld::drive_all() {
  Campaign campaign;
  Drivables drivables;
  std::map<std::string, KeyValue, std::less<>> drivers;
  for (const auto& one : store_.all()) {
    drivables.take(one.second);
    if (one.first.starts_with(prefix_of(KeyKind::driver))) drivers.insert(one);
  }
  for (const Drivable& one : campaign.to_begin(drivables.list(), drivers, now_)) {
    const LeaseId lease = next_lease_++;
    switch (one.kind) {
      case Drivable::Kind::rollout:
        drive(
            one.id,
            std::make_unique<DriverOf<RolloutDriver>>(RolloutDriver("c1", one.id, lease, &no_zone)),
            lease);
        break;
      case Drivable::Kind::plan:
        drive(one.id,
              std::make_unique<DriverOf<PlanDriver>>(PlanDriver("c1", one.id, lease, &no_zone)),
              lease);
        break;
      case Drivable::Kind::desired:
        drive(one.id,
              std::make_unique<DriverOf<DesiredDriver>>(
                  DesiredDriver("c1", one.components, {}, lease, &no_zone)),
              lease);
        break;
    }
  }
  look_at_history();
}

void RecordWorld::look_at_history() {
  const LeaseId lease = next_lease_++;
  const auto time = [this](std::int64_t ago) { return std::to_string(now_ / 1'000 - ago); };
  drive(std::string(events_id),
        std::make_unique<DriverOf<Driver<ChronicleTask>>>(
            Driver<ChronicleTask>("c1", ChronicleTask(time), lease)),
        lease);
}

// Runs a driver for two seconds of the simulated clock, or until it has nothing left to do. Then
// ends the driver's lease, as if its controller had died.
void RecordWorld::drive(const std::string& name, std::unique_ptr<AnyDriver> driver, LeaseId lease) {
  std::vector<DriverAction> asked = driver->step(BeginDriving{now_ / 1'000}, now_);
  const Ms until = now_ + 2'000;
  int actions = 0;
  for (bool goes_on = true; goes_on;) {
    while (goes_on && !asked.empty()) {
      const DriverAction action = asked.front();
      asked.erase(asked.begin());
      goes_on = perform(*driver, action, asked, name);
      if (++actions > actions_max) return is_wrong(name + " never rests");
    }
    const auto due = driver->next_deadline();
    if (!goes_on || !due || *due > until) break;
    now_ = std::max(now_, *due);
    for (DriverAction& action : driver->step(TimePassed{}, now_))
      asked.push_back(std::move(action));
    if (++actions > actions_max) return is_wrong(name + " never rests");
  }
  store_.end_lease(lease);
}

bool RecordWorld::perform(AnyDriver& driver, const DriverAction& action,
                          std::vector<DriverAction>& asked, const std::string& name) {
  DriverActions more;
  if (const auto* one = std::get_if<Commit>(&action)) {
    more = driver.step(TransactionEnded{commit(one->transaction, name)}, now_);
  } else if (const auto* reading = std::get_if<WantReading>(&action)) {
    more = driver.step(ReadingEnded{store_.read(reading->prefixes)}, now_);
  } else if (std::holds_alternative<GrantLease>(action)) {
    more = driver.step(LeaseGranted{next_lease_++}, now_);
  } else if (std::holds_alternative<EndDriving>(action)) {
    return false;
  }
  for (DriverAction& one : more)
    asked.push_back(std::move(one));
  return true;
}

Outcome RecordWorld::commit(Transaction transaction, const std::string& who) {
  if (planted_ == Planted::long_record && !transaction.puts.empty()) {
    transaction.puts.front().value.resize(value_bytes_max + 1, ' ');
  }
  if (planted_ == Planted::forbidden_write && !transaction.puts.empty()) {
    transaction.puts.push_back({key_of(KeyKind::token, {"planted"}), "{}"});
  }
  if (const auto why = why_not_taken(transaction)) is_wrong(who + " writes: " + *why);
  if (const auto why = why_not_allowed(transaction); who != signer && !why.empty())
    is_wrong(who + " writes without a right to it: " + why);
  const Outcome outcome = store_.commit(transaction);
  for (const Put& put : transaction.puts) {
    const std::string why = why_unreadable(put.key, put.value);
    if (!why.empty()) is_wrong(who + " writes " + put.key + " " + why + ": " + put.value);
  }
  return outcome;
}

// ---- the good nodes

// Lets the good nodes g1 and g2, which do what the rollout `good` orders, carry out their commands
// at once.
void RecordWorld::good_nodes_act() {
  for (const std::string id : {"g1", "g2"}) {
    const KeyValue* found = store_.find(key_of(KeyKind::node_command, {id, "agent"}));
    if (found == nullptr) continue;
    const auto command = read_record<Command>(found->value);
    if (!command) return is_wrong("a good node cannot read its command");
    UpgradePhase phase = UpgradePhase::staging;
    if (command.value().action == CommandAction::apply) phase = UpgradePhase::soaked;
    if (command.value().action == CommandAction::confirm) phase = UpgradePhase::done;
    const std::string attempt = command.value().trace + ".apply.1";
    store_.put(key_of(KeyKind::node_upgrade, {id, "agent"}),
               write_record(Upgrade{.phase = phase, .attempt = attempt}));
    store_.put(key_of(KeyKind::node_answer, {id, "agent"}),
               write_record(Answer{command.value().id, "done", "i"}));
  }
}

void RecordWorld::judge_neighbours() {
  if (!wrong_.empty()) return;
  const auto rollout = read_record<Rollout>(store_.find(key_of(KeyKind::rollout, {"good"}))->value);
  if (!rollout || rollout.value().state != RolloutState::completed) {
    return is_wrong("the rollout of good nodes is not completed: " +
                    store_.find(key_of(KeyKind::rollout, {"good"}))->value);
  }
  if (store_.find(key_of(KeyKind::event, {}, event_number_max)) != nullptr) return;
  store_.put(key_of(KeyKind::desired, {last_wish}),
             write_record(Desired{.version = "2", .trace = "of-the-last-wish"}));
  look_at_history();
  for (const auto& [key, record] : store_.all()) {
    const auto event = read_record<FleetEvent>(record.value);
    if (key.starts_with(prefix_of(KeyKind::event)) && event &&
        event.value().trace == "of-the-last-wish") {
      return;
    }
  }
  std::string newest;
  for (const KeyValue& record : store_.read({prefix_of(KeyKind::event)}).found)
    newest = record.key + " " + record.value;
  is_wrong("history does not go on; the newest event is " + newest);
}

// ---- the duties of controllers and of fleet-signer: notices to a webhook, sources of releases,
// renewal of certificates, and machines that join

namespace {

constexpr int steps_max = 200;

}  // namespace

std::string why_unreadable(const std::string& key, const std::string& value) {
  const auto parsed = parse_key(key);
  if (!parsed) return "which is no key of a record";
  const auto read = rewritten_record(parsed->kind, value);
  return read ? "" : read.reason();
}

void RecordWorld::tell_people() {
  for (int i = 0; i < steps_max; ++i) {
    const auto step = notices_.next(records(), true, now_);
    if (std::holds_alternative<Notices::Rest>(step)) return;
    if (const auto* post = std::get_if<Notices::Post>(&step)) {
      if (const std::string wrong = wrong_json(post->body); !wrong.empty()) {
        is_wrong("a notice " + wrong);
      }
      notices_.posted(maker_.below(4) > 0, now_);
    } else {
      static_cast<void>(notices_.written(commit(std::get<Transaction>(step), "the notices"), now_));
    }
  }
  is_wrong("notices never rest");
}

void RecordWorld::watch_releases() {
  const std::string driver = key_of(KeyKind::driver, {events_id});
  store_.put(driver, "{}");
  const Revision fence = store_.find(driver)->created;
  for (int i = 0; i < steps_max; ++i) {
    const auto step =
        watcher_.next(records(), {.fence = fence, .now = now_, .time = "now", .trace = "w"});
    if (std::holds_alternative<ReleaseWatcher::Rest>(step)) break;
    if (std::holds_alternative<ReleaseWatcher::AskSource>(step)) {
      JsonTree entry{.kind = JsonTree::Kind::object};
      entry.members["tag"] = json_text(maker_.below(2) == 0 ? "r-2.0.0" : maker_.odd_text());
      entry.members["manifests"] = json_texts({maker_.odd_text() + "m"});
      JsonTree index{.kind = JsonTree::Kind::object};
      index.members["releases"] = {.kind = JsonTree::Kind::array, .elements = {entry}};
      static_cast<void>(watcher_.source_said(records(), write_tree(index)));
    } else if (std::holds_alternative<ReleaseWatcher::AskManifests>(step)) {
      const Release release{.manifests = {{"amd64", maker_.odd_text(), "s", maker_.odd_text()}},
                            .digest = "digest"};
      static_cast<void>(watcher_.manifests_came(release));
    } else {
      static_cast<void>(watcher_.written(
          commit(std::get<ReleaseWatcher::Order>(step).transaction, "the release watch")));
    }
  }
  store_.erase(driver);
}

void RecordWorld::renew_certificates() {
  for (const PendingRenewal& pending : pending_renewals(records())) {
    const UnixSeconds now = now_ / 1'000;
    const std::string why = why_not_renewed(pending, now);
    const RenewalAnswer answer =
        why.empty() ? RenewalAnswer{.pem = "-----BEGIN", .issued = {"0B", now, now + 1}}
                    : RenewalAnswer{.error = why + maker_.odd_text()};
    static_cast<void>(commit(answer_renewal(pending, answer, now), std::string(signer)));
  }
}

void RecordWorld::let_machines_join() {
  const UnixSeconds now = now_ / 1'000;
  const std::string who(signer);
  for (int i = 0; const auto one = next_join(records(), now); ++i) {
    if (i == steps_max) return is_wrong("machines never cease to join");
    const JoinDecision decision = decide_join(*one, now);
    const auto* to_sign = std::get_if<JoinSigned>(&decision);
    if (to_sign == nullptr) {
      static_cast<void>(commit(answer_join(*one, decision), who));
      continue;
    }
    const IssuedCertificate issued{"0C", now, now + 1, false, one->fingerprint};
    const Outcome recorded =
        commit(record_join(*one, *to_sign, "-----BEGIN", issued, "now", now), who);
    const auto* committed = std::get_if<Committed>(&recorded);
    if (committed == nullptr) return is_wrong("a join is not recorded");
    const Outcome published = commit(publish_join(*one, "-----BEGIN", committed->revision), who);
    if (!std::holds_alternative<Committed>(published)) return is_wrong("a join is not published");
  }
  static_cast<void>(commit(forget_joins(records(), now), who));
}

}  // namespace fleet_test
