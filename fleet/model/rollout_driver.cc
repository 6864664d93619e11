#include "fleet/model/rollout_driver.h"

#include <algorithm>
#include <utility>

#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace fleet {

RolloutDriver::RolloutDriver(std::string controller, std::string rollout, LeaseId lease)
    : controller_(std::move(controller)), lease_(lease) {
  view_.id = std::move(rollout);
  facts_.controller = controller_;
}

DriverActions RolloutDriver::step(const DriverEvent& event, Ms now) {
  now_ = now;
  actions_.clear();
  if (is_over()) return {};
  std::visit([this](const auto& what) { take(what); }, event);
  if (!is_over() && facts_.fence != 0 && now_ >= proven_at_ + driver_lease_ms) {
    end("it could not reach the store for as long as its lease", true);
  }
  if (under_way_ == UnderWay::nothing && !retry_at_) drive();
  return std::exchange(actions_, {});
}

std::optional<Ms> RolloutDriver::next_deadline() const {
  if (is_over()) return std::nullopt;
  std::optional<Ms> first;
  const auto consider = [&first](std::optional<Ms> at) {
    if (at && (!first || *at < *first)) first = at;
  };
  consider(retry_at_);
  if (under_way_ == UnderWay::nothing) consider(waits_until_);
  if (facts_.fence != 0) consider(proven_at_ + driver_lease_ms);
  return first;
}

// ---- the key

void RolloutDriver::take(const BeginDriving&) {
  take_key();
}

void RolloutDriver::take_key() {
  const std::string key = key_of(KeyKind::driver, {view_.id});
  under_way_ = UnderWay::taking;
  actions_.emplace_back(Commit{{.compares = {{.key = key}},
                                .puts = {{.key = key,
                                          .value = write_record(Driver{.controller = controller_}),
                                          .lease = lease_}}}});
}

bool RolloutDriver::holds_key() const {
  return facts_.fence != 0 && view_.driver == facts_.fence;
}

// ---- what the store says

void RolloutDriver::read_all() {
  under_way_ = UnderWay::reading;
  facts_.lease.reset();
  write_.reset();
  waits_until_.reset();
  actions_.emplace_back(WantReading{
      {key_of(KeyKind::rollout, {view_.id}), key_below(key_of(KeyKind::rollout, {view_.id})),
       key_of(KeyKind::driver, {view_.id}), key_of(KeyKind::stop), prefix_of(KeyKind::node_info)}});
}

void RolloutDriver::take(const TransactionEnded& event) {
  const bool taking = under_way_ == UnderWay::taking;
  if (!taking && under_way_ != UnderWay::transaction) return;
  if (const auto* done = std::get_if<Committed>(&event.outcome)) {
    proven_at_ = now_;
    if (!taking) return committed(done->revision);
    facts_.fence = done->revision;
    return read_all();
  }
  if (const auto* denied = std::get_if<Denied>(&event.outcome)) {
    if (taking || !facts_.denied.empty())
      return end("the store denies it: " + denied->reason, true);
    facts_.denied = "the store denies its driver: " + denied->reason;
    actions_.emplace_back(Tell{true, facts_.denied});
    return read_all();
  }
  // Refused or unknown. Where the key was being taken, reading tells whose it is.
  read_all();
}

void RolloutDriver::committed(Revision revision) {
  under_way_ = UnderWay::nothing;
  const Write write = std::move(*std::exchange(write_, std::nullopt));
  for (const Put& put : write.transaction.puts) {
    view_.take({.key = put.key, .value = put.value, .modified = revision, .lease = put.lease});
  }
  for (const Erase& erase : write.transaction.erases)
    view_.take_absent(erase.key, revision);
  if (!write.news.empty()) actions_.emplace_back(Tell{false, write.news});
}

void RolloutDriver::take(const ReadingEnded& event) {
  if (under_way_ != UnderWay::reading) return;
  under_way_ = UnderWay::nothing;
  view_.take_all(event.reading);
  const KeyValue* key = event.reading.find(key_of(KeyKind::driver, {view_.id}));
  // Whether an unknown transaction has taken the key: its lease is nobody else's.
  if (facts_.fence == 0 && key != nullptr && key->lease == lease_) facts_.fence = key->created;
  if (facts_.fence == 0 && key == nullptr) return take_key();
  if (!holds_key()) return end("another controller drives it", facts_.fence != 0);
  proven_at_ = now_;
}

