// What NodeAgent hears of the upgrader, and says to it.
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "fleet/agent/node_agent.h"

namespace fleet {
namespace {

// To give the lease back before the end, so that nobody waits for it to run out.
constexpr std::chrono::milliseconds farewell_max{500};

std::string failure_words(const agent_protocol::Agent::Failure& failure) {
  return failure.stage + ": " + failure.reason;
}

}  // namespace

void NodeAgent::hear_upgrader() {
  while (const auto event = agent_.next()) {
    std::visit([this](const auto& happened) { take(happened); }, *event);
  }
}

// A first one, or a fallback, is wanted whether the store can be reached or not.
void NodeAgent::take(const Agent::Welcome& welcome) {
  welcomed_ = true;
  role_ = welcome.role;
  generation_ = welcome.generation;
  if (welcome.failure) failure_ = failure_words(*welcome.failure);
  become_ready();
}

// A candidate is ready when its own record stands in the store: who sees it may rely on that it
// has got there.
void NodeAgent::become_ready() {
  if (!welcomed_ || said_ready_) return;
  const bool is_seen = lease_.lease() != 0 && presence_.stand();
  if (role_ == Agent::Role::candidate && !is_seen) return;
  said_ready_ = true;
  if (!agent_.ready()) desk_.log("cannot say that it is ready: " + agent_.error());
  keep_instance();
}

// What the one before us has begun to obey it has written down before it ended.
void NodeAgent::take(const Agent::Activate& /*activate*/) {
  own_.remember();
  activated_ = true;
  look();
}

void NodeAgent::take(const Agent::Stop& /*stop*/) {
  if (std::exchange(stopping_, true)) return;
  lease_.end();
  end_ = timers_.after(farewell_max, [this] { stop_now(); });
}

// Whatever is being fetched is left: it is complete, or not there.
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
  own_.upgrade_failed(failed.failure.id, failure_words(failed.failure));
}

void NodeAgent::take(const Agent::Committed& committed) {
  committed_ = committed.id;
  if (desk_.active != 0) settle();
  look();
}

void NodeAgent::take(const Agent::Error& error) {
  desk_.log("the upgrader: " + error.reason);
  if (error.about == "upgrade")
    own_.upgrade_failed(own_.upgrade().attempt, "the upgrader: " + error.reason);
}

// ---- what is asked of it

Component::Hands NodeAgent::own_hands() {
  return {.ask = [this](const std::string& attempt,
                        const std::string& executable) { return ask(attempt, executable); },
          .confirm =
              [this](const std::string& attempt) {
                return agent_.confirm(attempt) ? std::string() : agent_.error();
              },
          .cancel =
              [this](const std::string& attempt, const std::string& reason) {
                return agent_.cancel(attempt, reason) ? std::string() : agent_.error();
              }};
}

std::string NodeAgent::ask(const std::string& attempt, const std::string& executable) {
  const Agent::Upgrade request{.id = attempt,
                               .executable = executable,
                               .mode = Agent::Mode::parallel,
                               .gate = Agent::Gate::confirm,
                               .commit = Agent::CommitRule::healthy,
                               .trial = std::chrono::seconds(options_.trial_s)};
  return agent_.request_upgrade(request) ? "" : "cannot ask: " + agent_.error();
}

}  // namespace fleet
