#include "tools/agent-releases/shell/follower_work.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "tools/agent-releases/core/names.h"
#include "tools/agent-releases/shell/ledger_file.h"

namespace agent_releases {
namespace {

using namespace std::chrono_literals;
using Clock = Wakeups::Clock;

constexpr auto retry_pause = 1s;

// The intervals at which the directory is searched for changes. look_interval is for systems that
// report changes, because a report may be missed. look_interval_unwatched is for systems that
// cannot report changes.
constexpr auto look_interval = 60s;
constexpr auto look_interval_unwatched = 1s;

// On kernels without pidfds, the interval at which the follower tests whether the self-test has
// exited.
constexpr auto exit_look_interval = 20ms;

}  // namespace

Result<std::vector<Entry>> FollowerNotes::with_kept(const Directory& directory) const {
  auto ledger = read_ledger(directory);
  if (ledger) ledger.value().insert(ledger.value().end(), kept_.begin(), kept_.end());
  return ledger;
}

// Appends the entry to the ledger. First appends the older entries that keep() has kept in memory,
// so that the entries in the ledger stay in the order of their times.
Outcome FollowerNotes::note(const Directory& directory, const Entry& entry) {
  while (!kept_.empty()) {
    if (const Outcome noted = append_to_ledger(directory, kept_.front()); !noted) return noted;
    kept_.erase(kept_.begin());
  }
  return append_to_ledger(directory, entry);
}

void FollowerNotes::keep(const Entry& entry) {
  if (kept_.size() == kept_endings_max) kept_.erase(kept_.begin());
  kept_.push_back(entry);
  put_off();
}

void FollowerNotes::put_off() {
  next_try_ = Clock::now() + retry_pause;
}

std::optional<Clock::time_point> FollowerNotes::next_try() const {
  return kept_.empty() ? std::nullopt : std::optional(next_try_);
}

void FollowerNotes::try_again(const Directory& directory) {
  while (!kept_.empty() && append_to_ledger(directory, kept_.front()))
    kept_.erase(kept_.begin());
}

Result<std::shared_ptr<Store>> Follower::Work::store() const {
  return Store::open(
      {.directory = settings_.directory, .name = settings_.name, .keys = settings_.keys});
}

// Reports `text`, unless it equals the last report. Every search of the directory finds a lasting
// fault again, but the fault is reported only once.
void Follower::Work::report_once(const std::string& text) {
  if (std::exchange(reported_, text) != text) agent_.report(text);
}

// Begins to look for releases. Called when the upgrade to this agent is committed. If the ledger's
// last entry about this agent's version says `trying`, records the commit.
void Follower::Work::begin() {
  has_begun_ = true;
  next_look_ = Clock::now();
  const auto known = ledger();
  if (known) {
    const auto committed = commitment_of(known.value(), settings_.running, std::time(nullptr));
    if (committed) note_ending(*committed);
  }
  set_timer();
}

void Follower::Work::dispatch() {
  const bool changed = wakeups_.take();
  const auto now = Clock::now();
  if (changed) next_look_ = now;
  note_what_is_kept();
  if (paused_until_ && now >= *paused_until_) {
    paused_until_.reset();
    next_look_ = now;
  }
  if (verification_) {
    verify_more();
  } else if (test_) {
    look_at_test();
  } else if (has_begun_ && !chosen_ && !paused_until_ && now >= next_look_) {
    next_look_ = now + (is_watched_ ? Clock::duration(look_interval) : look_interval_unwatched);
    look();
  }
  set_timer();
}

void Follower::Work::set_timer() {
  const auto work = next_work();
  const auto note = notes_.next_try();
  if (work && note) return wakeups_.set(std::min(*work, *note));
  wakeups_.set(work ? work : note);
}

std::optional<Clock::time_point> Follower::Work::next_work() const {
  const auto now = Clock::now();
  if (verification_) return now;
  if (test_) {
    const bool told = test_->exit_descriptor() >= 0;
    return told ? test_ends_ : std::min(test_ends_, now + exit_look_interval);
  }
  if (!has_begun_ || chosen_) return std::nullopt;
  return paused_until_ ? *paused_until_ : next_look_;
}

// Chooses the next release to verify. Leaves out a release that was refused before, unless its
// files have changed since the refusal. look() forgets all refusals when the file `desired` has
// been written again.
std::optional<std::size_t> Follower::Work::choose_among(const std::vector<Release>& releases,
                                                        const std::optional<Wish>& wish,
                                                        const std::vector<Entry>& ledger) const {
  std::vector<Candidate> candidates;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < releases.size(); ++i) {
    const Release& release = releases[i];
    const auto refused = refused_.find(release.path);
    if (refused != refused_.end() && refused->second == release.writing) continue;
    std::string sha256 = release.sha256;
    const auto hash = hashes_.find(release.path);
    const bool is_known = hash != hashes_.end() && hash->second.first == release.writing;
    if (sha256.empty() && is_known) sha256 = hash->second.second;
    candidates.push_back({.version = release.version, .sha256 = sha256});
    places.push_back(i);
  }
  const auto index = choose(candidates, wish, settings_.running, ledger);
  return index ? std::optional(places[*index]) : std::nullopt;
}

