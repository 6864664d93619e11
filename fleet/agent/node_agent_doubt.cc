// Why NodeAgent does nothing for now: another machine of its name, a store that is not the one it
// knows; and what it says of itself.
#include <utility>

#include "fleet/agent/node_agent.h"
#include "fleet/common/known_store_file.h"
#include "fleet/model/record_text.h"

namespace fleet {
namespace {

// Between two writes of what is known of the store.
constexpr std::chrono::seconds keep_interval{10};

// One that cannot be read is another than any that is known, and nobody has accepted it.
Epoch read_epoch(const KeyValue* record) {
  if (record == nullptr) return {};
  const auto read = read_record<Epoch>(record->value);
  return read ? read.value() : Epoch{.number = -1};
}

}  // namespace

// An instance on another boot is another machine's, or this one's from before it was reset: that
// one's lease ends by itself. A machine that was copied has the same machine id, and its instance
// does not go away.
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

// `degraded` is what everybody is told; nothing is done for whatever reason there is.
void NodeAgent::take_doubt(const std::string& degraded, const std::string& why) {
  degraded_ = degraded;
  if (std::exchange(doubt_, why) == why) return;
  desk_.log(why.empty() ? "nothing is doubtful any more" : "nothing is done: " + why);
  desk_.is_doubtful = !why.empty();
  tell_all(EpochDiffers{desk_.is_doubtful});
}

// The times seen are kept now and then: on disk they may be behind, and are never ahead.
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

// A store that was restored counts on from an older revision: what was written to the one before,
// and at which revision, says nothing about it.
void NodeAgent::look_for_restored_store() {
  const bool went_back = mirror_.revision() < std::exchange(seen_revision_, mirror_.revision());
  const bool is_another = known_.epoch != std::exchange(seen_epoch_, known_.epoch);
  if (!went_back && !is_another) return;
  if (std::exchange(desk_.active, 0) != 0) tell_all(ActiveIs{0});
}

// A trouble of this machine, a full disk for example, is told like a doubt, and stops nothing: what
// is in trouble is tried again.
std::string NodeAgent::degraded() const {
  if (!degraded_.empty()) return degraded_;
  for (const auto& [component, why] : desk_.troubles) {
    if (!why.empty()) return component + ": " + why;
  }
  return "";
}

}  // namespace fleet
