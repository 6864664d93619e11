#include "fleet/signer/presence.h"

#include <utility>

#include "fleet/model/record_text.h"

namespace fleet {
namespace {

// The time of the lease. When a process dies, its record disappears after this time at most.
constexpr std::chrono::seconds lease_time{10};
constexpr std::chrono::milliseconds retry_time{1'000};

}  // namespace

Presence::Presence(Store& store, Timers& timers, std::string key, std::uint64_t seed)
    : store_(store),
      timers_(timers),
      key_(std::move(key)),
      keeper_(store, timers, lease_time,
              {.taken =
                   [this](const Lease&) {
                     stands_ = false;
                     write();
                   },
               .lost = [](const std::string&) {}},
              seed) {}

void Presence::show(const SignerAtWork& state) {
  wanted_ = write_record(state);
  stands_ = false;
  write();
}

// Writes the record without a compare. If two processes have the same name by mistake, each write
// replaces the record of the other process. The replaced process does not write again because of
// that, or both would write for ever.
void Presence::write() {
  if (writing_ || stands_ || wanted_.empty() || keeper_.lease() == 0) return;
  writing_ = true;
  stands_ = true;
  const std::weak_ptr<char> alive = alive_;
  store_.commit({.puts = {{key_, wanted_, keeper_.lease()}}},
                [this, alive](const Outcome& outcome) {
                  if (alive.expired()) return;
                  writing_ = false;
                  if (std::holds_alternative<Committed>(outcome)) return write();
                  stands_ = false;
                  retry_ = timers_.after(retry_time, [this] { write(); });
                });
}

void Presence::end() {
  wanted_.clear();
  retry_ = nullptr;
  keeper_.end();
}

}  // namespace fleet
