// This file decides how a conversation (conversation.h) ends: with which exit status and final
// message. It also decides how a rehearsal ends early. A rehearsal is an upgrade that upgraderctl
// cancels as soon as the candidate is ready.
#include <algorithm>
#include <utility>

#include "base/shown.h"
#include "tools/upgraderctl/core/conversation.h"
#include "tools/upgraderctl/core/options.h"
#include "tools/upgraderctl/core/sentences.h"

namespace upgraderctl {
namespace {

using Goal = Errand::Goal;

}  // namespace

void Conversation::finish_by(const Ending& ending) {
  if (state_.leaving) {
    finish(state_.leaving->status, state_.leaving->text + "; " + ending_sentence(ending));
  } else if (errand_.goal == Goal::rehearsal) {
    finish_rehearsal(ending);
  } else if (ending.outcome == "committed") {
    finish(exit_done, ending_sentence(ending));
  } else if (ending.outcome == "kept") {
    finish(exit_kept, ending_sentence(ending));
  } else if (ending.outcome == "fell_back") {
    finish(exit_fell_back, ending_sentence(ending));
  } else if (ending.outcome == "ended") {
    finish(exit_ended, ending_sentence(ending));
  } else {
    finish(exit_unknown, "the " + errand_.deed +
                             " has an outcome that is not known here: " + ending_sentence(ending));
  }
}

void Conversation::finish_rehearsal(const Ending& ending) {
  if (ending.outcome == "committed" || ending.outcome == "fell_back") {
    finish(exit_refused, "somebody opened the gate, and the rehearsal became an upgrade: " +
                             ending_sentence(ending));
  } else if (ending.outcome == "kept" && ending.stage == "cancel" && state_.measured) {
    std::string text = "rehearsed: " + side_name(ending.to) + " was ready";
    if (ending.start_ms) text += " after " + show_duration(Duration{*ending.start_ms});
    if (state_.peak_kib) {
      constexpr std::int64_t kib_a_mib = 1'024;
      text += ", peak memory " + std::to_string(*state_.peak_kib / kib_a_mib) + "." +
              std::to_string(*state_.peak_kib % kib_a_mib * 10 / kib_a_mib) + " MiB";
    }
    finish(exit_done, text + "; " + side_name(ending.from) +
                          " stayed active throughout; not tried: the work of " +
                          side_name(ending.to) + " and, under agentify, the start of the daemon");
  } else if (ending.outcome == "kept") {
    finish(exit_kept, ending_sentence(ending));
  } else {
    finish(exit_ended, ending_sentence(ending));
  }
}

void Conversation::finish_by_end(const Status& own) {
  const std::string end = "the upgrader has ended " + end_clause(*own.ended);
  if (state_.leaving) {
    finish(state_.leaving->status, state_.leaving->text + "; " + end);
  } else if (errand_.goal == Goal::shutdown) {
    finish(exit_done, end);
  } else if (state_.stage == Stage::asking && !state_.sent) {
    finish(exit_absent, end + "; nothing was sent");
  } else if (state_.stage == Stage::asking) {
    finish(exit_ended, end + "; its last status has no answer to the " + errand_.deed);
  } else {
    finish(exit_ended, end + "; its last status has no ending of the " + errand_.deed);
  }
}

// Ends the conversation when the upgrader has exited, but no status shows how it exited. If
// `seen_last` is true, the last status of this upgrader was read, so the upgrader was killed before
// it could record its exit. Otherwise a later upgrader may have replaced the last status of this
// upgrader.
void Conversation::finish_without_word(bool seen_last) {
  const std::string gone =
      "the upgrader (" + life_name(errand_.life) +
      (seen_last ? ") has gone without a last word" : ") has ended, and how is no longer told");
  if (state_.leaving) {
    finish(state_.leaving->status, state_.leaving->text + "; " + gone);
  } else if (state_.stage != Stage::asking) {
    finish(exit_ended, gone + "; what it made of the " + errand_.deed +
                           " is not known. To see what runs now: " + errand_.shows);
  } else if (!state_.sent) {
    finish(exit_absent, gone + " before it was asked: nothing was sent");
  } else {
    finish(exit_unknown, gone + "; whether it took the " + errand_.deed +
                             " is not known, and nothing is sent again. To see: " + errand_.tells);
  }
}

// Returns the advice to repeat the command with --id. The repeated command waits for the same
// upgrade, and begins the upgrade if it has not begun yet.
std::string Conversation::again_by_id() const {
  if (!errand_.asks_upgrade) return "";
  return "; or repeat the command with --id=" + shown(errand_.id) + ", to wait for the end";
}

void Conversation::time_is_up() {
  const std::string tells = ". To see: " + errand_.tells;
  if (state_.leaving) {
    finish(state_.leaving->status,
           state_.leaving->text + "; whether that was heard is not known" + tells);
  } else if (state_.stage == Stage::asking && !state_.sent) {
    finish(exit_unknown, "time is up: nobody reads the FIFO, which is full: nothing was sent");
  } else if (errand_.goal == Goal::rehearsal) {
    leave({exit_unknown, "time is up"});
  } else if (state_.stage == Stage::asking) {
    finish(exit_unknown, "time is up without an answer: whether the upgrader took the " +
                             errand_.deed +
                             " is not known, and if it reads the request later, it obeys it" +
                             tells + again_by_id());
  } else {
    finish(exit_unknown,
           "time is up, and the " + errand_.deed + " has not ended as far as is known" + tells);
  }
}

// Ends a rehearsal early. A rehearsal is an upgrade that is cancelled as soon as its candidate is
// ready. If the upgrade has been requested already, sends the request to cancel it, and waits for
// the answer. Otherwise ends the conversation immediately.
void Conversation::leave(const Finish& last) {
  if (state_.stage == Stage::asking && !state_.sent) {
    finish(last.status, last.text + ": nothing was sent");
    return;
  }
  state_.leaving = {last.status, last.text + ": the rehearsal is cancelled"};
  state_.limit = now_ + leaving_grace;
  if (state_.stage != Stage::cancelling && !state_.cancel_refused) cancel();
}

void Conversation::cancel() {
  state_.stage = Stage::cancelling;
  state_.sent = false;
  state_.out_of_sight = false;
  state_.pause = first_pause;
  send();
}

void Conversation::send() {
  state_.resend = now_ + state_.pause;
  state_.pause = std::min(2 * state_.pause, longest_pause);
  if (state_.gone) return;
  const bool by_id = state_.stage == Stage::asking && errand_.asks_upgrade;
  if (state_.out_of_sight && !by_id) return;
  add(orders_, Send{state_.stage == Stage::cancelling ? errand_.cancel_line : errand_.line});
}

void Conversation::finish(int status, std::string text) {
  state_.stage = Stage::finished;
  add(orders_, Finish{status, std::move(text)});
}

}  // namespace upgraderctl
