// Implements the part of the class Component that moves the component to its desired version. Also
// fetches and tests releases, for desired versions and for commands.
#include <utility>

#include "fleet/agent/component.h"
#include "fleet/common/identity.h"
#include "fleet/common/release_draft.h"

namespace fleet {
namespace {

// The pause before a request to confirm or cancel an upgrade is sent again after a failure. A
// request to cancel is sent at most `cancels_max` times.
constexpr std::chrono::milliseconds send_again{1'000};
constexpr int cancels_max = 30;

// The pause before a release's record is requested again after a failure. Some requests fail
// immediately, so without a pause this process would repeat them all the time.
constexpr std::chrono::milliseconds read_release_again{1'000};

}  // namespace

void Component::look_at_wish() {
  if (!settled_) return;
  feed(RunsSeen{running_});
  const std::string place = key(KeyKind::node_desired);
  const auto desired = desk_.find<Desired>(place);
  const bool is_new_life = !machine_.knows(desk_.life);
  feed(WishSeen{
      .wish = desired ? std::optional(Wish{desk_.mirror.find(place)->modified, *desired})
                      : std::nullopt,
      .claimed = desk_.mirror.find(key(KeyKind::node_claim)) != nullptr || commander_->has_run(),
      .at = desk_.mirror.revision(),
      .life = desk_.life,
      .recorded = is_new_life ? desk_.find<Upgrade>(key(KeyKind::node_upgrade)).value_or(Upgrade())
                              : Upgrade()});
}

std::string Component::attempt_recorded() const {
  const auto recorded = desk_.find<Upgrade>(key(KeyKind::node_upgrade));
  return recorded && is_attempt(recorded->attempt) ? recorded->attempt : "";
}

void Component::settle(const std::string& committed, const std::string& failure,
                       const std::vector<Capsule>& evidence) {
  settled_ = true;
  Upgrade before = machine_.upgrade();
  if (before.attempt.empty())
    before = desk_.find<Upgrade>(key(KeyKind::node_upgrade)).value_or(Upgrade());
  feed(Settled{.version = running_,
               .recorded = before,
               .committed = !committed.empty() && before.attempt == committed,
               .failure = failure,
               .evidence = evidence});
  look();
}

void Component::resume(const std::string& attempt, bool has_stopped) {
  settled_ = true;
  wish_reports_ = true;
  asked_ = attempt;
  feed(Settled{.version = running_,
               .recorded = desk_.find<Upgrade>(key(KeyKind::node_upgrade)).value_or(Upgrade()),
               .upgrading = has_stopped ? Settled::Upgrading::goes : Settled::Upgrading::waits});
  look();
}

void Component::gate_reached(const std::string& id) {
  if (id != machine_.upgrade().attempt) return;
  feed(GateReached{});
  look();
}

void Component::upgrade_ended(const UpgradeEnded& ended) {
  if (ended.command != machine_.upgrade().attempt) {
    take(ended);
    return look();  // look for a desired version that had to wait for the end of this upgrade
  }
  if (ended.ending == UpgradeEnding::committed) return settle(ended.command, "");
  attempt_ended(ended.why, ended.evidence);
}

// Handles the failure of an upgrade to a desired version. Then looks for a command that had to wait
// for the end of that upgrade.
void Component::attempt_ended(const std::string& why, const std::vector<Capsule>& evidence) {
  feed(AttemptEnded{why, evidence});
  look();
}

void Component::feed(const WishEvent& event) {
  for (const WishAction& action : machine_.step(event, time_text())) {
    std::visit([this](const auto& deed) { perform(deed); }, action);
  }
}

void Component::perform(const FetchRelease& fetch) {
  desk_.log(settings_.name + ": desired: " + fetch.desired.version + " (" + fetch.attempt + ")");
  prepare({.version = fetch.desired.version,
           .digest = fetch.desired.digest,
           .downgrade = fetch.desired.downgrade,
           .then = [this, attempt = fetch.attempt](const std::string& error) {
             feed(Fetched{attempt, error, evidence_of_prepare(error)});
           }});
}

void Component::perform(const AskUpgrade& ask) {
  const Fetcher::Order order{
      .version = ask.version, .older_is_wanted = ask.downgrade, .running = running_};
  fetcher_.locate(order, [this, ask](const Fetcher::Result& result) {
    // If another version became the desired one during the search on disk, do not request this
    // upgrade.
    if (!machine_.asks_for(ask.attempt)) return;
    std::string why = result.error;
    if (why.empty()) {
      asked_ = ask.attempt;
      why = hands_.ask({.id = ask.attempt,
                        .executable = result.executable,
                        .version = ask.version,
                        .gate = true,
                        .trial_ms = 0});
    }
    if (!why.empty()) attempt_ended(why, desk_.evidence_of("request", why));
  });
}

void Component::perform(const ConfirmUpgrade& /*confirm*/) {
  confirm_attempt(machine_.upgrade().attempt, "");
}

// Asks the upgrader to confirm this upgrade. If the request cannot be sent, logs the reason, and
// repeats the request until the upgrade has ended. Does not log the reason again if it is equal to
// `before`, the reason of the previous failure.
void Component::confirm_attempt(const std::string& attempt, const std::string& before) {
  if (!machine_.confirms(attempt)) return;
  const std::string why = hands_.confirm(attempt);
  if (why.empty()) return;
  if (why != before) desk_.log(settings_.name + ": cannot confirm: " + why);
  confirm_ =
      desk_.timers.after(send_again, [this, attempt, why] { confirm_attempt(attempt, why); });
}

void Component::perform(const CancelUpgrade& cancel) {
  // If no request for this upgrade was sent to the upgrader yet, the upgrader has nothing to
  // cancel.
  if (asked_ != machine_.upgrade().attempt) return attempt_ended(cancel.reason);
  cancel_attempt(cancel.reason, cancels_max);
}

// Asks the upgrader to cancel the upgrade. If the request cannot be sent, for example because the
// upgrader is not running, repeats it until the upgrade has ended, but at most `tries` times.
void Component::cancel_attempt(const std::string& reason, int tries) {
  if (!machine_.is_cancelling()) return;
  if (tries == 0) return attempt_ended(reason);
  if (hands_.go_back(asked_, reason).empty()) return;
  cancel_ =
      desk_.timers.after(send_again, [this, reason, tries] { cancel_attempt(reason, tries - 1); });
}

void Component::perform(const ReportUpgrade& report) {
  wish_reports_ = true;
  desk_.records.want(key(KeyKind::node_upgrade), write_record(report.upgrade));
  if (report.upgrade.phase == UpgradePhase::done) fetcher_.desire(running_);
}

void Component::perform(const ForgetUpgrade& /*forget*/) {
  desk_.log(settings_.name + ": the store was restored and has lost the last desired version");
  desk_.records.forget(key(KeyKind::node_upgrade));
}

// ---- fetching and testing of releases, both for desired versions and for commands

// Fetches and tests a release, and passes the result to `wanted.then`. First reads the release's
// record from the store, and tries again until the store answers or denies the read.
void Component::prepare(const Wanted& wanted) {
  const auto release = key_if(KeyKind::release, {settings_.name, wanted.version});
  if (!release) return wanted.then("\"" + wanted.version + "\" is no version");
  desk_.store.read({*release},
                   [this, wanted](const Reply<Reading>& reply) { take_release(wanted, reply); });
}

void Component::take_release(const Wanted& wanted, const Reply<Reading>& reply) {
  if (const auto* trouble = std::get_if<Trouble>(&reply)) {
    if (trouble->kind == Trouble::Kind::denied) return wanted.then(trouble->reason);
    const std::uint64_t number = next_read_++;
    reads_[number] = desk_.timers.after(read_release_again, [this, wanted, number] {
      reads_.erase(number);
      prepare(wanted);
    });
    return;
  }
  const Reading& reading = std::get<Reading>(reply);
  if (reading.found.empty()) return wanted.then("release " + wanted.version + " is not published");
  auto release = read_record<Release>(reading.found.front().value);
  if (!release) return wanted.then("the release " + release.reason());
  if (release_digest(release.value()) != wanted.digest)
    return wanted.then("the release that is published is not the one that was ordered");
  fetcher_.fetch({.version = wanted.version,
                  .release = release.value(),
                  .older_is_wanted = wanted.downgrade,
                  .running = running_,
                  .before = commander_ ? commander_->ledger().came_from : ""},
                 [this, wanted](const Fetcher::Result& result) {
                   if (!result.error.empty()) return wanted.then(result.error);
                   test(wanted, result.executable);
                 });
}

// Finds and tests the old release to which an undo of a rollout goes back. That release has run
// here before, so it is on disk and need not be fetched.
void Component::prepare_on_disk(const Wanted& wanted) {
  fetcher_.locate({.version = wanted.version, .older_is_wanted = true, .running = running_},
                  [this, wanted](const Fetcher::Result& result) {
                    if (!result.error.empty()) return wanted.then(result.error);
                    test(wanted, result.executable);
                  });
}

void Component::test(const Wanted& wanted, const std::string& executable) {
  if (!settings_.test_arguments) return wanted.then("");
  fetcher_.test(wanted.version, executable, *settings_.test_arguments,
                [wanted](const Fetcher::Result& result) { wanted.then(result.error); });
}

}  // namespace fleet
