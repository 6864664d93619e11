#include "tests/support/watcher.h"

#include <algorithm>

#include "agent-protocol/cpp/wire/codec.h"
#include "upgrader/core/invariants.h"

namespace upgrader::test {

using namespace agent_protocol;

Generation Watcher::active() const {
  for (const auto& [generation, process] : alive_) {
    if (process.activated) return generation;
  }
  return 0;
}

// Returns true if an agent other than `generation` is active, or has been sent an `activate` that
// is not fully written yet.
bool Watcher::is_anothers(Generation generation) const {
  return std::any_of(alive_.begin(), alive_.end(), [generation](const auto& entry) {
    return entry.first != generation && (entry.second.promised || entry.second.activated);
  });
}

void Watcher::see(const Event& event, const Actions& actions, Time now) {
  const auto* const outcome = std::get_if<Outcome>(&event);
  if (asked_ && !outcome) broken("Answers: a request was not answered");
  if (owed_ && !outcome) broken("Answers: an operator's request was not answered");
  if (!outcome) asked_.reset();
  if (!outcome) operator_asks_ = false;
  if (const auto* request = std::get_if<ControlRequested>(&event); request && !exited_) {
    operator_asks_ = true;
    owed_ = request->name;
    if (request->deed == Deed::shutdown) shutdown_ = true;
  }
  see_event(event, now);
  if (outcome != nullptr) see_acceptance(*outcome, actions);
  note_pending(actions);
  for (const Action& action : actions) {
    if (const auto* record = std::get_if<RecordEnding>(&action)) see_record(*record, actions);
    if (const auto* answer = std::get_if<Answer>(&action)) {
      if (owed_ != answer->name) broken("Answers: an answer that no operator waits for");
      owed_.reset();
    }
    see_action(action, now);
  }
  check_quiet(event, actions);
  check_standby();
}

void Watcher::see_event(const Event& event, Time now) {
  if (std::holds_alternative<StopRequested>(event)) shutdown_ = true;
  if (std::holds_alternative<QuitRequested>(event)) quit_ = true;
  if (const auto* message = std::get_if<MessageReceived>(&event)) {
    see_message(message->generation, message->message, message->posthumous, now);
  }
  if (const auto* refused = std::get_if<MessageRefused>(&event)) {
    const auto* malformed = std::get_if<Malformed>(&refused->what);
    const bool owed = malformed != nullptr && malformed->id &&
                      alive_.contains(refused->generation) &&
                      alive_[refused->generation].activated && !alive_[refused->generation].killed;
    if (owed) asked_ = malformed->id;
  }
  if (const auto* closed = std::get_if<OutputClosed>(&event)) {
    const auto found = alive_.find(closed->generation);
    if (found != alive_.end() && !found->second.activated && !found->second.promised) {
      found->second.failed = true;
    }
  }
  if (const auto* closed = std::get_if<InputClosed>(&event)) see_not_reached(closed->generation);
  if (const auto* written = std::get_if<ActivateWritten>(&event)) {
    see_activated(written->generation);
  }
  if (const auto* exited = std::get_if<ProcessExited>(&event)) see_exit(exited->generation);
  if (const auto* outcome = std::get_if<Outcome>(&event)) see_outcome(*outcome);
}

void Watcher::note_pending(const Actions& actions) {
  pending_ = actions.empty() ? Pending::nothing : pending_on(actions.back());
  pending_of_ = 0;
  if (pending_ == Pending::spawn) pending_of_ = std::get<Spawn>(actions.back()).generation;
  if (pending_ == Pending::activate) pending_of_ = std::get<Send>(actions.back()).generation;
}

void Watcher::see_outcome(const Outcome& outcome) {
  if (pending_ == Pending::activate) {
    if (outcome.sent == Sent::written) see_activated(pending_of_);
    if (outcome.sent == Sent::lost) see_not_reached(pending_of_);
  }
  if (outcome.refused) return;
  if (pending_ == Pending::relink_proof) proved_ = asked_proof_;
  if (pending_ == Pending::spawn) {
    if (pending_of_ <= last_) broken("a generation is used twice");
    last_ = pending_of_;
    alive_[last_] = Process{};
    if (alive_.size() > 2) broken("S9: more than two agents");
  }
}

void Watcher::see_message(Generation generation, const AgentMessage& message, bool posthumous,
                          Time now) {
  const auto found = alive_.find(generation);
  if (found == alive_.end()) return;
  Process& process = found->second;
  if (std::holds_alternative<Stopped>(message) && process.told && !process.stopped) {
    process.stopped = true;
    process.state = std::get<Stopped>(message).state;
    process.kill_from = now + exit_grace_;
    if (exit_grace_ == Duration::zero()) process.kill_from.reset();
  }
  if (posthumous || process.killed) return;
  if (const auto* hello = std::get_if<Hello>(&message); hello != nullptr && !process.greeted) {
    process.greeted = true;
    process.promises_word = !hello->features.empty();
  }
  if (std::holds_alternative<Healthy>(message)) process.owes_word = false;
  if (std::holds_alternative<Ready>(message) && process.greeted) process.ready = true;
  if (const auto* upgrade = std::get_if<Upgrade>(&message)) {
    if (process.activated) asked_ = upgrade->id;
  }
  if (const auto* extend = std::get_if<Extend>(&message)) {
    const bool counts = process.told && !process.stopped && process.kill_from;
    if (counts) process.kill_from = std::max(*process.kill_from, now + Duration(extend->ms));
  }
  const auto* cancel = std::get_if<Cancel>(&message);
  if (cancel != nullptr && process.told && !process.stopped && !shutdown_ &&
      process.stop_id == cancel->id) {
    process.told = false;
    process.stop_id.reset();
    process.kill_from.reset();
  }
}

void Watcher::see_exit(Generation generation) {
  const auto found = alive_.find(generation);
  if (found == alive_.end()) return;
  const Process& process = found->second;
  if (process.activated && !process.told && !process.on_trial) leaving_ = true;
  if (process.activated) left_ = Left{process.stopped, process.state};
  alive_.erase(found);
}

void Watcher::see_action(const Action& action, Time now) {
  if (exited_) broken("something is done after the exit");
  if (const auto* send = std::get_if<Send>(&action)) {
    see_send(send->generation, send->message, now);
  } else if (const auto* close = std::get_if<CloseInput>(&action)) {
    const auto found = alive_.find(close->generation);
    if (found == alive_.end() || !found->second.promised) broken("an input is closed for nothing");
    see_not_reached(close->generation);
  } else if (const auto* kill = std::get_if<Kill>(&action)) {
    see_kill(kill->generation, now);
  } else if (const auto* terminate = std::get_if<Terminate>(&action)) {
    const auto found = alive_.find(terminate->generation);
    if (found == alive_.end()) broken("S6: a signal to nobody");
    if (found != alive_.end() && found->second.greeted) broken("SIGTERM to one that said hello");
  } else if (const auto* prove = std::get_if<ProveRelink>(&action)) {
    asked_proof_ = prove->program;
    proved_.reset();
  } else if (const auto* relink = std::get_if<Relink>(&action)) {
    if (active() == 0) broken("S1b: the link is moved to one that has not got its activate");
    // Before the order Relink, which makes the link name a program, the order ProveRelink must have
    // synced this program to disk. The exception is the Relink of a fallback at a boot: it leaves
    // the link of --previous unchanged, and its program was synced when it was committed.
    if (relink->moves_previous && proved_ != relink->program)
      broken("the link is to name what has not been made durable");
  } else if (const auto* pass = std::get_if<PassSignal>(&action)) {
    if (pass->generation != active()) broken("S6: a signal is passed to one that is not active");
  } else if (std::holds_alternative<Spawn>(action)) {
    if (shutdown_ || quit_) broken("S8: something is started after SIGTERM");
    if (leaving_) broken("something is started though the active agent has exited");
  } else if (std::holds_alternative<Exit>(action)) {
    if (!alive_.empty()) broken("the upgrader exits while an agent lives");
    const bool asked_for = shutdown_ || quit_;
    if (std::get<Exit>(action).status == 0 && !asked_for && !served_) {
      broken("it ends with status 0, though nothing has ever served");
    }
    exited_ = true;
    if (!recorded_) broken("Answers: the upgrader exits, and an upgrade has no ending");
    accepted_.reset();
  }
}

void Watcher::see_send(Generation generation, const UpgraderMessage& message, Time now) {
  const auto found = alive_.find(generation);
  if (found == alive_.end()) return broken("S6: a message to nobody");
  Process& process = found->second;
  if (const auto* activate = std::get_if<Activate>(&message)) {
    see_activate(generation, process, *activate);
  }
  if (const auto* stop = std::get_if<Stop>(&message)) see_stop(generation, process, *stop, now);
  if (const auto* accepted = std::get_if<Accepted>(&message)) {
    see_answer(accepted->id, "accepted");
    if (accepted_) broken("Answers: two upgrades are under way");
    accepted_ = accepted->id;
  }
  if (const auto* failed = std::get_if<UpgradeFailed>(&message)) {
    if (asked_ == failed->failure.id) {
      see_answer(failed->failure.id, "upgrade_failed");
    } else if (by_agent_) {
      see_ending(failed->failure.id, "upgrade_failed");
    }
    if (failed->failure.stage != Stage::request) proved_.reset();
    if (failed->failure.stage != Stage::shutdown && alive_.size() > 1 &&
        failed->failure.stage != Stage::request) {
      broken("upgrade_failed is sent before the candidate has been reaped");
    }
  }
  if (std::holds_alternative<CandidateReady>(message) && by_control_) {
    broken("the agent is asked about an operator's upgrade");
  }
  if (const auto* committed = std::get_if<Committed>(&message)) {
    proved_.reset();
    if (!process.on_trial) broken("committed is sent to one that is not on trial");
    if (!process.activated) broken("S1b: committed is sent to one that has not got its activate");
    process.on_trial = false;
    if (by_agent_) see_ending(committed->id, "committed");
  }
  if (const auto* welcome = std::get_if<Welcome>(&message)) {
    if (welcome->role == Role::candidate) process.on_trial = true;
    process.fallback = welcome->role == Role::fallback;
    if (process.fallback && alive_.size() == 1) proved_.reset();
    const bool at_boot = welcome->failure && welcome->failure->failure.id == "boot";
    if (at_boot) process.on_trial = true;
    if (welcome->failure && !at_boot) process.failed_id = welcome->failure->failure.id;
    if (process.fallback && alive_.size() > 1 && (active() == 0 || !alive_[active()].on_trial)) {
      broken("S9: a fallback beside another that is not on trial");
    }
  }
}

void Watcher::see_activate(Generation generation, Process& process, const Activate& activate) {
  if (is_anothers(generation)) broken("S1: two agents are active");
  if (process.activated || process.promised) broken("S2: activated twice");
  if (!process.ready) broken("S2: activated before it was ready");
  if (process.killed || process.failed) broken("S2: activated though it has failed");
  if (winding_down()) broken("S8: activated though the upgrader is stopping");
  const Left left = left_.value_or(Left{});
  if (activate.clean != left.clean || activate.state != left.state) {
    broken("S1b: what the agent that was active last left is lost, or is another's");
  }
  if (activate.trial_ms.has_value() != activate.commit.has_value() ||
      (activate.trial_ms && !process.on_trial)) {
    broken("Answers: an agent is told of half a trial, or of one that it is not on");
  }
  if (activate.failure && (!process.fallback || process.failed_id)) {
    broken("Answers: an agent is told of a failure once more, or of another's");
  }
  if (activate.failure) process.failed_id = activate.failure->failure.id;
  if (process.fallback && !process.on_trial && !process.failed_id) {
    broken("Answers: a fallback that has the work is not told why");
  }
  process.promised = true;
}

// Records that the agent's `activate` has been fully written. This message contained the `state`
// that the last agent sent with `stopped`, so no later agent may get that state.
void Watcher::see_activated(Generation generation) {
  const auto found = alive_.find(generation);
  if (found == alive_.end() || !found->second.promised) return;
  found->second.promised = false;
  found->second.activated = true;
  const bool is_candidate = found->second.on_trial && !found->second.fallback;
  found->second.owes_word = found->second.promises_word && !is_candidate;
  if (by_agent_ && found->second.failed_id) see_ending(*found->second.failed_id, "failure");
  found->second.failed_id.reset();
  found->second.fallback = false;
  left_.reset();
  served_ = true;
}

void Watcher::see_not_reached(Generation generation) {
  const auto found = alive_.find(generation);
  if (found == alive_.end() || found->second.activated) return;
  found->second.promised = false;
  found->second.failed = true;
}

void Watcher::see_stop(Generation generation, Process& process, const Stop& stop, Time now) {
  if (generation != active()) broken("S3: a stop to one that is not active");
  const bool again = shutdown_ && stop.reason == StopReason::shutdown && stop.deadline_ms > 0;
  if (process.told && !again) broken("S3: a second stop");
  if (process.killed || process.stopped) broken("S3: a stop to one that has stopped");
  switch (stop.reason) {
    case StopReason::upgrade: {
      const auto held = std::find_if(alive_.begin(), alive_.end(), [](const auto& entry) {
        return !entry.second.activated && !entry.second.killed;
      });
      if (alive_.size() == 2 && (held == alive_.end() || !held->second.ready)) {
        broken("S3: a stop for an upgrade whose candidate is not ready");
      }
      if (winding_down()) broken("S3: a stop for an upgrade while the upgrader stops");
      break;
    }
    case StopReason::rollback:
      if (!process.on_trial) broken("S3: a roll-back of one that is not on trial");
      break;
    case StopReason::shutdown:
      if (!shutdown_) broken("S3: a shutdown that nobody asked for");
      break;
  }
  const Time limit = now + Duration(stop.deadline_ms);
  if (!process.told || !process.kill_from) process.kill_from = limit;
  process.told = true;
  process.stop_id = stop.id;
}

void Watcher::see_kill(Generation generation, Time now) {
  const auto found = alive_.find(generation);
  if (found == alive_.end()) return broken("S6: SIGKILL to nobody");
  Process& process = found->second;
  if (process.killed) broken("killed twice");
  process.killed = true;
  process.promised = false;
  if (!process.activated || quit_) return;
  if (process.owes_word && !process.told && !process.on_trial) {
    leaving_ = true;
    return;
  }
  if (!process.kill_from || now < *process.kill_from) {
    broken("S5: an active agent is killed before its deadline");
  }
}

void Watcher::see_answer(const std::string& id, const char* answer) {
  // An answer may be sent to an agent only in the step that handles this agent's request. For
  // example, an upgrade that a signal has requested has no answer.
  if (!asked_ || *asked_ != id) return broken(std::string("Answers: unasked ") + answer + " " + id);
  asked_.reset();
}

void Watcher::see_ending(const std::string& id, const char* ending) {
  if (!accepted_ || *accepted_ != id) {
    return broken(std::string("Answers: a second ending ") + ending + " of " + id);
  }
  accepted_.reset();
}

// Records that an upgrade is accepted, if this step accepts one:
// * A parallel upgrade is accepted when its candidate has been started.
// * A sequential upgrade is accepted when its executable has been checked and, if the supervisor
//   has ordered PutLinkBack, the link has been put back.
// An agent, an operator or a signal may have requested the upgrade.
void Watcher::see_acceptance(const Outcome& outcome, const Actions& actions) {
  const bool done = !outcome.refused;
  if (pending_ == Pending::check && done) checked_ = outcome.way_back;
  if (pending_ == Pending::way_back && done) checked_ = true;
  if (!checked_) return;
  const bool runs = pending_ == Pending::spawn && done;
  const bool goes_on = (pending_ == Pending::check || pending_ == Pending::link_back) && done;
  const bool sequential =
      goes_on && std::none_of(actions.begin(), actions.end(), [](const Action& action) {
        return std::holds_alternative<Spawn>(action) || std::holds_alternative<PutLinkBack>(action);
      });
  if ((pending_ == Pending::spawn || pending_ == Pending::link_back) && !done) checked_ = false;
  if (!runs && !sequential) return;
  if (!recorded_) broken("Answers: an upgrade is accepted before another has its ending");
  checked_ = recorded_ = false;
  by_control_ = operator_asks_;
  by_agent_ = std::any_of(actions.begin(), actions.end(), [](const Action& action) {
    const auto* send = std::get_if<Send>(&action);
    return send != nullptr && std::holds_alternative<Accepted>(send->message);
  });
  if (by_agent_ && by_control_) broken("Answers: an operator's upgrade is accepted to the agent");
}

// Checks that each accepted upgrade has exactly one recorded ending. The message `committed` must
// be sent if and only if the recorded ending is `committed`.
void Watcher::see_record(const RecordEnding& record, const Actions& actions) {
  if (recorded_) broken("Answers: a second ending is recorded");
  recorded_ = true;
  const bool committed = std::any_of(actions.begin(), actions.end(), [](const Action& action) {
    const auto* send = std::get_if<Send>(&action);
    return send != nullptr && std::holds_alternative<Committed>(send->message);
  });
  if (committed != (record.outcome == UpgradeOutcome::committed)) {
    broken("Answers: the ending that is recorded is another than the agent is told");
  }
  if (record.failure.has_value() == committed) broken("Answers: an ending without its reason");
  if (record.outcome == UpgradeOutcome::ended) {
    leaving_ = true;
    return;
  }
  if (winding_down()) broken("Answers: the upgrader stops, and with it the upgrade has not ended");
  if (active() == 0) broken("Answers: an upgrade has ended, and nobody is active");
}

// Checks rule S9 of tests/INVARIANTS.md: beside an active agent, a standby (an agent of the old
// version that can replace it) may live only if the active agent is on trial.
void Watcher::check_standby() {
  const Generation serving = active();
  if (serving == 0 || alive_.size() == 1 || alive_[serving].on_trial || winding_down()) return;
  for (const auto& [generation, process] : alive_) {
    const bool standby = generation != serving && process.fallback && !process.killed;
    if (standby) broken("S9: a standby beside one that is not on trial");
  }
}

// Checks rule S4 of tests/INVARIANTS.md: a message of a candidate must not affect the active agent,
// except that the active agent may be sent a message about the upgrade.
void Watcher::check_quiet(const Event& event, const Actions& actions) {
  const auto* message = std::get_if<MessageReceived>(&event);
  const auto* refused = std::get_if<MessageRefused>(&event);
  const Generation speaker = message ? message->generation : refused ? refused->generation : 0;
  if (speaker == 0 || active() == 0 || speaker == active()) return;
  for (const Action& action : actions) {
    const auto* send = std::get_if<Send>(&action);
    if (send == nullptr || send->generation != active()) continue;
    const auto& sent = send->message;
    const bool news =
        std::holds_alternative<Stop>(sent) || std::holds_alternative<Activate>(sent) ||
        std::holds_alternative<Committed>(sent) || std::holds_alternative<CandidateReady>(sent) ||
        std::holds_alternative<CandidateLost>(sent) || std::holds_alternative<UpgradeFailed>(sent);
    const bool to_speaker = send->generation == speaker;
    if (!news && !to_speaker) broken("S4: a candidate reaches the active agent");
  }
}

void Watcher::let_time_pass(Generation generation) {
  for (auto& [its, process] : alive_) {
    if (process.kill_from) process.kill_from = its == generation ? Time(0) : Time(1);
  }
}

void Watcher::renumber(const std::map<Generation, Generation>& ranks) {
  std::map<Generation, Process> moved;
  for (auto& [generation, process] : alive_)
    moved.emplace(ranks.at(generation), process);
  alive_ = std::move(moved);
  last_ = std::count_if(ranks.begin(), ranks.end(),
                        [this](const auto& entry) { return entry.first <= last_; });
}

std::string Watcher::print() const {
  std::string text;
  for (const auto& [generation, process] : alive_) {
    text += std::to_string(generation) + ":";
    for (const bool flag :
         {process.greeted, process.ready, process.promised, process.activated, process.on_trial,
          process.told, process.stopped, process.killed, process.failed, process.promises_word,
          process.owes_word, process.fallback}) {
      text += flag ? '1' : '0';
    }
    if (process.failed_id) text += '!' + *process.failed_id;
    if (process.state) text += '+';
    text += process.stop_id.value_or("");
    // The `@` separates kill_from from stop_id, which may end with digits.
    text += process.kill_from ? "@" + std::to_string(process.kill_from->count()) : "-";
    text += ' ';
  }
  text += asked_.value_or("") + "/" + accepted_.value_or("");
  text += checked_ ? " checked" : "";
  text += recorded_     ? ""
          : by_agent_   ? " open"
          : by_control_ ? " open operator's"
                        : " open signal's";
  text += proved_ ? " proved" : "";
  if (left_) text += std::string(left_->clean ? " clean" : " unclean") + (left_->state ? "+" : "");
  text += shutdown_ ? " shutdown" : "";
  text += quit_ ? " quit" : "";
  text += leaving_ ? " leaving" : "";
  text += served_ ? " served" : "";
  text += exited_ ? " exited" : "";
  return text;
}

}  // namespace upgrader::test
