#include "fleet/controller/driving.h"

#include <algorithm>

#include "fleet/model/drivers/drivers.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

// Returns the longest common prefix of these keys. One watch follows all keys with this prefix,
// since several watches could report changes in a wrong order.
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

void Driving::leave(const LeaveDriving& leaving) {
  if (driver_ == nullptr) return end();
  tell(leaving);
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
  settings_.store.commit(commit.transaction, alive_.guard([this](const Outcome& outcome) {
    tell(TransactionEnded{outcome});
  }));
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
  const auto ttl =
      std::chrono::ceil<std::chrono::seconds>(std::chrono::milliseconds(wanted.ttl_ms));
  settings_.store.grant(ttl, alive_.guard([this](const Reply<Lease>& answer) {
    const auto* lease = std::get_if<Lease>(&answer);
    lease != nullptr ? tell(LeaseGranted{lease->id}) : tell(LeaseFailed{});
  }));
}

void Driving::perform(const AskGates& asked) {
  settings_.ask_gates(asked, alive_.guard([this](const GatesAnswered& answers) { tell(answers); }));
}

void Driving::perform(const Tell& words) {
  settings_.log(words.loud, words.text);
}

void Driving::perform(const EndDriving&) {
  end();
}

void Driving::end() {
  over_ = true;
  alive_.end();
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
    // If the driver waits for a reading, that reading will include the remaining changes.
    if (over_ || reading_) return;
    const Change& change = changes.changes[i];
    const bool more = i + 1 < changes.changes.size();
    if (change.erased) {
      tell(KeyErased{change.now.key, change.now.modified, more});
    } else {
      tell(KeyChanged{change.now, more});
    }
  }
}

// Called when a reading has failed or the watch was lost. If the driver waits for a reading, it is
// told that the reading has failed. Otherwise the driver need not know: Following reads all records
// again by itself, and passes them to the driver.
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
