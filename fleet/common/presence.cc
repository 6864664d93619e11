#include "fleet/common/presence.h"

#include <utility>

namespace fleet {
namespace {

// The time to live of the lease. If the process dies, its record disappears within this time.
constexpr std::chrono::seconds lease_time{10};
constexpr std::chrono::milliseconds retry_time{1'000};
// The time after which a denied record is tried again: a person may grant the right meanwhile.
constexpr std::chrono::milliseconds denied_time{60'000};

}  // namespace

Presence::Presence(Store& store, Timers& timers, std::string key, std::uint64_t seed,
                   std::function<void(const std::string&)> denied)
    : store_(store),
      timers_(timers),
      key_(std::move(key)),
      denied_(std::move(denied)),
      keeper_(store, timers, lease_time,
              {.taken =
                   [this](const Lease&) {
                     stands_ = false;
                     write();
                   },
               .lost = [](const std::string&) {}},
              seed) {}

void Presence::show(std::string value, std::vector<Put> lasting) {
  wanted_ = std::move(value);
  lasting_ = std::move(lasting);
  stands_ = false;
  write();
}

// Writes the record without a compare. If two processes have the same key by mistake, each write
// replaces the record of the other process. The other process does not then write its record again,
// since the two would otherwise do so for ever.
void Presence::write() {
  if (writing_ || stands_ || wanted_.empty() || keeper_.lease() == 0) return;
  writing_ = true;
  stands_ = true;
  const std::weak_ptr<char> alive = alive_;
  Transaction all{.puts = {{key_, wanted_, keeper_.lease()}}};
  all.puts.insert(all.puts.end(), lasting_.begin(), lasting_.end());
  store_.commit(std::move(all), [this, alive](const Outcome& outcome) {
    if (!alive.expired()) take(outcome);
  });
}

void Presence::take(const Outcome& outcome) {
  writing_ = false;
  if (std::holds_alternative<Committed>(outcome)) return write();
  stands_ = false;
  const auto* denied = std::get_if<Denied>(&outcome);
  retry_ = timers_.after(denied == nullptr ? retry_time : denied_time, [this] { write(); });
  if (denied != nullptr) denied_(denied->reason);
}

void Presence::end() {
  wanted_.clear();
  retry_ = nullptr;
  keeper_.end();
}

}  // namespace fleet
