#include "fleet/model/signer/store_snapshots.h"

#include <algorithm>

#include "base/number.h"

namespace fleet {
namespace {

constexpr std::string_view front = "cell-";
constexpr std::string_view end = ".snapshot";
constexpr std::size_t digits = 12;

}  // namespace

std::string snapshot_name(UnixSeconds taken) {
  std::string number = std::to_string(std::max<UnixSeconds>(taken, 0));
  if (number.size() < digits) number.insert(0, digits - number.size(), '0');
  return std::string(front) + number + std::string(end);
}

std::optional<UnixSeconds> snapshot_time(std::string_view name) {
  if (!name.starts_with(front) || !name.ends_with(end)) return std::nullopt;
  name.remove_prefix(front.size());
  name.remove_suffix(end.size());
  if (name.size() != digits) return std::nullopt;
  return upgrader::whole_number(name);
}

UnixSeconds last_snapshot(const std::vector<std::string>& files, UnixSeconds now) {
  UnixSeconds last = 0;
  for (const std::string& file : files) {
    const UnixSeconds taken = snapshot_time(file).value_or(0);
    if (taken <= now) last = std::max(last, taken);
  }
  return last;
}

UnixSeconds until_snapshot(const std::vector<std::string>& files, UnixSeconds now) {
  return std::max<UnixSeconds>(last_snapshot(files, now) + snapshot_interval_s - now, 0);
}

std::vector<std::string> outlived_snapshots(const std::vector<std::string>& files, std::size_t kept,
                                            UnixSeconds now) {
  std::vector<std::string> snapshots;
  std::copy_if(files.begin(), files.end(), std::back_inserter(snapshots),
               [](const std::string& file) { return snapshot_time(file).has_value(); });
  std::sort(snapshots.begin(), snapshots.end());
  std::stable_partition(snapshots.begin(), snapshots.end(), [now](const std::string& file) {
    return snapshot_time(file).value_or(0) > now;
  });
  snapshots.resize(snapshots.size() - std::min(kept, snapshots.size()));
  return snapshots;
}

// ---- how a node notices that the store was restored from a snapshot

Epoch next_epoch(const Epoch& before, UnixSeconds now, const std::string& why) {
  return {.number = std::max(before.number + 1, now), .why = why};
}

StoreLife life_of(const Epoch& epoch, Revision modified) {
  if (epoch.number <= 0) return {};
  const std::string number = std::to_string(epoch.number);
  return {.name = number.substr(number.size() - std::min(number.size(), life_digits)),
          .begins = epoch.begins > 0 ? epoch.begins : modified};
}

StoreVerdict judge_store(const KnownStore& known, const Epoch& epoch, Revision revision) {
  const bool is_new = known.revision == 0;
  const bool is_another = epoch.number != known.epoch;
  if (is_new || (is_another && epoch.accepted)) return {{epoch.number, revision}, ""};
  if (is_another) {
    return {known, "epoch " + std::to_string(epoch.number) +
                       " is not accepted (known: " + std::to_string(known.epoch) + ")"};
  }
  if (revision < known.revision) {
    return {{known.epoch, revision_before_loss}, "the store has gone back to an older revision"};
  }
  return {{known.epoch, revision}, ""};
}

}  // namespace fleet