void Follower::Work::look() {
  const auto opened = store();
  if (!opened) return report_once(opened.reason());
  const auto known = ledger();
  if (!known) return report_once(known.reason());
  const auto releases = opened.value()->list();
  if (!releases) return report_once(releases.reason());
  const std::optional<Wish> wish = opened.value()->wish();
  if (wish && !wish->version) {
    return report_once("the file `desired` names no version, so no release is asked for");
  }
  const std::string writing = wish ? wish->writing : "";
  if (std::exchange(chosen_wish_, writing) != writing) refused_.clear();
  const auto index = choose_among(releases.value(), wish, known.value());
  if (index) verify(*opened.value(), releases.value()[*index]);
}

void Follower::Work::verify(const Store& store, Release release) {
  chosen_ = std::move(release);
  const Outcome sound = check_executable(chosen_->executable);
  if (!sound) return leave_alone(sound.reason());
  auto begun = Verification::begin(store, *chosen_);
  if (!begun) return leave_alone(begun.reason());
  verification_.emplace(std::move(begun.value()));
}

// Refuses the chosen release. It can be chosen again only after its files have changed, or after
// the file `desired` has been written again.
void Follower::Work::leave_alone(const std::string& why) {
  refused_[chosen_->path] = chosen_->writing;
  agent_.report("release " + chosen_->version.text() + " is not used: " + why);
  let_go(false);
}

void Follower::Work::let_go(bool pause) {
  verification_.reset();
  test_.reset();
  chosen_.reset();
  id_.clear();
  next_look_ = Clock::now();
  if (pause) paused_until_ = next_look_ + settings_.pause;
}

void Follower::Work::verify_more() {
  const Result<bool> done = verification_->step();
  if (!done) return leave_alone(done.reason());
  if (!done.value()) return;
  const std::string sha256 = verification_->sha256();
  verification_.reset();
  verified(sha256);
}

// Handles the end of a verification. The hash of the release is now known, so first finds out from
// the ledger whether an upgrade to a release with this hash has failed before.
void Follower::Work::verified(const std::string& sha256) {
  hashes_[chosen_->path] = {chosen_->writing, sha256};
  chosen_->sha256 = sha256;
  const auto known = ledger();
  if (!known) return let_go(true);
  const auto wish = chosen_wish_.empty() ? std::nullopt : std::optional(chosen_wish_);
  if (has_failed(known.value(), chosen_->version, sha256, settings_.running, wish)) {
    return let_go(false);
  }
  if (!settings_.self_test) return ask();
  test_.emplace(chosen_->executable, settings_.arguments, chosen_->version);
  test_ends_ = Clock::now() + settings_.self_test_limit;
  if (test_->exit_descriptor() >= 0) wakeups_.watch(test_->exit_descriptor());
  look_at_test();
}

