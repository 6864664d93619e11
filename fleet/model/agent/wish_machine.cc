#include "fleet/model/agent/wish_machine.h"

#include <charconv>
#include <string_view>
#include <utility>

#include "fleet/model/desired/desired_view.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

constexpr std::string_view attempts = "desired.";

// Check that the longest id of a command `stop`, with two revisions of 19 digits each, is not
// longer than an id may be.
static_assert(attempts.size() + 19 + 1 + 19 + 1 + life_digits +
                  std::string_view(".stop.1").size() <=
              command_id_bytes_max);

// Returns `desired.REVISION.`, with which the ids of all attempts for one desired version begin.
// REVISION is `wish`, the revision at which that version was desired. The rest of an id is the
// revision at which the attempt began and, in a store that was restored from a snapshot, a number
// that stands for the restore.
std::string attempts_at(Revision wish) {
  return std::string(attempts) + std::to_string(wish) + ".";
}

// Returns the revision of the wish (the write of the node's desired version) for which this attempt
// was begun, or 0 if `attempt` is not the id of an attempt.
Revision wish_of(std::string_view attempt) {
  Revision wish = 0;
  if (!attempt.starts_with(attempts)) return wish;
  attempt.remove_prefix(attempts.size());
  std::from_chars(attempt.data(), attempt.data() + attempt.size(), wish);
  return wish;
}

}  // namespace

bool is_attempt(const std::string& upgrade) {
  return upgrade.starts_with(attempts);
}

bool is_attempt_at(const std::string& upgrade, Revision wish) {
  return upgrade.starts_with(attempts_at(wish));
}

std::string stop_id(const std::string& attempt) {
  return attempt + ".stop.1";
}

WishActions WishMachine::step(const WishEvent& event, const std::string& now) {
  now_ = now;
  std::visit([this](const auto& happened) { take(happened); }, event);
  consider();
  return std::exchange(actions_, {});
}

void WishMachine::take(const Settled& settled) {
  settled_ = true;
  stage_ = Stage::idle;
  under_way_ = std::nullopt;
  version_ = settled.version;
  upgrade_ = {};
  if (!is_attempt(settled.recorded.attempt)) return;
  upgrade_ = settled.recorded;
  if (settled.committed) {
    report(UpgradePhase::done);
  } else if (!settled.failure.empty() && is_under_way(upgrade_.phase)) {
    report(UpgradePhase::failed, settled.failure, settled.evidence);
  } else if (settled.upgrading != Settled::Upgrading::no) {
    stage_ = settled.upgrading == Settled::Upgrading::waits ? Stage::asking : Stage::going;
  }
}

void WishMachine::take(const RunsSeen& seen) {
  version_ = seen.version;
}

void WishMachine::take(const WishSeen& seen) {
  wish_ = seen.wish;
  claimed_ = seen.claimed;
  at_ = seen.at;
  const bool was_restored = life_ && *life_ != seen.life;
  life_ = seen.life;
  if (was_restored) forget_lost(seen.recorded);
  if (stage_ == Stage::idle || under_way_) return;
  // An earlier process of fleet-agent has begun the upgrade that is under way. Cancel it if a
  // person or controller has written another desired version since, unless the old version was
  // already ordered to stop.
  if (!wish_ || !is_attempt_at(upgrade_.attempt, wish_->revision))
    return give_up("the wish has changed");
  under_way_ = wish_;
}

// Called after the store was restored from a snapshot. If the store has lost the desired version
// for which the last attempt (upgrade) was made, forgets this attempt: the last attempt is then the
// one in the store, `recorded`. Does nothing while an attempt is under way, since that one is
// cancelled elsewhere.
void WishMachine::forget_lost(const Upgrade& recorded) {
  if (stage_ != Stage::idle || wish_of(upgrade_.attempt) <= life_->begins) return;
  upgrade_ = is_attempt(recorded.attempt) ? recorded : Upgrade();
  actions_.emplace_back(std::in_place_type<ForgetUpgrade>);
}

