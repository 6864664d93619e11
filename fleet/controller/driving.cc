#include "fleet/controller/driving.h"

#include <algorithm>

#include "fleet/model/drivers.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace fleet {
namespace {

// Returns whether a rollout needs a driver. A rollout in the state `created` needs none yet, since
// some of its records are still missing.
bool is_under_way(RolloutState state) {
  return state == RolloutState::rolling || state == RolloutState::paused ||
         state == RolloutState::aborting || state == RolloutState::undoing ||
         state == RolloutState::baking;
}

bool is_under_way(PlanState state) {
  return state == PlanState::running || state == PlanState::stopping;
}

template <class Record>
void keep_if_under_way(std::set<std::string>& names, const std::string& name,
                       const KeyValue& record) {
  const auto read = read_record<Record>(record.value);
  if (read && !why_no_driven_name(name) && is_under_way(read.value().state)) {
    names.insert(name);
  } else {
    names.erase(name);
  }
}

}  // namespace

void Drivables::take(const KeyValue& record) {
  const auto key = parse_key(record.key);
  if (!key) return;
  if (key->kind == KeyKind::rollout) {
    keep_if_under_way<Rollout>(rollouts_, key->names.front(), record);
  }
  if (key->kind == KeyKind::plan) keep_if_under_way<Plan>(plans_, key->names.front(), record);
  if (key->kind == KeyKind::desired) components_.insert(key->names.front());
}

void Drivables::take_absent(const std::string& text) {
  const auto key = parse_key(text);
  if (!key) return;
  if (key->kind == KeyKind::rollout) rollouts_.erase(key->names.front());
  if (key->kind == KeyKind::plan) plans_.erase(key->names.front());
  if (key->kind == KeyKind::desired) components_.erase(key->names.front());
}

std::vector<Drivable> Drivables::list() const {
  std::vector<Drivable> all;
  for (const std::string& name : rollouts_)
    all.push_back({Drivable::Kind::rollout, name});
  for (const std::string& name : plans_)
    all.push_back({Drivable::Kind::plan, name});
  if (components_.empty()) return all;
  all.push_back(
      {Drivable::Kind::desired, std::string(desired_id), {components_.begin(), components_.end()}});
  return all;
}

std::vector<Drivable> Campaign::to_begin(const std::vector<Drivable>& drivable,
                                         const Records& drivers, Ms now) const {
  std::vector<Drivable> begin;
  for (const Drivable& one : drivable) {
    const auto rest = rests_.find(one.id);
    const bool rests = rest != rests_.end() && now < rest->second.until;
    if (!rests && !drivers.contains(key_of(KeyKind::driver, {one.id}))) begin.push_back(one);
  }
  return begin;
}

std::optional<Ms> Campaign::next_deadline(const std::vector<Drivable>& drivable, Ms now) const {
  std::optional<Ms> first;
  for (const Drivable& one : drivable) {
    const auto rest = rests_.find(one.id);
    if (rest == rests_.end() || rest->second.until <= now) continue;
    if (!first || rest->second.until < *first) first = rest->second.until;
  }
  return first;
}

void Campaign::ended(const std::string& id, bool drove, Ms began, Ms now) {
  // If the driver of this `id` ends soon after its start several times in a row, each pause before
  // the next try is longer than the one before. A pause that ended long ago is forgotten, so that
  // the next pause is short again.
  std::erase_if(rests_,
                [now](const auto& one) { return one.second.until + 2 * longest_rest_ms < now; });
  Rest& rest = rests_[id];
  const bool soon = drove && now - began < longest_rest_ms;
  rest.length = soon ? std::clamp(2 * rest.length, first_rest_ms, longest_rest_ms) : first_rest_ms;
  rest.until = now + rest.length;
}

// ---- one driver and its store

namespace {

// Returns the longest common prefix of these keys. All keys with this prefix are read at one
// revision and followed by one watch, so that their changes arrive in the right order.
std::string common_beginning(const std::vector<std::string>& keys) {
  std::string common = keys.front();
  for (const std::string& key : keys) {
    const auto differ = std::mismatch(common.begin(), common.end(), key.begin(), key.end());
    common.erase(differ.first, common.end());
  }
  return common;
}

}  // namespace

