// Implements the part of NodeAgent that exchanges messages with fleet-agent's own upgrader.
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "fleet/agent/failure_meaning.h"
#include "fleet/agent/node_agent.h"

namespace fleet {
namespace {

// How long this process lives on after the upgrader's `stop`. Meanwhile the store can end this
// process's lease and erase the record `instance`.
constexpr std::chrono::milliseconds goodbye_time_max{500};

// The pause before the ledger (the commands that were begun) is read again after a failure, such as
// a lack of file descriptors.
constexpr std::chrono::milliseconds read_again{1'000};

}  // namespace

void NodeAgent::hear_upgrader() {
  while (const auto event = agent_.next()) {
    std::visit([this](const auto& happened) { take(happened); }, *event);
  }
}

// Handles the upgrader's `welcome`, which says in which role this process runs. The first agent and
// a fallback (the old version after a failed upgrade) send `ready` immediately, since they must run
// even if the store cannot be reached.
void NodeAgent::take(const Agent::Welcome& welcome) {
  welcomed_ = true;
  role_ = welcome.role;
  generation_ = welcome.generation;
  failure_ = welcome.failure;
  become_ready();
}

// Sends `ready` once. A candidate (the new version in an upgrade) first waits until its `instance`
// record is in the store, which proves that it can reach the store.
void NodeAgent::become_ready() {
  if (!welcomed_ || said_ready_) return;
  const bool is_seen = lease_.lease() != 0 && presence_.stand();
  if (role_ == Agent::Role::candidate && !is_seen) return;
  said_ready_ = true;
  if (!agent_.ready()) desk_.log("cannot say that it is ready: " + agent_.error());
  keep_instance();
}

// Handles the upgrader's `activate`: begins to obey commands and desired versions. The old process
// has already exited, and its ledger on disk says which commands it had begun.
void NodeAgent::take(const Agent::Activate& /*activate*/) {
  activated_at_ = timers_.now();
  read_ledger();
  activated_ = true;
  look();
}

void NodeAgent::read_ledger() {
  const auto ledger = own_.ledger_on_disk();
  if (ledger) ledger_ = ledger.value();
  const std::string why = ledger ? "" : ledger.reason();
  if (std::exchange(unreadable_, why) == why || why.empty()) return;
  desk_.log("no command is obeyed: " + why);
}

// Tries again every second to read the ledger (the commands that were begun), if it could not be
// read before. After a success, obeys commands to upgrade fleet-agent itself.
void NodeAgent::read_ledger_again() {
  if (unreadable_.empty() || read_ != nullptr) return;
  read_ledger();
  if (unreadable_.empty()) {
    say_healthy();
    begin_own();
    return keep_instance();
  }
  read_ = timers_.after(read_again, [this] {
    read_ = nullptr;
    look();
  });
}

void NodeAgent::take(const Agent::Stop& /*stop*/) {
  if (std::exchange(stopping_, true)) return;
  desk_.active = 0;  // from now on, this process begins no new work
  own_.leave();
  for (const auto& neighbour : neighbours_)
    neighbour->leave();
  plans_.kill_hooks();
  lease_.end();
  end_ = timers_.after(goodbye_time_max, [this] { stop_now(); });
}

// Sends `stopped` and exits. A download may be under way: an incomplete one is never mistaken for a
// release.
void NodeAgent::stop_now() {
  const bool said = agent_.stopped();
  ::_exit(said ? 0 : 1);
}

void NodeAgent::take(const Agent::Accepted& /*accepted*/) {}

void NodeAgent::take(const Agent::CandidateReady& ready) {
  own_.gate_reached(ready.id);
}

void NodeAgent::take(const Agent::CandidateLost& lost) {
  desk_.log("upgrade " + lost.id + " is lost: " + lost.reason);
}

void NodeAgent::take(const Agent::UpgradeFailed& failed) {
  desk_.log("upgrade " + failed.failure.id + " failed: " + failure_words(failed.failure));
  if (!own_.has_begun()) return;
  own_.upgrade_ended({.command = failed.failure.id,
                      .ending = ending_of(failed.failure, *own_.ledger()),
                      .why = failure_words(failed.failure),
                      .expired = is_expired(failed.failure),
                      .evidence = evidence_of(failed.failure, desk_.evidence)});
}

void NodeAgent::take(const Agent::Committed& committed) {
  committed_ = committed.id;
  if (own_.has_begun()) {
    own_.take(UpgradeEnded{.command = committed.id, .ending = UpgradeEnding::committed});
    if (!own_.is_settled()) own_.settle(committed.id, "");
  }
  look();
}

void NodeAgent::take(const Agent::Error& error) {
  desk_.log("the upgrader: " + error.reason);
  if (!own_.has_begun()) return;
  // If the error is about `cancel`, the upgrader has refused to cancel the upgrade, since the old
  // version is already stopping.
  if (error.about == "cancel") own_.take(NotTold{own_.ledger()->upgrade.id});
  if (error.about != "upgrade") return;
  own_.upgrade_ended({.command = own_.asked(),
                      .why = "the upgrader: " + error.reason,
                      .evidence = desk_.evidence_of("request", error.reason)});
}

// ---- requests to the upgrader

Component::Hands NodeAgent::own_hands() {
  return {
      .ask = [this](const Component::Request& request) { return ask(request); },
      .confirm =
          [this](const std::string& id) {
            return agent_.confirm(id) ? std::string() : agent_.error();
          },
      .commit =
          [this](const std::string&) { return agent_.healthy() ? std::string() : agent_.error(); },
      .go_back = [this](const std::string& id,
                        const std::string& reason) { return go_back(id, reason); }};
}

std::string NodeAgent::ask(const Component::Request& request) {
  const bool is_rollout = request.trial_ms != 0;
  const Agent::Upgrade upgrade{
      .id = request.id,
      .executable = request.executable,
      .mode = Agent::Mode::parallel,
      .gate = request.gate ? Agent::Gate::confirm : Agent::Gate::none,
      .commit = Agent::CommitRule::healthy,
      .trial = is_rollout ? std::chrono::milliseconds(request.trial_ms)
                          : std::chrono::milliseconds(std::chrono::seconds(options_.trial_s))};
  return agent_.request_upgrade(upgrade) ? "" : "cannot ask: " + agent_.error();
}

// Makes the upgrader undo the upgrade. During the trial, this process is the new version, so it
// sends `unfit`. Before the trial, this process is the old version, so it sends `cancel`.
std::string NodeAgent::go_back(const std::string& id, const std::string& reason) {
  const bool told = is_on_trial() ? agent_.unfit(reason) : agent_.cancel(id, reason);
  return told ? "" : agent_.error();
}

}  // namespace fleet
