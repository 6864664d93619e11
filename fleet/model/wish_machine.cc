#include "fleet/model/wish_machine.h"

#include <utility>

#include "base/number.h"
#include "fleet/model/record_brief.h"

namespace fleet {
namespace {

// Returns how the ids of all attempts to reach this desired version begin: `desired.REVISION.`,
// with the revision at which the version was written. The number of the attempt follows.
std::string attempts_at(const Wish& wish) {
  return "desired." + std::to_string(wish.revision) + ".";
}

}  // namespace

bool is_attempt(const std::string& upgrade) {
  return upgrade.starts_with("desired.");
}

WishActions WishMachine::step(const WishEvent& event, const std::string& now) {
  now_ = now;
  std::visit([this](const auto& happened) { take(happened); }, event);
  consider();
  return std::exchange(actions_, {});
}

void WishMachine::take(const Settled& settled) {
  settled_ = true;
  again_ = false;
  stage_ = Stage::idle;
  under_way_ = std::nullopt;
  version_ = settled.version;
  upgrade_ = {};
  if (!is_attempt(settled.recorded.attempt)) return;
  upgrade_ = settled.recorded;
  if (settled.committed) {
    report(UpgradePhase::done);
  } else if (!settled.failure.empty()) {
    report(UpgradePhase::failed, settled.failure, settled.evidence);
  }
}

void WishMachine::take(const RunsSeen& seen) {
  version_ = seen.version;
}

void WishMachine::take(const WishSeen& seen) {
  wish_ = seen.wish;
  claimed_ = seen.claimed;
}

// Handles the end of a fetch. If the node's desired version was written again during the fetch, the
// release stays on disk, and no upgrade is requested.
void WishMachine::take(const Fetched& fetched) {
  if (stage_ != Stage::fetching || fetched.attempt != upgrade_.attempt) return;
  if (!fetched.error.empty()) return fail(fetched.error, fetched.evidence);
  stage_ = Stage::asking;
  report(UpgradePhase::verifying);
  actions_.push_back(
      AskUpgrade{upgrade_.attempt, under_way_->desired.version, under_way_->desired.downgrade});
}

void WishMachine::take(const GateReached& /*reached*/) {
  if (stage_ != Stage::asking) return;
  stage_ = Stage::gate;
  report(UpgradePhase::cutover_ready);
}

void WishMachine::take(const StopOrdered& /*ordered*/) {
  if (stage_ != Stage::gate) return;
  stage_ = Stage::going;
  actions_.emplace_back(std::in_place_type<ConfirmUpgrade>);
}

void WishMachine::take(const AttemptEnded& ended) {
  if (stage_ == Stage::idle) return;
  fail(ended.error, ended.evidence);
}

void WishMachine::consider() {
  if (!settled_) return;
  const bool has_changed = under_way_ && (!wish_ || wish_->revision != under_way_->revision);
  if (has_changed) give_up("the wish has changed");
  if (claimed_) give_up("a rollout or a command moves the node");
  if (stage_ != Stage::idle || claimed_ || !wish_ || was_tried(*wish_)) return;
  begin(*wish_);
}

bool WishMachine::was_tried(const Wish& wish) const {
  if (again_ || !upgrade_.attempt.starts_with(attempts_at(wish))) return false;
  return upgrade_.phase != UpgradePhase::unknown && !is_under_way(upgrade_.phase);
}

// Returns the id of the next attempt. An attempt that a restart has interrupted goes on under its
// id, by which the upgrader recognises it.
std::string WishMachine::next_attempt(const Wish& wish) const {
  const std::string same = attempts_at(wish);
  if (!upgrade_.attempt.starts_with(same)) return same + "1";
  if (!again_) return upgrade_.attempt;
  return same + std::to_string(
                    upgrader::whole_number(upgrade_.attempt.substr(same.size())).value_or(0) + 1);
}

void WishMachine::begin(const Wish& wish) {
  upgrade_ = Upgrade{.attempt = next_attempt(wish),
                     .from = brief(version_, label_bytes_max),
                     .to = wish.desired.version,
                     .began = now_};
  again_ = false;
  if (wish.desired.version == version_) return report(UpgradePhase::done);
  under_way_ = wish;
  stage_ = Stage::fetching;
  report(UpgradePhase::staging);
  actions_.push_back(FetchRelease{upgrade_.attempt, wish.desired});
}

bool WishMachine::must_wait(CommandAction action) const {
  if (action == CommandAction::stop) return stage_ != Stage::gate;
  return stage_ != Stage::idle && stage_ != Stage::fetching;
}

// Cancels the attempt. After the order to stop the old version, this is no longer possible, and the
// attempt continues.
void WishMachine::give_up(const std::string& why) {
  switch (stage_) {
    case Stage::idle:
    case Stage::going:
    case Stage::cancelling:
      return;
    case Stage::fetching:
      again_ = true;
      fail(why);
      return;
    case Stage::asking:
    case Stage::gate:
      again_ = true;
      stage_ = Stage::cancelling;
      actions_.push_back(CancelUpgrade{why});
      return;
  }
}

void WishMachine::fail(const std::string& error, const std::vector<Capsule>& evidence) {
  stage_ = Stage::idle;
  under_way_ = std::nullopt;
  report(UpgradePhase::failed, error, evidence);
}

void WishMachine::report(UpgradePhase phase, const std::string& error,
                         const std::vector<Capsule>& evidence) {
  upgrade_.phase = phase;
  upgrade_.evidence = evidence;
  upgrade_.error = brief(error);
  upgrade_.changed = now_;
  actions_.push_back(ReportUpgrade{upgrade_});
}

}  // namespace fleet
