#include "fleet/common/presence.h"

#include <utility>

namespace fleet {
namespace {

// The length of the lease: the record of a killed process disappears after about this time.
constexpr std::chrono::seconds lease_time{10};
constexpr std::chrono::milliseconds retry_time{1'000};
// The pause after the store has denied the write. A person may grant the missing permission
// meanwhile.
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

// Writes this process's record, even over the record that another process has written with the same
// key. Writes a value only once for each lease: otherwise two processes with the same key would
// overwrite each other's record for ever.
void Presence::write() {
  if (writing_ || stands_ || wanted_.empty() || keeper_.lease() == 0) return;
  writing_ = true;
  stands_ = true;
  Transaction all{.puts = {{key_, wanted_, keeper_.lease()}}};
  all.puts.insert(all.puts.end(), lasting_.begin(), lasting_.end());
  store_.commit(std::move(all), alive_.guard([this](const Outcome& outcome) { take(outcome); }));
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
