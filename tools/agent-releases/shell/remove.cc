// Removes releases that are not needed: a certain one (`remove`), or all except the newest
// (`prune`).
#include <set>
#include <utility>

#include "agent-releases/releases.h"
#include "tools/agent-releases/core/choice.h"
#include "tools/agent-releases/core/names.h"
#include "tools/agent-releases/shell/ledger_file.h"
#include "tools/agent-releases/shell/store.h"
#include "tools/agent-releases/shell/use.h"

namespace agent_releases {
namespace {

// The reasons why releases are still needed, found out once for all releases of a directory.
class Needs {
 public:
  [[nodiscard]] static Result<Needs> look(const Store& store);

  // Returns the reason why the release is needed, or nothing if it is not needed.
  [[nodiscard]] std::optional<std::string> of(const Release& release) const;

 private:
  std::vector<std::pair<Version, std::string>> versions_;
  std::vector<Use> uses_;
};

Result<Needs> Needs::look(const Store& store) {
  Needs needs;
  for (const std::string_view link : {current_name, previous_name}) {
    const auto version = store.version_of_link(link);
    if (!version) return version.refusal();
    if (version.value()) {
      needs.versions_.emplace_back(*version.value(), std::string(link) + " names it");
    }
  }
  const auto wish = store.wish();
  if (wish && !wish->version) {
    return Refusal{"the file `desired` names no version, so nothing is removed"};
  }
  if (wish) needs.versions_.emplace_back(*wish->version, "it is desired");
  const auto ledger = read_ledger(store.directory());
  if (!ledger) return ledger.refusal();
  std::set<std::string> seen;
  for (auto entry = ledger.value().rbegin(); entry != ledger.value().rend(); ++entry) {
    if (!seen.insert(entry->version.text()).second || entry->ending != Ending::trying) continue;
    needs.versions_.emplace_back(entry->version, "an upgrade to it is under way, or was cut short");
    // Only one upgrade can be under way, so an older one is over even if no ending is recorded.
    break;
  }
  auto upgraders = used_by_upgraders(store.controls());
  if (!upgraders) {
    return Refusal{"what an upgrader runs cannot be read, so nothing is removed: " +
                   upgraders.reason()};
  }
  auto processes = used_by_processes();
  if (!processes) {
    return Refusal{
        "what processes run cannot be read, so nothing is removed: " + processes.reason(),
        processes.refusal().trouble};
  }
  needs.uses_ = std::move(processes.value());
  for (Use& use : upgraders.value())
    needs.uses_.push_back(std::move(use));
  return needs;
}

std::optional<std::string> Needs::of(const Release& release) const {
  for (const auto& [version, why] : versions_) {
    if (version == release.version) return why;
  }
  for (const Use& use : uses_) {
    const bool below = use.executable.starts_with(release.path + "/");
    if (below || use.executable == release.path) return use.by + " runs it";
  }
  return std::nullopt;
}

// Removes a release. The release's own file goes first, then the other files beside it. If a crash
// comes in between, the next command removes the remaining files.
Outcome remove_release(const Store& store, const Directory& staging, const Version& version) {
  const Directory& directory = store.directory();
  const std::string name = store.name_of(version);
  if (store.is_claimed(staging, version)) {
    return Refusal{"another process is adding version " + version.text()};
  }
  if (const Outcome moved = directory.rename(name, staging, name); !moved) return moved;
  if (const Outcome synced = directory.sync(); !synced) {
    static_cast<void>(staging.rename(name, directory, name, Directory::Existing::keep));
    return synced;
  }
  return store.clean(staging, std::string(no_partial));
}

}  // namespace

Result<std::optional<std::string>> Releases::needed_for(const Version& version) const {
  const Result<Release> release = find(version);
  if (!release) return release.refusal();
  const Result<Needs> needs = Needs::look(*store_);
  if (!needs) return needs.refusal();
  return needs.value().of(release.value());
}

Outcome Releases::remove(const Version& version) {
  const Result<Release> there = find(version);
  if (!there) return there.refusal();
  const Result<Writing> writing = store_->begin_writing(std::string(no_partial));
  if (!writing) return writing.refusal();
  const auto needed = needed_for(version);
  if (!needed) return needed.refusal();
  if (needed.value()) {
    return Refusal{"version " + version.text() + " is not removed: " + *needed.value()};
  }
  return remove_release(*store_, writing.value().staging, version);
}

Result<std::vector<Version>> Releases::prune(std::size_t keep, std::optional<std::int64_t> before) {
  const Result<Writing> writing = store_->begin_writing(std::string(no_partial));
  if (!writing) return writing.refusal();
  const Result<Needs> needs = Needs::look(*store_);
  if (!needs) return needs.refusal();
  const Result<std::vector<Release>> releases = list();
  if (!releases) return releases.refusal();
  std::vector<Holding> holdings;
  for (const Release& release : releases.value()) {
    holdings.push_back(
        {.version = release.version, .added = release.added, .needed = needs.value().of(release)});
  }
  std::vector<Version> pruned = choose_to_prune(std::move(holdings), {keep, before});
  for (const Version& version : pruned) {
    const Outcome gone = remove_release(*store_, writing.value().staging, version);
    if (!gone) return gone.refusal();
  }
  return pruned;
}

}  // namespace agent_releases