Driving::Driving(Settings settings)
    : settings_(std::move(settings)),
      began_(now()),
      keeper_(settings_.store, settings_.timers, settings_.lease,
              {.taken =
                   [this](const Lease& lease) {
                     driver_ = settings_.make(lease.id);
                     tell(BeginDriving{settings_.wall()});
                   },
               .lost = [this](const std::string& why) { tell(LeaseLost{why}); },
               .kept = [this] { tell(KeptAlive{settings_.wall()}); }},
              settings_.seed) {}

void Driving::leave() {
  if (driver_ == nullptr) return end();
  tell(LeaveDriving{});
}

void Driving::tell(const DriverEvent& event) {
  if (over_ || driver_ == nullptr) return;
  alarm_ = nullptr;
  const DriverActions actions = driver_->step(event, now());
  if (!drove_ && driver_->fence() != 0) {
    drove_ = true;
    settings_.log(false, "is driven from here now");
  }
  for (const DriverAction& action : actions) {
    std::visit([this](const auto& what) { perform(what); }, action);
  }
  if (over_) return;
  if (const auto due = driver_->next_deadline()) {
    alarm_ = settings_.timers.after(std::chrono::milliseconds(std::max<Ms>(*due - now(), 0)),
                                    [this] { tell(TimePassed{}); });
  }
}

void Driving::perform(const Commit& commit) {
  const std::weak_ptr<char> alive = alive_;
  settings_.store.commit(commit.transaction, [this, alive](const Outcome& outcome) {
    if (!alive.expired()) tell(TransactionEnded{outcome});
  });
}

void Driving::perform(const WantReading& wanted) {
  wanted_ = wanted.prefixes;
  reading_ = true;
  following_ = std::make_unique<Following>(
      settings_.store, settings_.timers, Keys{common_beginning(wanted_), true},
      Following::Observer{.read = [this](Reading reading) { take_reading(std::move(reading)); },
                          .changed = [this](const Changes& changes) { take_changes(changes); },
                          .troubled = [this](const Trouble&) { take_trouble(); },
                          .keeps = [this](const std::string& key) { return is_wanted(key); }},
      settings_.seed);
}

void Driving::perform(const GrantLease& wanted) {
  const std::weak_ptr<char> alive = alive_;
  const auto ttl =
      std::chrono::ceil<std::chrono::seconds>(std::chrono::milliseconds(wanted.ttl_ms));
  settings_.store.grant(ttl, [this, alive](const Reply<Lease>& answer) {
    if (alive.expired()) return;
    const auto* lease = std::get_if<Lease>(&answer);
    lease != nullptr ? tell(LeaseGranted{lease->id}) : tell(LeaseFailed{});
  });
}

void Driving::perform(const AskGates& asked) {
  const std::weak_ptr<char> alive = alive_;
  settings_.ask_gates(asked, [this, alive](const GatesAnswered& answers) {
    if (!alive.expired()) tell(answers);
  });
}

void Driving::perform(const Tell& words) {
  settings_.log(words.loud, words.text);
}

void Driving::perform(const EndDriving&) {
  end();
}

void Driving::end() {
  over_ = true;
  alive_ = nullptr;
  alarm_ = nullptr;
  following_ = nullptr;
  keeper_.end();
  settings_.ended();
}

// ---- reading the store

void Driving::take_reading(Reading reading) {
  reading_ = false;
  tell(ReadingEnded{std::move(reading)});
}

void Driving::take_changes(const Changes& changes) {
  for (std::size_t i = 0; i < changes.changes.size(); ++i) {
    if (over_ || reading_) return;  // stop here: the new reading includes the other changes
    const Change& change = changes.changes[i];
    const bool more = i + 1 < changes.changes.size();
    if (change.erased) {
      tell(KeyErased{change.now.key, change.now.modified, more});
    } else {
      tell(KeyChanged{change.now, more});
    }
  }
}

// Handles a failure to read or to watch. If the first reading is not complete, the driver is sent
// ReadingFailed. After the first reading, the class Following reads everything again by itself, and
// the driver is sent the result.
void Driving::take_trouble() {
  if (!std::exchange(reading_, false)) return;
  following_ = nullptr;
  tell(ReadingFailed{});
}

bool Driving::is_wanted(const std::string& key) const {
  return std::any_of(wanted_.begin(), wanted_.end(), [&key](const std::string& one) {
    return one.ends_with('/') ? key.starts_with(one) : key == one;
  });
}

}  // namespace fleet