// Called when the release is fetched. Asks the upgrader for the upgrade, unless the upgrade must
// not begin any more: then the release only stays on disk.
void WishMachine::take(const Fetched& fetched) {
  if (stage_ != Stage::fetching || fetched.attempt != upgrade_.attempt) return;
  if (!fetched.error.empty()) return fail(fetched.error, fetched.evidence);
  if (const std::string why = why_unwanted(); !why.empty()) return abandon(why);
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

void WishMachine::take(const StopOrdered& ordered) {
  if (stage_ != Stage::gate || ordered.command != stop_id(upgrade_.attempt)) return;
  stage_ = Stage::going;
  actions_.emplace_back(std::in_place_type<ConfirmUpgrade>);
}

void WishMachine::take(const AttemptEnded& ended) {
  if (stage_ == Stage::idle) return;
  if (stage_ == Stage::cancelling) return abandon(ended.error);
  fail(ended.error, ended.evidence);
}

void WishMachine::consider() {
  if (!settled_) return;
  // If the attempt has to end, but the release that is being fetched is still desired, the fetch
  // continues. Otherwise the next attempt would have to fetch the same release again.
  const bool is_wanted_later = stage_ == Stage::fetching && wish_ &&
                               wish_->desired.version == under_way_->desired.version &&
                               wish_->desired.digest == under_way_->desired.digest;
  if (const std::string why = why_unwanted(); !why.empty() && !is_wanted_later) give_up(why);
  if (stage_ != Stage::idle || claimed_ || !wish_ || was_tried(*wish_)) return;
  begin(*wish_);
}

// Returns why the attempt that is under way has to be cancelled, or an empty string if it need not
// be.
std::string WishMachine::why_unwanted() const {
  if (!under_way_) return "";
  if (wish_ != under_way_) return "the wish has changed";
  return claimed_ ? "a rollout or a command moves the node" : "";
}

bool WishMachine::was_tried(const Wish& wish) const {
  if (!is_attempt_at(upgrade_.attempt, wish.revision)) return false;
  return upgrade_.phase == UpgradePhase::done || upgrade_.phase == UpgradePhase::failed;
}

// Returns the id of the next attempt. An attempt that a restart has interrupted continues under its
// old id, by which the upgrader recognizes it. A new attempt gets a new id, which ends with the
// current revision, since the upgrader may still know the id of a cancelled attempt.
std::string WishMachine::next_attempt(const Wish& wish) const {
  const std::string same = attempts_at(wish.revision);
  const bool continues = upgrade_.attempt.starts_with(same) && is_under_way(upgrade_.phase);
  if (continues) return upgrade_.attempt;
  const bool has_life = life_ && !life_->name.empty();
  return same + std::to_string(at_) + (has_life ? "." + life_->name : "");
}

void WishMachine::begin(const Wish& wish) {
  upgrade_ = Upgrade{.attempt = next_attempt(wish),
                     .from = brief(version_, label_bytes_max),
                     .to = wish.desired.version,
                     .began = now_};
  if (is_same_version(wish.desired.version, version_)) return report(UpgradePhase::done);
  under_way_ = wish;
  stage_ = Stage::fetching;
  report(UpgradePhase::staging);
  actions_.push_back(FetchRelease{upgrade_.attempt, wish.desired});
}

bool WishMachine::must_wait(const Command& command) const {
  if (command.action == CommandAction::stop)
    return stage_ != Stage::gate || command.id != stop_id(upgrade_.attempt);
  return stage_ != Stage::idle && stage_ != Stage::fetching;
}

// Cancels the attempt, unless the old version was already ordered to stop.
void WishMachine::give_up(const std::string& why) {
  switch (stage_) {
    case Stage::idle:
    case Stage::going:
    case Stage::cancelling:
      return;
    case Stage::fetching:
      abandon(why);
      return;
    case Stage::asking:
    case Stage::gate:
      stage_ = Stage::cancelling;
      actions_.push_back(CancelUpgrade{why});
      return;
  }
}

// Ends an attempt that the node itself has cancelled. The release is not to blame, so the attempt
// does not count as failed.
void WishMachine::abandon(const std::string& why) {
  stage_ = Stage::idle;
  under_way_ = std::nullopt;
  report(UpgradePhase::rolled_back, why);
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
