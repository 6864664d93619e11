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

struct Chosen {
  Release release;
  std::string left_out;  // why newer releases were left out; empty if none was left out
};

// Chooses the release that should replace `running`, and verifies it. If the verification fails,
// chooses the next best release. After the verification, the ledger is searched for the release's
// hash, because the hash of a release without a manifest was not known before. If a release with
// this hash has failed, also chooses the next best release. When no release is left, refuses if one
// of the releases could not be verified, and otherwise returns nothing.
Result<std::optional<Chosen>> choose_verified(const Store& store, const Version& running,
                                              const std::optional<Wish>& wish,
                                              const std::vector<Entry>& ledger) {
  Result<std::vector<Release>> listed = store.list();
  if (!listed) return listed.refusal();
  std::vector<Release>& releases = listed.value();
  const auto writing = wish ? std::optional(wish->writing) : std::nullopt;
  std::optional<Refusal> refusal;
  while (true) {
    std::vector<Candidate> candidates;
    for (const Release& release : releases)
      candidates.push_back({.version = release.version, .sha256 = release.sha256});
    const auto index = choose(candidates, wish, running, ledger);
    if (!index && refusal) return *refusal;
    if (!index) return std::optional<Chosen>();
    Release release = releases[*index];
    const Result<std::string> sha256 = verify_whole(store, release);
    if (!sha256) {
      const std::string why = "release " + release.version.text() + ": " + sha256.reason();
      refusal = Refusal{refusal ? refusal->reason + "; " + why : why,
                        refusal ? refusal->trouble : sha256.refusal().trouble};
    } else if (release.sha256 = sha256.value();
               !has_failed(ledger, release.version, release.sha256, running, writing)) {
      return std::optional(Chosen{std::move(release), refusal ? refusal->reason : ""});
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
  const auto& [release, left_out] = *chosen.value();
  Attempt attempt{
      .id = upgrade_id(release.version, ::getpid(), now), .release = release, .left_out = left_out};
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

Result<Entry> end_attempt(const Releases& releases, const Failure& failure, Moment now) {
  const Store& store = releases.store();
  const auto ledger = read_ledger(store.directory());
  if (!ledger) return ledger.refusal();
  const Entry* last = upgrade_of(ledger.value(), failure.id);
  if (last == nullptr) {
    return Refusal{"the ledger knows of no upgrade " + failure.id, Trouble::absent};
  }
  if (last->ending != Ending::trying) return *last;
  const Entry entry = failure_of(*last, failure, now);
  if (const Outcome recorded = record(store, entry); !recorded) return recorded.refusal();
  return entry;
}

}  // namespace agent_releases
