#include "tools/upgraderctl/core/conversation.h"

#include <algorithm>
#include <utility>

#include "base/shown.h"
#include "base/status_path.h"
#include "tools/upgraderctl/core/options.h"
#include "tools/upgraderctl/core/sentences.h"

namespace upgraderctl {
namespace {

// Returns the executable of the upgrade `id`, or an empty string if the status does not show this
// upgrade.
std::string executable_of(const std::string& id, const Status& status) {
  if (const Ending* ending = find_ending(status, id)) return ending->to.executable;
  if (!is_under_way(status, id)) return {};
  if (status.candidate && status.candidate->role == "candidate")
    return status.candidate->executable;
  if (status.phase == "trial" && status.active) return status.active->executable;
  return {};
}

// The upgrader has refused to cancel the upgrade `id` of a rehearsal. Returns true if the upgrade
// is still under way, because somebody has confirmed it. Returns false if the upgrade has failed,
// even if its new agent still runs.
bool is_beyond_gate(const Status& status, const std::string& id) {
  return is_under_way(status, id) && status.phase != "abandoning" &&
         status.phase != "shutting_down";
}

using Goal = Errand::Goal;

void earliest(std::optional<Duration>& next, const std::optional<Duration>& other) {
  if (other && (!next || *other < *next)) next = other;
}

bool has_come(const std::optional<Duration>& time, Duration now) {
  return time && *time <= now;
}

}  // namespace

std::optional<std::string> other_executable(const Executable& asked, const std::string& id,
                                            const Status& status) {
  const std::string known = executable_of(id, status);
  if (known.empty() || upgrader::is_mangled(known)) return std::nullopt;
  if (known == asked.named || known == asked.resolved) return std::nullopt;
  return "the id " + shown(id) + " belongs to an upgrade to " + shown(known) + ", not to " +
         shown(asked.named);
}

Orders Conversation::start(Duration now) {
  now_ = now;
  if (errand_.timeout && *errand_.timeout > Duration{0}) state_.limit = now + *errand_.timeout;
  if (errand_.line.empty()) {
    state_.stage = Stage::following;
  } else {
    if (!errand_.timeout) state_.limit = now + answer_timeout;
    send();
  }
  return std::exchange(orders_, {});
}

Orders Conversation::step(const Happening& happening, Duration now) {
  now_ = now;
  if (!is_finished()) {
    std::visit([this](const auto& happened) { take(happened); }, happening);
  }
  return std::exchange(orders_, {});
}

std::optional<Duration> Conversation::next_deadline() const {
  std::optional<Duration> next;
  if (is_finished()) return next;
  earliest(next, state_.limit);
  earliest(next, state_.resend);
  earliest(next, state_.gone);
  earliest(next, state_.vanished);
  return next;
}

bool Conversation::is_own(const std::optional<Status>& status) const {
  return status && status->upgrader.started == errand_.life.started &&
         status->upgrader.pid == errand_.life.pid;
}

// ---- handling each kind of event

void Conversation::take(const Looked& looked) {
  const Look& look = looked.look;
  if (is_own(look.status)) {
    examine(*look.status, looked.wall);
  } else if (is_own(look.previous)) {
    examine(*look.previous, looked.wall);
  }
  if (is_finished()) return;
  // End the conversation if the upgrader that got the request has certainly exited. This is so if a
  // later upgrader has written status.json. It is also so if there is no status.json, and
  // previous.json has the status of the upgrader that got the request.
  if ((look.status && !is_own(look.status)) || (!look.status && is_own(look.previous))) {
    finish_without_word(is_own(look.previous));
    return;
  }
  if (look.directory_there) {
    state_.vanished.reset();
  } else if (!state_.vanished) {
    state_.vanished = now_ + vanished_grace;
  }
}

void Conversation::take(const Wrote& wrote) {
  if (wrote.outcome == WriteOutcome::written) state_.sent = true;
  if (wrote.outcome == WriteOutcome::gone) take(ReaderGone{});
}

void Conversation::take(const ReaderGone&) {
  if (state_.stage == Stage::asking && !state_.sent) {
    finish(exit_absent, "the upgrader (" + life_name(errand_.life) +
                            ") has ended before it was asked: nothing was sent");
    return;
  }
  state_.resend.reset();
  if (!state_.gone) state_.gone = now_ + last_words_grace;
}

void Conversation::take(const Measured& measured) {
  state_.peak_kib = measured.kib;
  cancel();
}

void Conversation::take(const Interrupted& interrupted) {
  const int status = exit_signal_base + interrupted.signal;
  if (state_.leaving) {
    finish(status, state_.leaving->text + "; whether that was heard is not known");
  } else if (errand_.goal == Goal::rehearsal) {
    leave({status, "interrupted"});
  } else if (state_.stage == Stage::asking && !state_.sent) {
    finish(status, "interrupted: nothing was sent");
  } else {
    finish(status, "interrupted; what was asked for goes on (" + errand_.deed +
                       "). To see how it ends: " + errand_.tells);
  }
}

void Conversation::take(const TimePassed&) {
  if (has_come(state_.gone, now_)) {
    finish_without_word();
  } else if (has_come(state_.vanished, now_)) {
    state_.vanished.reset();
    finish(exit_unknown,
           "the control directory has vanished, and the upgrader does not make it anew: what "
           "becomes of the " +
               errand_.deed + " can no longer be seen. Its log tells");
  } else if (has_come(state_.limit, now_)) {
    time_is_up();
  } else if (has_come(state_.resend, now_)) {
    if (!std::exchange(state_.told_no_answer, true)) {
      say("no answer yet: " + life_name(errand_.life) +
          (state_.sent ? " has not read the request, or cannot write status.json (is it stopped, "
                         "or its disk full?); asking again"
                       : " does not read its FIFO, which is full; trying again"));
    }
    send();
  }
}

// ---- reading the status of the upgrader that got the request

void Conversation::examine(const Status& own, Moment wall) {
  if (state_.stage != Stage::following) examine_answer(own);
  if (state_.stage == Stage::following || state_.stage == Stage::cancelling) examine_upgrade(own);
  if (is_finished()) return;
  if (own.ended) {
    finish_by_end(own);
    return;
  }
  note_pushed_out(own);
  tell_if_late(own, wall);
}

void Conversation::examine_answer(const Status& own) {
  const Answer* first = find_answer(own, errand_.request);
  if (first != nullptr && first->ok == false) {
    finish(state_.leaving ? state_.leaving->status : exit_refused,
           "refused: " + errand_.deed + ": " + shown(first->reason) +
               (own.phase == "trial" && !errand_.on_trial.empty()
                    ? "; it is on trial by now: " + errand_.on_trial + " goes back"
                    : ""));
    return;
  }
  if (state_.stage == Stage::cancelling) {
    const Answer* answer = find_answer(own, errand_.cancel_request);
    if (answer != nullptr) answered_cancel(own, *answer);
  } else if (first != nullptr) {
    answered(own, first->reason.empty());
  } else if (errand_.asks_upgrade &&
             (is_under_way(own, errand_.id) || find_ending(own, errand_.id) != nullptr)) {
    answered(own, false);
  }
}

// Handles the answer to the request. If `begun_by_this` is false, this request did not begin the
// upgrade, because an upgrade with the same id existed already. The existing upgrade may be to a
// different executable.
void Conversation::answered(const Status& own, bool begun_by_this) {
  state_.compares = errand_.executable && !begun_by_this;
  if (finish_if_another(own)) return;
  state_.resend.reset();
  if (!errand_.timeout) state_.limit.reset();
  if (errand_.goal == Goal::answer) {
    finish(exit_done, errand_.deed + ": begun");
  } else {
    state_.stage = Stage::following;
  }
}

void Conversation::answered_cancel(const Status& own, const Answer& answer) {
  state_.resend.reset();
  state_.stage = Stage::following;
  if (answer.ok != false) return;
  state_.cancel_refused = true;
  say("the rehearsal could not be cancelled: " + shown(answer.reason) +
      (is_beyond_gate(own, errand_.id) ? "; it has become an upgrade" : ""));
}

bool Conversation::finish_if_another(const Status& own) {
  if (!state_.compares) return false;
  const std::optional<std::string> other = other_executable(*errand_.executable, errand_.id, own);
  if (other) finish(exit_refused, "refused: " + *other + ". Another upgrade needs another --id");
  return other.has_value();
}

void Conversation::examine_upgrade(const Status& own) {
  if (errand_.goal == Goal::shutdown || finish_if_another(own)) return;
  if (const Ending* ending = find_ending(own, errand_.id, errand_.accepted)) {
    finish_by(*ending);
    return;
  }
  const bool held = is_under_way(own, errand_.id) && own.phase == "confirming";
  if (errand_.goal != Goal::rehearsal || !held || state_.measured) return;
  state_.measured = true;
  if (own.candidate && own.candidate->pid) {
    add(orders_, Measure{*own.candidate->pid});
  } else {
    cancel();
  }
}

// Sets `out_of_sight` if the answer to this request may have been dropped from status.json, which
// keeps only the newest answers. This is possible if status.json is full of answers, and all of
// them are newer than the request. The upgrader has then forgotten the request, and would obey it a
// second time, so the request must not be written again. A request for an upgrade may be written
// again, because the upgrader recognizes it by the upgrade's id.
void Conversation::note_pushed_out(const Status& own) {
  if (state_.stage == Stage::following || own.requests.size() < requests_max) return;
  state_.out_of_sight =
      std::none_of(own.requests.begin(), own.requests.end(), [this](const Answer& answer) {
        return std::find(errand_.answers_before.begin(), errand_.answers_before.end(),
                         answer.request) != errand_.answers_before.end();
      });
}

void Conversation::tell_if_late(const Status& own, Moment wall) {
  if (!own.deadline || wall < *own.deadline + late_grace || state_.told_late == own.deadline) {
    return;
  }
  state_.told_late = own.deadline;
  say("the time for this was up " + show_duration(wall - *own.deadline) +
      " ago, and status.json has not changed: " + phase_sentence(own) + "; is " +
      life_name(errand_.life) + " stopped, or its disk full? Still waiting");
}

}  // namespace upgraderctl
