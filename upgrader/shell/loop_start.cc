// The beginning of the loop: waits for the lock, claims the control directory, and checks AGENT.
#include <cstdlib>
#include <utility>

#include "base/errno_name.h"
#include "upgrader/core/words.h"
#include "upgrader/shell/loop.h"

namespace upgrader {
namespace {

int status_of(const Refusal& refusal) {
  if (is_shortage(refusal.error_number)) return exit_own_failure;
  return refusal.missing ? exit_not_found : exit_not_executable;
}

}  // namespace

int Loop::run(ChildSetting setting) {
  if (const int error = set_up(std::move(setting))) {
    logbook_.error("cannot set the event loop up: {}"_with(SystemError{error}));
    return exit_own_failure;
  }
  if (options_.control_directory) {
    control_.emplace(logbook_, programs_, options_.previous, attempt_);
    if (const auto refused = control_->open(*options_.control_directory); !refused.empty()) {
      logbook_.error(refused);
      return exit_own_failure;
    }
  }
  const Duration timeout = lock_timeout_of(options_);
  if (timeout != Duration::zero()) lock_deadline_ = now() + timeout;
  try_to_start();
  if (!exit_status_) uv_run(&loop_, UV_RUN_DEFAULT);
  if (control_) control_->finish(supervisor_.state(), exit_status_.value_or(exit_own_failure));
  return exit_status_.value_or(exit_own_failure);
}

// Starts the first agent if this upgrader has both the lock and the control directory. Otherwise
// sets a timer to try again, unless the upgrader ends.
void Loop::try_to_start() {
  if (has_lock() && claim_control()) {
    lock_retry_.reset();
    return start_first_agent();
  }
  lock_retry_ = now() + lock_retry_interval;
  set_timer();
}

// Tries to lock the file of --lock. Returns true if this process has the lock, or does not need
// one. Returns false if the caller must try again later, or if this function has ended the
// upgrader. It ends the upgrader if the file cannot be locked at all, or if the time limit has
// passed. If the first try finds the file locked, it also ends the upgrader if AGENT cannot be
// started and --previous was not given, or if --relink cannot use AGENT's link.
bool Loop::has_lock() {
  // `control_deadline_` is set while this process waits for the control directory: it has the lock
  // already.
  if (lock_ == nullptr || control_deadline_) return true;
  const std::string& file = *options_.lock_file;
  const int error = lock_->try_lock();
  if (error == 0) return true;
  if (error != EWOULDBLOCK) {
    fail("cannot lock {}: {}"_with(file, Lock::refusal_in_words(error)), exit_own_failure);
  } else if (lock_deadline_ && *lock_deadline_ <= now()) {
    fail("cannot lock {} within {}: {}"_with(file, in_words(lock_timeout_of(options_)),
                                             lock_->holder_in_words()),
         exit_own_failure);
  } else if (!lock_retry_) {
    // If AGENT cannot be started, fail now and not only after the wait for the lock.
    const auto looked = look_at_agent();
    if (!looked && !options_.previous) cannot_start(looked.refusal());
    if (!exit_status_) logbook_.info("waiting for {}: {}"_with(file, lock_->holder_in_words()));
  }
  return false;
}

// Claims the control directory. Returns false if another upgrader uses it; the caller then tries
// again later. Ends this upgrader if the directory is still in use when `predecessor_patience` has
// passed since the first try.
bool Loop::claim_control() {
  if (!control_) return true;
  const bool claimed = control_->claim(
      &loop_, [this](ControlRequested request) { deliver(std::move(request)); },
      [this](const Notice& notice) { perform(notice); }, [this] { settle(); });
  if (claimed) return true;
  if (!control_deadline_) control_deadline_ = now() + predecessor_patience;
  if (*control_deadline_ <= now())
    fail("--control={}: another upgrader uses it"_with(control_->path()), exit_own_failure);
  return false;
}

// Answers a SIGUSR2 that comes while the upgrader waits for the lock or the control directory.
// There is no agent yet to upgrade, so this only logs which program AGENT names now: that program
// will be started.
void Loop::tell_what_will_start() {
  const auto checked = check_agent(options_.agent, options_.args);
  logbook_.write(
      checked ? LogLevel::info : LogLevel::warning,
      "SIGUSR2 while {} is waited for: {}{}"_with(
          control_deadline_ ? control_->path() : *options_.lock_file,
          checked ? checked.value().path : checked.reason(), checked ? " will be started" : ""));
}

void Loop::start_first_agent() {
  // Check AGENT now, even if has_lock() has checked it: while this upgrader waited for the lock,
  // the upgrader that held the lock may have committed another version.
  auto looked = look_at_agent();
  if (exit_status_) return;
  if (!looked) {
    cannot_start(looked.refusal());
  } else {
    if (control_) control_->note_checked(looked.value());
    first_program_ = programs_.add(std::move(looked.value()));
    deliver(StartRequested{*first_program_, count_attempt(programs_.at(*first_program_))});
  }
  if (!exit_status_) settle();
}

// Checks that AGENT can be started. With --relink, also opens AGENT's link; if the link cannot be
// used, ends the upgrader.
Result<Program> Loop::look_at_agent() {
  auto checked = check_agent(options_.agent, options_.args);
  const bool lost = !checked && !options_.previous;
  if (options_.relink && !lost && !open_link()) end(exit_own_failure);
  return checked;
}

void Loop::cannot_start(const Refusal& refusal) {
  const int status = status_of(refusal);
  if (options_.previous) return deliver(StartRefused{refusal, status});
  fail(refusal.reason, status);
}

// Counts this start of the upgrader in the file of --attempts, if that option is given. Returns why
// AGENT must not be started again, or nothing if it may be started.
std::optional<std::string> Loop::count_attempt(const Program& program) {
  if (options_.attempts == 0) return std::nullopt;
  int error = attempts_.open(*options_.previous);
  if (error == 0) {
    const Attempts before = attempts_.read();
    NextAttempt next = next_attempt(before, program.path, options_.attempts, true);
    if (next.attempts_exhausted && !find_way_back()) {
      next = next_attempt(before, program.path, options_.attempts, false);
    }
    if (next.attempts != before) error = attempts_.write(next.attempts);
    if (error == 0) {
      attempt_ = std::move(next.attempts);
      return std::move(next.attempts_exhausted);
    }
  }
  logbook_.error(
      "cannot count this start in {}.attempts: {}"_with(*options_.previous, SystemError{error}));
  return std::nullopt;
}

bool Loop::open_link() {
  const Result<std::string> found = find_in_path(options_.agent, std::getenv("PATH"));
  Result<Link> opened = found ? Link::open(found.value(), options_.previous) : found.refusal();
  if (!opened) {
    logbook_.error(opened.reason());
    return false;
  }
  link_ = std::move(opened.value());
  if (const int error = link_->previous_stays()) {
    logbook_.error("--previous={}: its directory cannot be written, so upgrades will fail: {}"_with(
        *options_.previous, SystemError{error}));
  }
  return true;
}

// Ends the upgrader before any agent has run.
void Loop::fail(const std::string& why, int status) {
  logbook_.error(why);
  if (control_) control_->note_why_it_ends(why);
  end(status);
}

}  // namespace upgrader
