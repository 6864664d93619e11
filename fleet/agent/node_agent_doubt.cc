// Implements the part of NodeAgent that finds reasons to begin no new work, such as a second
// machine with the same node name, or a store that was restored from a snapshot. The record
// `instance` shows the reason to people.
#include <utility>

#include "fleet/agent/node_agent.h"
#include "fleet/agent/state_files.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

// How often the store's epoch (a number that changes with each restore) and revision are written to
// disk. If the store later has an older revision in the same epoch, it was restored from a
// snapshot.
constexpr std::chrono::seconds keep_interval{10};

// Parses the record of the store's epoch, a number that a person increases after a restore. If the
// record is damaged, returns a number that no node accepts, so that no new work begins.
Epoch read_epoch(const KeyValue* record) {
  if (record == nullptr) return {};
  const auto read = read_record<Epoch>(record->value);
  return read ? read.value() : Epoch{.number = -1};
}

}  // namespace

// Looks for a second machine with this node's name: an `instance` record of this node has another
// boot id (an id that changes at each boot). If the machine id in that record is different, too,
// there is a second machine. If it is the same, the record may be left from before this machine's
// last boot. But if the record outlives its lease, a copy of this machine renews it.
void NodeAgent::look_for_twin() {
  bool is_other = false;
  bool is_before = false;
  const std::string below = node_prefix(options_.node) + "instance/";
  for (auto at = mirror_.records().lower_bound(below);
       at != mirror_.records().end() && at->first.starts_with(below); ++at) {
    const auto other = read_record<Instance>(at->second.value);
    if (!other || other.value().boot_id == boot_) continue;
    const bool is_ours = !machine_.empty() && other.value().machine == machine_;
    (is_ours ? is_before : is_other) = true;
  }
  if (!is_before) past_ = nullptr;
  if (is_before && past_ == nullptr) {
    past_has_ended_ = false;
    past_ = timers_.after(2 * std::chrono::seconds(options_.lease_s), [this] {
      past_has_ended_ = true;
      look();
    });
  }
  if (is_before && past_has_ended_) is_other = true;
  const std::string twin = is_other ? "two machines, one name" : doubt_of_store();
  take_doubt(twin, twin.empty() && is_before ? "the instance from before this boot has a lease yet"
                                             : twin);
}

// Records `why` this node must begin no new work now, and the trouble that the record `instance`
// shows, `degraded`. If `why` is empty, the node may begin new work.
void NodeAgent::take_doubt(const std::string& degraded, const std::string& why) {
  degraded_ = degraded;
  if (std::exchange(doubt_, why) == why) return;
  desk_.log(why.empty() ? "nothing is doubtful any more" : "nothing is done: " + why);
  desk_.is_doubtful = !why.empty();
  tell_all(EpochDiffers{desk_.is_doubtful});
}

// Returns why the store may have been replaced or restored from a snapshot, or an empty string if
// it seems to be the store that this node knows. Also writes the store's epoch (a number that
// changes with each restore) and revision to disk: at once if the epoch has changed or the store
// has lost writes, and otherwise at intervals. So the revision on disk may be too low, but never
// too high.
std::string NodeAgent::doubt_of_store() {
  if (epoch_.revision() == 0 || mirror_.revision() == 0) return "";
  const KeyValue* const record = epoch_.find(key_of(KeyKind::epoch));
  const auto epoch = read_epoch(record);
  const StoreVerdict verdict = judge_store(known_, epoch, mirror_.revision());
  known_ = verdict.known;
  if (verdict.doubt.empty()) desk_.life = life_of(epoch, record == nullptr ? 0 : record->modified);
  const auto keep = [this] {
    const std::string why = write_known_store(options_.state + "/store", known_);
    if (!why.empty()) desk_.log(why);
    kept_ = known_;
  };
  const bool is_lost =
      known_.revision == revision_before_loss && kept_.revision != revision_before_loss;
  if (known_.epoch != kept_.epoch || kept_.revision == 0 || is_lost) keep();
  if (known_ != kept_ && keep_ == nullptr) {
    keep_ = timers_.after(keep_interval, [this, keep] {
      keep_ = nullptr;
      keep();
    });
  }
  return verdict.doubt;
}

// Forgets the revision of the record `active` if the store was restored from a snapshot or
// replaced, since the same number may now belong to another write.
void NodeAgent::look_for_restored_store() {
  const bool went_back = mirror_.revision() < std::exchange(seen_revision_, mirror_.revision());
  const bool is_another = known_.epoch != std::exchange(seen_epoch_, known_.epoch);
  if (!went_back && !is_another) return;
  if (std::exchange(desk_.active, 0) != 0) tell_all(ActiveIs{0});
}

// Returns the trouble for the record `instance`, or an empty string. A component's trouble, such as
// a full disk, is reported here, too, but other components go on working.
std::string NodeAgent::degraded() const {
  if (!degraded_.empty()) return degraded_;
  for (const auto& [component, why] : desk_.troubles) {
    if (!why.empty()) return component + ": " + why;
  }
  return "";
}

}  // namespace fleet
