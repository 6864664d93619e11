#include "tools/agent-releases/shell/attempt.h"

#include <unistd.h>

#include <utility>
#include <vector>

#include "tools/agent-releases/core/choice.h"
#include "tools/agent-releases/shell/ledger_file.h"
#include "tools/agent-releases/shell/store.h"
#include "tools/agent-releases/shell/verification.h"

namespace agent_releases {
namespace {

Outcome record(const Store& store, const Entry& entry) {
  return append_to_ledger(store.directory(), entry, store.patience());
}

// Verifies that the release's bytes are those that were added, and returns their hash.
Result<std::string> verified(const Store& store, const Release& release) {
  Result<Verification> verification = Verification::begin(store, release);
  if (!verification) return verification.refusal();
  while (true) {
    const Result<bool> done = verification.value().step();
    if (!done) return done.refusal();
    if (done.value()) return verification.value().sha256();
  }
}

// Returns the release that should replace `running`, after verifying it, or nothing. The hash of an
// adopted release, which has no manifest, is known only after verifying. If the ledger then says
// that a release with this hash has failed, chooses again without this release.
Result<std::optional<Release>> choose_verified(const Store& store, const Version& running,
                                               const std::optional<Wish>& wish,
                                               const std::vector<Entry>& ledger) {
  Result<std::vector<Release>> listed = store.list();
  if (!listed) return listed.refusal();
  std::vector<Release>& releases = listed.value();
  const auto writing = wish ? std::optional(wish->writing) : std::nullopt;
  while (true) {
    std::vector<Candidate> candidates;
    for (const Release& release : releases)
      candidates.push_back({.version = release.version, .sha256 = release.sha256});
    const auto index = choose(candidates, wish, running, ledger);
    if (!index) return std::optional<Release>();
    Release release = releases[*index];
    const Result<std::string> sha256 = verified(store, release);
    if (!sha256) {
      return Refusal{"release " + release.version.text() + ": " + sha256.reason(),
                     sha256.refusal().trouble};
    }
    release.sha256 = sha256.value();
    if (!has_failed(ledger, release.version, release.sha256, running, writing)) {
      return std::optional(std::move(release));
    }
    releases.erase(releases.begin() + static_cast<std::ptrdiff_t>(*index));
  }
}

}  // namespace

Result<std::optional<Attempt>> begin_attempt(const Releases& releases, const Version& running,
                                             Moment now) {
  const Store& store = releases.store();
  const auto ledger = read_ledger(store.directory());
  if (!ledger) return ledger.refusal();
  if (const auto committed = commitment_of(ledger.value(), running, now)) {
    if (const Outcome recorded = record(store, *committed); !recorded) return recorded.refusal();
  }
  const std::optional<Wish> wish = store.wish();
  if (wish && !wish->version) {
    return Refusal{
        "the file `desired` names no version or cannot be read, so no release is to be requested",
        Trouble::refused};
  }
  const auto chosen = choose_verified(store, running, wish, ledger.value());
  if (!chosen) return chosen.refusal();
  if (!chosen.value()) return std::optional<Attempt>();
  Attempt attempt{.id = upgrade_id(chosen.value()->version, ::getpid(), now),
                  .release = *chosen.value()};
  const Entry entry{.when = now,
                    .version = attempt.release.version,
                    .sha256 = attempt.release.sha256,
                    .ending = Ending::trying,
                    .id = attempt.id,
                    .stage = "",
                    .reason = "",
                    .errno_name = "",
                    .wish = wish ? wish->writing : ""};
  if (const Outcome recorded = record(store, entry); !recorded) return recorded.refusal();
  return std::optional(std::move(attempt));
}

Result<Entry> end_attempt(const Releases& releases, const AttemptFailure& failure, Moment now) {
  const Store& store = releases.store();
  const auto ledger = read_ledger(store.directory());
  if (!ledger) return ledger.refusal();
  const Entry* last = upgrade_of(ledger.value(), failure.id);
  if (last == nullptr) {
    return Refusal{"the ledger knows of no upgrade " + failure.id, Trouble::absent};
  }
  if (last->ending != Ending::trying) return *last;
  Entry entry = *last;
  entry.when = now;
  entry.ending = Ending::failed;
  entry.stage = failure.stage;
  entry.reason = failure.reason;
  entry.errno_name = failure.errno_name;
  if (const Outcome recorded = record(store, entry); !recorded) return recorded.refusal();
  return entry;
}

}  // namespace agent_releases