void RolloutDriver::take(const ReadingFailed&) {
  if (under_way_ != UnderWay::reading) return;
  retry_at_ = now_ + store_retry_ms;
  under_way_ = UnderWay::nothing;
}

void RolloutDriver::take(const LeaseGranted& event) {
  if (under_way_ != UnderWay::lease) return;
  under_way_ = UnderWay::nothing;
  facts_.lease->lease = event.lease;
}

void RolloutDriver::take(const LeaseFailed&) {
  if (under_way_ != UnderWay::lease) return;
  under_way_ = UnderWay::nothing;
  facts_.lease.reset();
  retry_at_ = now_ + store_retry_ms;
}

void RolloutDriver::take(const KeptAlive&) {
  proven_at_ = now_;
}

void RolloutDriver::take(const KeyChanged& event) {
  view_.take(event.record);
  if (facts_.fence != 0 && view_.driver != 0 && !holds_key()) {
    end("another controller drives it", true);
  }
}

void RolloutDriver::take(const KeyErased& event) {
  view_.take_absent(event.key, event.revision);
  const bool driver = event.key == key_of(KeyKind::driver, {view_.id});
  if (driver && event.revision > facts_.fence && facts_.fence != 0)
    end("its lease has ended", true);
}

void RolloutDriver::take(const LeaveDriving&) {
  end("its controller ends", false);
}

void RolloutDriver::take(const TimePassed&) {
  if (retry_at_ && now_ >= *retry_at_) {
    retry_at_.reset();
    if (under_way_ == UnderWay::nothing) read_all();
  }
}

// ---- what it does

void RolloutDriver::drive() {
  if (facts_.fence != 0) perform(decide(view_, facts_, now_));
}

void RolloutDriver::perform(RolloutDecision decision) {
  facts_.marks = decision.marks;
  waits_until_.reset();
  if (const auto* wait = std::get_if<Wait>(&decision.what)) {
    waits_until_ = wait->until;
    // The next order gets a lease of its own: this one may have ended by then.
    facts_.lease.reset();
  }
  if (const auto* want = std::get_if<WantLease>(&decision.what)) {
    under_way_ = UnderWay::lease;
    facts_.lease = StepLease{view_.rollout->batch, want->step, 0};
    actions_.emplace_back(GrantLease{want->ttl_ms});
  }
  if (auto* write = std::get_if<Write>(&decision.what)) {
    under_way_ = UnderWay::transaction;
    actions_.emplace_back(Commit{write->transaction});
    write_ = std::move(*write);
  }
  if (const auto* over = std::get_if<Over>(&decision.what)) end(over->why, !view_.damage.empty());
}

void RolloutDriver::end(std::string why, bool loud) {
  under_way_ = UnderWay::over;
  actions_.emplace_back(Tell{loud, "rollout " + view_.id + " is not driven any longer: " + why});
  actions_.emplace_back(EndDriving{std::move(why)});
}

std::string RolloutDriver::words(Ms now) const {
  const auto ago = [now](std::optional<Ms> at) {
    return at ? std::to_string(now - *at) : std::string("-");
  };
  const RolloutMarks& marks = facts_.marks;
  std::string text = "driver " + std::to_string(static_cast<int>(under_way_)) + " fence @" +
                     std::to_string(facts_.fence) + " sees @" + std::to_string(view_.revision) +
                     " waits " + ago(retry_at_) + " " + ago(waits_until_) + " marks " +
                     std::to_string(marks.batch) + " " + ago(marks.prepare) + " " +
                     ago(marks.apply) + " " + ago(marks.confirm) + " " + ago(marks.rollback) + " " +
                     ago(marks.pause) + " " + facts_.denied;
  if (facts_.lease) text += " lease " + std::string(text_of(facts_.lease->step));
  if (write_) text += " writes " + fleet::words(write_->transaction);
  return text;
}

}  // namespace fleet