void Follower::Work::look_at_test() {
  const auto verdict = test_->verdict();
  if (!verdict) {
    if (Clock::now() < test_ends_) return;
    test_->kill("it took too long");
    test_ends_ = Clock::now() + settings_.self_test_limit;
    return;
  }
  const std::string failure = test_->failure();
  test_.reset();
  switch (*verdict) {
    case SelfTest::Verdict::passed:
      return ask();
    case SelfTest::Verdict::failed:
      agent_.report("release " + chosen_->version.text() +
                    " is not tried again until it is forgotten or its bytes change: its self-test "
                    "failed: " +
                    failure);
      note_ending(entry(Ending::failed, "self-test", failure));
      return let_go(false);
    case SelfTest::Verdict::could_not_tell:
      agent_.report("release " + chosen_->version.text() + " is tried again later: " + failure);
      return let_go(true);
  }
}

Entry Follower::Work::entry(Ending ending, const std::string& stage,
                            const std::string& reason) const {
  return {.when = std::time(nullptr),
          .version = chosen_->version,
          .sha256 = chosen_->sha256,
          .ending = ending,
          .id = id_,
          .stage = stage,
          .reason = reason,
          .errno_name = "",
          .wish = chosen_wish_};
}

Result<std::vector<Entry>> Follower::Work::ledger() const {
  const auto opened = store();
  if (!opened) return opened.refusal();
  return notes_.with_kept(opened.value()->directory());
}

Outcome Follower::Work::note(const Entry& entry) {
  const auto opened = store();
  return opened ? notes_.note(opened.value()->directory(), entry) : Outcome(opened.refusal());
}

void Follower::Work::note_ending(const Entry& entry) {
  const Outcome noted = note(entry);
  if (noted) return;
  notes_.keep(entry);
  report_once(noted.reason());
}

void Follower::Work::note_what_is_kept() {
  const auto next = notes_.next_try();
  if (!next || Clock::now() < *next) return;
  notes_.put_off();
  if (const auto opened = store(); opened) notes_.try_again(opened.value()->directory());
}

// Requests the upgrade. First records durably that the release is being tried, because a release
// that crashes the machine must not be tried again.
void Follower::Work::ask() {
  id_ = upgrade_id(chosen_->version, ::getpid(), ++requests_);
  const Outcome noted = note(entry(Ending::trying, "", ""));
  if (!noted) {
    report_once(noted.reason());
    return let_go(true);
  }
  const Release release = *chosen_;
  if (agent_.ask(id_, release)) return;
  note_ending(entry(Ending::failed, "request", "the agent could not ask"));
  let_go(true);
}

// Returns the newest entry in the ledger (the record of upgrades) about the failed upgrade `id`. If
// there is no entry, or the ledger cannot be read, makes the entry from memory, provided that this
// follower has requested this upgrade last. For any other upgrade, refuses if the ledger cannot be
// read, and returns nothing if the ledger has no entry.
Result<std::optional<Entry>> Follower::Work::entry_of(const std::string& id) const {
  const auto known = ledger();
  const Entry* last = known ? upgrade_of(known.value(), id) : nullptr;
  if (last != nullptr) return std::optional(*last);
  if (!id_.empty() && id_ == id) return std::optional(entry(Ending::trying, "", ""));
  if (!known) return known.refusal();
  return std::optional<Entry>();
}

void Follower::Work::upgrade_failed(const Failure& failure) {
  const auto known = entry_of(failure.id);
  if (!known) return agent_.report(known.reason());
  const std::optional<Entry>& last = known.value();
  if (!last) return;
  if (last->ending == Ending::trying) {
    note_ending(failure_of(*last,
                           {.id = failure.id,
                            .stage = failure.stage,
                            .reason = failure.reason,
                            .errno_name = failure.errno_name},
                           std::time(nullptr)));
  }
  const bool own = blames_release(failure.stage, failure.errno_name);
  if (own) {
    agent_.report("release " + last->version.text() +
                  " is not tried again until it is forgotten or its bytes change: its upgrade "
                  "failed, stage " +
                  failure.stage);
  }
  if (id_.empty() || id_ == failure.id) let_go(!own);
  set_timer();
}

}  // namespace agent_releases
