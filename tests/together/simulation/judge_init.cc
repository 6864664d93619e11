// The judge's checks of the messages to init: how often they are sent, in which order, and that no
// message that makes init act is lost.
#include <algorithm>

#include "tests/together/simulation/judge.h"

namespace upgrader::simulation {

// Checks that init gets at most ten messages in a second, whatever agents do. Checks the order of
// the three messages that make init act: READY=1, RELOADING=1 and STOPPING=1.
void Judge::init_told(std::string_view text) {
  if (trace_ != nullptr) note("init is told " + std::string(text.substr(0, text.find('\n'))));
  const bool ready = text.starts_with("READY=1\n");
  const bool stopping = text.starts_with("STOPPING=1\n");
  const bool reloading = text.starts_with("RELOADING=1\n");
  if (init_heard_stopping_ && (ready || stopping || reloading)) {
    broken("Init: more than STATUS= after STOPPING=1");
  }
  if (ready && !agent_was_active_) broken("Init: READY=1 though no agent ever was active");
  if (ready && init_heard_ready_ && !init_reloads_) broken("Init: READY=1 twice");
  if (reloading && init_reloads_) broken("Init: RELOADING=1 before the READY=1 of the one before");
  init_heard_ready_ = init_heard_ready_ || ready;
  init_heard_stopping_ = init_heard_stopping_ || stopping;
  init_reloads_ = reloading || (init_reloads_ && !ready);
  if (text.starts_with("WATCHDOG=1\n")) return;
  const Time now = machine_.now();
  while (!init_told_at_.empty() && init_told_at_.front() <= now - std::chrono::seconds(1))
    init_told_at_.pop_front();
  init_told_at_.push_back(now);
  const bool never_waits = ready || stopping;
  if (init_told_at_.size() > 10 && !never_waits) {
    broken("Init: more than ten messages in a second");
  }
}

// Checks that init has been sent every message that makes it act. Checks nothing while init's
// socket is full.
void Judge::check_init() {
  if (machine_.init_is_full() || supervisor_ == nullptr) return;
  if (supervisor_->phase() == Phase::shutting_down) {
    if (!init_heard_stopping_) broken("Init: it never hears that the upgrader stops");
    return;
  }
  const auto& all = machine_.processes();
  const bool works = std::any_of(all.begin(), all.end(), [](const auto& process) {
    return process->activated && !process->buried && !process->owes_word;
  });
  if (works && !init_heard_ready_) {
    broken("Init: it never hears that an agent is active");
  }
  if (init_reloads_ && !supervisor_->state().upgrade) {
    broken("Init: it never hears that a reload is over");
  }
}

}  // namespace upgrader::simulation
