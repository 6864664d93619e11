#include "tools/agent-releases/shell/attempt.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
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

struct Choice {
  std::optional<Release> release;  // the release that should replace the running one
  std::vector<LeftOut> left_out;   // better releases that cannot be used, and why; newest first
  std::optional<Trouble> trouble;  // the trouble of the newest release that could not be verified
};

// Returns the reasons why releases were left out, as one text.
std::string in_words(const std::vector<LeftOut>& left_out) {
  std::string text;
  for (const LeftOut& left : left_out)
    text += (text.empty() ? "" : "; ") + ("release " + left.version.text()) + ": " + left.reason;
  return text;
}

// Chooses the release that should replace `running`, and verifies it. Chooses the next best release
// if the verification fails, or if a release with this hash has failed before. For a release
// without a manifest, the hash is known only after the verification.
Result<Choice> choose_verified(const Store& store, const Version& running,
                               const std::optional<Wish>& wish, const std::vector<Entry>& ledger) {
  const Result<std::vector<Release>> listed = store.list();
  if (!listed) return listed.refusal();
  std::vector<Release> releases = listed.value();
  const auto writing = wish ? std::optional(wish->writing) : std::nullopt;
  Choice choice;
  std::vector<Candidate> candidates;
  while (!choice.release) {
    candidates.clear();
    for (const Release& release : releases)
      candidates.push_back({.version = release.version, .sha256 = release.sha256});
    const auto index = choose(candidates, wish, running, ledger);
    if (!index) break;
    Release& release = releases[*index];
    const Result<std::string> sha256 = verify_whole(store, release);
    if (!sha256) {
      choice.left_out.push_back({release.version, sha256.reason()});
      if (!choice.trouble) choice.trouble = sha256.refusal().trouble;
      releases.erase(releases.begin() + static_cast<std::ptrdiff_t>(*index));
      continue;
    }
    release.sha256 = sha256.value();
    if (!has_failed(ledger, release.version, release.sha256, running, writing))
      choice.release = release;
  }
  for (LeftOut& left : left_out(candidates, wish, running, ledger)) {
    const bool is_better = !choice.release || left.version > choice.release->version;
    const bool is_new = std::ranges::find(choice.left_out, left.version, &LeftOut::version) ==
                        choice.left_out.end();
    if (is_better && is_new) choice.left_out.push_back(std::move(left));
  }
  std::ranges::stable_sort(choice.left_out, std::ranges::greater{}, &LeftOut::version);
  return choice;
}

}  // namespace

Result<Attempt> begin_attempt(const Releases& releases, const Version& running, Moment now) {
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
  const auto choice = choose_verified(store, running, wish, ledger.value());
  if (!choice) return choice.refusal();
  const auto& [release, left_out, trouble] = choice.value();
  Attempt attempt{.id = "", .release = release, .left_out = in_words(left_out)};
  if (!release && trouble) return Refusal{attempt.left_out, *trouble};
  if (!release) return attempt;
  attempt.id = upgrade_id(release->version, ::getpid(), now);
  const Entry entry{.when = now,
                    .version = release->version,
                    .sha256 = release->sha256,
                    .ending = Ending::trying,
                    .id = attempt.id,
                    .stage = "",
                    .reason = "",
                    .errno_name = "",
                    .wish = wish ? wish->writing : ""};
  if (const Outcome recorded = record(store, entry); !recorded) return recorded.refusal();
  return attempt;
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
