// The reasons for which NodeAgent begins nothing for now, such as another machine with its name or
// a restored store. The node's record shows these reasons.
#include <utility>

#include "fleet/agent/node_agent.h"
#include "fleet/common/known_store_file.h"
#include "fleet/model/record_text.h"

namespace fleet {
namespace {

// How often the store's epoch and revision are written to disk. A later process recognises a
// restored store by them.
constexpr std::chrono::seconds keep_interval{10};

// Returns the record of the epoch, whose number changes when the store is restored from a snapshot.
// If the record cannot be read, returns a number that no node accepts, so that the node begins
// nothing.
Epoch read_epoch(const KeyValue* record) {
  if (record == nullptr) return {};
  const auto read = read_record<Epoch>(record->value);
  return read ? read.value() : Epoch{.number = -1};
}

}  // namespace

// Looks for another machine with this node's name: an instance in the store with another boot id.
// If that instance has this machine's id, it may be an instance from before the last boot, whose
// lease has not run out yet. If it still exists when such a lease must have run out, it runs on a
// copy of this machine.
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

// Notes that this node must begin nothing, for the reason `why`, or, if `why` is empty, that it may
// act again. `degraded` is the text for the node's record.
void NodeAgent::take_doubt(const std::string& degraded, const std::string& why) {
  degraded_ = degraded;
  if (std::exchange(doubt_, why) == why) return;
  desk_.log(why.empty() ? "nothing is doubtful any more" : "nothing is done: " + why);
  desk_.is_doubtful = !why.empty();
  tell_all(EpochDiffers{desk_.is_doubtful});
}

// Returns why this may be another or a restored store, or an empty text. The file on disk may have
// an older revision than this process has seen, since it is written only at intervals, but never a
// newer one.
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

// Forgets which revisions this process has written, if the store was restored from a snapshot. The
// restored store counts on from an older revision, so the same numbers stand for other writes
// there.
void NodeAgent::look_for_restored_store() {
  const bool went_back = mirror_.revision() < std::exchange(seen_revision_, mirror_.revision());
  const bool is_another = known_.epoch != std::exchange(seen_epoch_, known_.epoch);
  if (!went_back && !is_another) return;
  if (std::exchange(desk_.active, 0) != 0) tell_all(ActiveIs{0});
}

// Returns the reason why the node is degraded, which its record shows, or an empty text. A trouble
// of one component, such as a full disk, does not stop the node, since the write is tried again.
std::string NodeAgent::degraded() const {
  if (!degraded_.empty()) return degraded_;
  for (const auto& [component, why] : desk_.troubles) {
    if (!why.empty()) return component + ": " + why;
  }
  return "";
}

}  // namespace fleet
