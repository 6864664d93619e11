// The reasons for which NodeAgent does nothing for now, such as another machine with its name or a
// store that was restored; and the doubts that it shows.
#include <utility>

#include "fleet/agent/node_agent.h"
#include "fleet/common/known_store_file.h"
#include "fleet/model/record_text.h"

namespace fleet {
namespace {

// The time between two writes of the facts by which the store is recognised.
constexpr std::chrono::seconds keep_interval{10};

// Returns the record of the epoch, whose number changes when the store is restored from a snapshot.
// If the record cannot be read, returns an epoch that nobody has accepted, so that the node halts.
Epoch read_epoch(const KeyValue* record) {
  if (record == nullptr) return {};
  const auto read = read_record<Epoch>(record->value);
  return read ? read.value() : Epoch{.number = -1};
}

}  // namespace

// Looks for another machine with this node's name. An instance with another boot id belongs to
// another machine, or to this machine before it was reset; in the latter case the lease of that
// instance ends by itself. A copied machine has the same machine id, and its instance does not go
// away.
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

// Notes what is doubtful. `degraded` is what everybody is told of it; as long as `why` is not
// empty, this node does nothing.
void NodeAgent::take_doubt(const std::string& degraded, const std::string& why) {
  degraded_ = degraded;
  if (std::exchange(doubt_, why) == why) return;
  desk_.log(why.empty() ? "nothing is doubtful any more" : "nothing is done: " + why);
  desk_.is_doubtful = !why.empty();
  tell_all(EpochDiffers{desk_.is_doubtful});
}

// Returns why the store is doubtful, or an empty text. The revisions seen are written to disk only
// now and then, so the file may be behind, but is never ahead.
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

// Forgets everything that was written to the store before it was restored: the restored store
// counts on from an older revision, so earlier revisions say nothing about it.
void NodeAgent::look_for_restored_store() {
  const bool went_back = mirror_.revision() < std::exchange(seen_revision_, mirror_.revision());
  const bool is_another = known_.epoch != std::exchange(seen_epoch_, known_.epoch);
  if (!went_back && !is_another) return;
  if (std::exchange(desk_.active, 0) != 0) tell_all(ActiveIs{0});
}

// Returns the doubt or trouble that everybody is told. A trouble of this machine, such as a full
// disk, stops nothing, since its cause is tried again.
std::string NodeAgent::degraded() const {
  if (!degraded_.empty()) return degraded_;
  for (const auto& [component, why] : desk_.troubles) {
    if (!why.empty()) return component + ": " + why;
  }
  return "";
}

}  // namespace fleet
