#include "upgrader/core/chronicle.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/form.h"

namespace upgrader {
namespace {

// The clocks are read one after the other. So the difference between wall clock and monotonic clock
// may seem to change by up to this much.
constexpr std::int64_t clock_noise_ms = 2;

// Sets `ms` to the time since `begun`, the beginning of a part of the upgrade. Does nothing if that
// part has not begun, or if `ms` has been set before.
void measure(std::optional<std::int64_t>& ms, const Stamp& begun, const Stamp& now) {
  if (begun && !ms) ms = (now.monotonic_us - begun.monotonic_us) / 1'000;
}

}  // namespace

void Chronicle::note_started(Generation generation, int pid, std::string executable,
                             const Stamp& now) {
  agents_.push_back({generation, pid, std::move(executable), now});
}

void Chronicle::note(const Event& event, const Actions& actions, const State& after,
                     const Stamp& now) {
  const std::int64_t ahead = now.wall_ms - now.monotonic_us / 1'000;
  if (std::abs(ahead - wall_ahead_ms_) > clock_noise_ms) wall_ahead_ms_ = ahead;
  if (const auto* exited = std::get_if<ProcessExited>(&event)) note_exit(exited->generation, now);
  note_upgrade(after, now);
  for (const std::optional<Agent>* agent : {&after.incumbent, &after.candidate}) {
    if (*agent) note_agent(**agent, event, now);
  }
  note_actions(actions, now);
  if (after.proved_good && !good_) good_ = now;
  const Phase phase = phase_of(after);
  if (phase == phase_ || after.pending != Pending::nothing) return;
  phase_ = phase;
  since_ = now;
}

void Chronicle::note_end(int exit_status, const Stamp& now) {
  end_ = UpgraderEnd{exit_status, why_it_ends_, now};
}

void Chronicle::note_answer(PastRequest request) {
  requests_.insert(requests_.begin(), std::move(request));
  if (requests_.size() > chronicle_max) requests_.pop_back();
}

std::optional<ControlRequested> Chronicle::judge(ControlRequest request) {
  if (has_answered(request.name)) return std::nullopt;
  if (request.deed == Deed::upgrade) {
    std::string& id = request.upgrade.id;
    if (id.empty()) {
      do {
        id = "control-{}"_with(++unnamed_upgrades_);
      } while (!what_became_of(id).empty());
    } else if (std::string known = what_became_of(id); !known.empty()) {
      note_answer({request.name, std::string(name_of(request.deed)), true, std::move(known)});
      return std::nullopt;
    }
  }
  return request;
}

bool Chronicle::has_answered(const std::string& name) const {
  return std::any_of(requests_.begin(), requests_.end(),
                     [&name](const PastRequest& request) { return request.name == name; });
}

std::string Chronicle::what_became_of(const std::string& id) const {
  if (upgrade_ && upgrade_->id == id) return "under way";
  for (const UpgradePast& past : endings_) {
    if (past.id != id) continue;
    const std::string_view outcome = name_of(past.ending.outcome);
    if (!past.ending.failure) return std::string(outcome);
    return "{}: {}"_with(outcome, past.ending.failure->reason);
  }
  return "";
}

const AgentPast* Chronicle::find(Generation generation) const {
  for (const AgentPast& agent : agents_) {
    if (agent.generation == generation) return &agent;
  }
  return nullptr;
}

void Chronicle::note_exit(Generation generation, const Stamp& now) {
  const AgentPast* const gone = find(generation);
  if (gone == nullptr) return;
  // If the newest agent is the candidate, measure how long the old agent and the candidate both
  // ran. If the newest agent is a standby (a fallback, started in advance), measure nothing.
  if (upgrade_ && agents_.size() > 1 && agents_.back().generation == upgrade_->generation) {
    measure(upgrade_->overlap_ms, agents_.back().started, now);
  }
  if (gone->activated) vacant_since_ = now;
  std::erase_if(agents_,
                [generation](const AgentPast& agent) { return agent.generation == generation; });
}

void Chronicle::note_upgrade(const State& after, const Stamp& now) {
  const auto& under_way = after.upgrade;
  if (!upgrade_ && under_way && under_way->generation) {
    upgrade_.emplace();
    upgrade_->id = under_way->id;
    upgrade_->origin = under_way->origin;
    upgrade_->generation = *under_way->generation;
    upgrade_->accepted = now;
    upgrade_->from.version = under_way->previous_version;
    upgrade_->to.executable = checked_;
    // The record has the executables before (`from`) and after (`to`) the upgrade. `checked_`, the
    // executable that was checked last, is usually that of the new version, so it belongs in `to`.
    // But if the previous version is started at boot because AGENT has failed (--previous),
    // `checked_` is the failed executable, and belongs in `from`.
    if (under_way->boot) {
      upgrade_->from.version = under_way->boot->version;
      std::swap(upgrade_->from.executable, upgrade_->to.executable);
    }
    const AgentPast* const active = after.incumbent ? find(after.incumbent->generation) : nullptr;
    auto& side = under_way->boot ? upgrade_->to : upgrade_->from;
    if (active != nullptr) side.executable = active->executable;
  }
  if (!upgrade_) return;
  const bool gate = under_way && under_way->waits_for_confirm;
  if (gate && !upgrade_->gate_begun) upgrade_->gate_begun = now;
  if (!gate) measure(upgrade_->gate_ms, upgrade_->gate_begun, now);
  const bool over = !under_way || under_way->failure;
  if (over) measure(upgrade_->trial_ms, upgrade_->activated, now);
}

void Chronicle::note_agent(const Agent& agent, const Event& event, const Stamp& now) {
  auto* const past = const_cast<AgentPast*>(find(agent.generation));
  if (past == nullptr) return;
  const auto* received = std::get_if<MessageReceived>(&event);
  if (received != nullptr && received->generation == agent.generation && agent.greeted) {
    const auto* status = std::get_if<agent_protocol::Status>(&received->message);
    if (status != nullptr) past->status = status->text;
  }
  const bool activated_now = agent.activated && !past->activated;
  if (activated_now) past->activated = now;
  if (!upgrade_) return;
  if (activated_now) {
    // The gap is the time without an active agent. An upgrade that fails on trial has two gaps:
    // before the new version and before the fallback. The later gap overwrites the earlier one.
    if (vacant_since_) upgrade_->gap_us = now.monotonic_us - vacant_since_.monotonic_us;
  }
  if (agent.generation != upgrade_->generation) {
    if (agent.told == agent_protocol::StopReason::upgrade) note_stop(agent, now);
    return;
  }
  upgrade_->to.version = agent.version;
  if (activated_now) upgrade_->activated = now;
  if (!agent.ready || upgrade_->ready) return;
  upgrade_->ready = now;
  measure(upgrade_->start_ms, past->started, now);
}

// Records when the old agent was sent its `stop` for the upgrade, and when it confirmed the stop.
void Chronicle::note_stop(const Agent& incumbent, const Stamp& now) {
  if (!upgrade_->stop_sent) upgrade_->stop_sent = now;
  if (!incumbent.stopped || upgrade_->stopped) return;
  upgrade_->stopped = now;
  measure(upgrade_->stop_ms, upgrade_->stop_sent, now);
}

void Chronicle::note_actions(const Actions& actions, const Stamp& now) {
  for (const Action& action : actions) {
    if (const auto* ending = std::get_if<RecordEnding>(&action)) end_upgrade(*ending, now);
    if (const auto* answer = std::get_if<Answer>(&action)) {
      note_answer({answer->name, std::string(name_of(answer->deed)), answer->refusal.empty(),
                   answer->refusal});
    }
    const auto* line = std::get_if<Log>(&action);
    if (line != nullptr) note_why_it_ends(line->text.substr(0, line->why_it_ends));
  }
}

void Chronicle::end_upgrade(const RecordEnding& ending, const Stamp& now) {
  if (!upgrade_) return;
  measure(upgrade_->trial_ms, upgrade_->activated, now);
  upgrade_->ended = now;
  upgrade_->ending = ending;
  endings_.insert(endings_.begin(), *std::exchange(upgrade_, std::nullopt));
  if (endings_.size() > chronicle_max) endings_.pop_back();
}

}  // namespace upgrader
