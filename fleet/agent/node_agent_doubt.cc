// The reasons for which NodeAgent begins nothing for now, such as a second machine with the same
// node name, or a store that was restored from a snapshot. The node's record shows these reasons.
#include <utility>

#include "fleet/agent/node_agent.h"
#include "fleet/agent/state_files.h"
#include "fleet/model/record_text.h"

namespace fleet {
namespace {

// The time between two writes of the store's epoch and revision to disk. By these numbers, a later
// process recognises that the store was restored from a snapshot.
constexpr std::chrono::seconds keep_interval{10};

// Returns the record of the store's epoch, a number that changes when the store is restored from a
// snapshot. If the record cannot be read, returns a number that no node accepts, so that the node
// begins nothing.
Epoch read_epoch(const KeyValue* record) {
  if (record == nullptr) return {};
  const auto read = read_record<Epoch>(record->value);
  return read ? read.value() : Epoch{.number = -1};
}

}  // namespace

// Looks for a second machine with this node's name. Such a machine shows as an `instance` record
// with another boot id. If the record has this machine's id, it may also be left from before the
// last boot, until its lease runs out. If the record still exists when such a lease must have run
// out, another machine is a copy of this one.
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

// Sets the reason `why` for which this node must begin nothing. If `why` is empty, the node may act
// again. `degraded` is the text for the node's record.
void NodeAgent::take_doubt(const std::string& degraded, const std::string& why) {
  degraded_ = degraded;
  if (std::exchange(doubt_, why) == why) return;
  desk_.log(why.empty() ? "nothing is doubtful any more" : "nothing is done: " + why);
  desk_.is_doubtful = !why.empty();
  tell_all(EpochDiffers{desk_.is_doubtful});
}

// Returns why the store may be another store than before, or a restored one; or an empty text. The
// file on disk is written only at intervals, so its revision may be older than the one that this
// process has seen, but never newer.
std::string NodeAgent::doubt_of_store() {
  if (epoch_.revision() == 0 || mirror_.revision() == 0) return "";
  const auto epoch = read_epoch(epoch_.find(key_of(KeyKind::epoch)));
  const StoreVerdict verdict = judge_store(known_, epoch, mirror_.revision());
  known_ = verdict.known;
  const auto keep = [this] {
    const std::string why = write_known_store(options_.state + "/store", known_);
    if (!why.empty()) desk_.log(why);
    kept_ = known_;
  };
  if (known_.epoch != kept_.epoch || kept_.revision == 0) keep();
  if (known_ != kept_ && keep_ == nullptr) {
    keep_ = timers_.after(keep_interval, [this, keep] {
      keep_ = nullptr;
      keep();
    });
  }
  return verdict.doubt;
}

// Forgets the revision of this process's record `active` if the store was restored from a snapshot
// or replaced. Such a store continues from an older revision, so the same number may belong to
// another write there.
void NodeAgent::look_for_restored_store() {
  const bool went_back = mirror_.revision() < std::exchange(seen_revision_, mirror_.revision());
  const bool is_another = known_.epoch != std::exchange(seen_epoch_, known_.epoch);
  if (!went_back && !is_another) return;
  if (std::exchange(desk_.active, 0) != 0) tell_all(ActiveIs{0});
}

// Returns the reason why the node is degraded, for the node's record, or an empty text. The trouble
// of one component, such as a full disk, does not stop the node: the component tries its write
// again.
std::string NodeAgent::degraded() const {
  if (!degraded_.empty()) return degraded_;
  for (const auto& [component, why] : desk_.troubles) {
    if (!why.empty()) return component + ": " + why;
  }
  return "";
}

}  // namespace fleet
