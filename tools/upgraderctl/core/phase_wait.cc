#include "tools/upgraderctl/core/phase_wait.h"

#include <cerrno>
#include <utility>

#include "tools/upgraderctl/core/options.h"
#include "tools/upgraderctl/core/sentences.h"

namespace upgraderctl {
namespace {

Orders finish(int status, std::string text) {
  Orders orders;
  add(orders, Finish{status, std::move(text)});
  return orders;
}

}  // namespace

Orders PhaseWait::start(Duration now) {
  if (timeout_ && *timeout_ > Duration{0}) limit_ = now + *timeout_;
  return {};
}

Orders PhaseWait::step(const Happening& happening, Duration now) {
  if (const auto* looked = std::get_if<Looked>(&happening)) return take(looked->look, now);
  if (const auto* interrupted = std::get_if<Interrupted>(&happening)) {
    return finish(exit_signal_base + interrupted->signal, "interrupted");
  }
  if (std::holds_alternative<TimePassed>(happening) && limit_ && now >= *limit_) {
    return finish(exit_unknown, "time is up, and phase " + phase_ +
                                    " has not been seen. To see the phase: " + tells_);
  }
  return {};
}

Orders PhaseWait::take(const Look& look, Duration now) {
  const bool lacks_rights = missing_rights_.looked(look, now);
  if (!look.status) return no_status(look, lacks_rights);
  const Status& status = *look.status;
  // An upgrader that exits removes its FIFO before it writes its last status. If the FIFO is gone
  // and the status does not show the exit, read the directory once more before the upgrader is
  // reported as killed.
  const bool left = has_gone(look.hearing) && !status.ended;
  const bool left_before = std::exchange(gone_, left);
  if (left && !first_) return nobody_runs();
  if (left && !left_before) return {};
  if (is_behind(look.hearing) && !status.ended) {
    return say_once("waiting for phase " + phase_ + "; the upgrader " +
                    hearing_clause(look.hearing));
  }
  if (!left && status.phase == phase_) return finish(exit_done, phase_sentence(status));
  if (status.ended && phase_ == "ended") {
    return finish(exit_done, "the upgrader has ended " + end_clause(*status.ended));
  }
  if (first_ && (!same_life(*first_, status) || status.ended || left)) {
    const std::string end =
        status.ended && same_life(*first_, status) ? " " + end_clause(*status.ended) : "";
    return finish(exit_ended, "the upgrader (" + life_name(first_->upgrader) + ") has ended" + end +
                                  " before phase " + phase_ + " was seen");
  }
  if (status.ended) return nobody_runs_any_more(*status.ended);
  if (!first_) first_ = status;
  return say_once("waiting for phase " + phase_ + "; now " + phase_sentence(status));
}

// Handles a control directory whose status cannot be read. Ends the wait if the rights to read it
// are missing for good. Otherwise continues to wait: an upgrader may start, or may replace a
// damaged status file.
Orders PhaseWait::no_status(const Look& look, bool lacks_rights) {
  if (lacks_rights) return finish(exit_refused, look.trouble);
  if (look.error_number == ENOENT || look.trouble.empty()) return nobody_runs();
  return say_once(look.trouble + "; waiting for phase " + phase_);
}

Orders PhaseWait::nobody_runs() {
  return say_once("no upgrader runs there yet; waiting for phase " + phase_);
}

// Handles the exit of an upgrader that this wait has not seen running. Prints how the upgrader
// exited, even if another message was printed before: without an init that restarts the upgrader,
// the command would wait for ever, and the user must learn why.
Orders PhaseWait::nobody_runs_any_more(const Ended& ended) {
  if (!std::exchange(told_end_, true)) told_ = false;
  return say_once("the upgrader has ended " + end_clause(ended) + "; waiting for phase " + phase_);
}

Orders PhaseWait::say_once(std::string text) {
  if (std::exchange(told_, true)) return {};
  Orders orders;
  add(orders, Say{std::move(text)});
  return orders;
}

}  // namespace upgraderctl
