// The part of the loop that performs the supervisor's actions. The outcome of an action goes to the
// supervisor immediately, before any other event.
#include <cerrno>
#include <utility>

#include "base/errno_name.h"
#include "upgrader/core/words.h"
#include "upgrader/shell/loop.h"

namespace upgrader {
namespace {

// Returns why an action failed. ESTALE gets other words than the system's "Stale file handle",
// which suggests a network file system.
Refusal refuse(int error, const std::string& deed) {
  const std::string why = error == ESTALE ? "a path leads to another file than before (ESTALE)"
                                          : in_words(SystemError{error});
  return {"cannot {}: {}"_with(deed, why), error};
}

}  // namespace

void Loop::perform(const Check& check) {
  const Program& running_program = programs_.at(check.running_program);
  auto checked = check.executable ? check_program(*check.executable, *check.executable,
                                                  check.args.value_or(running_program.args))
                                  : check_agent(options_.agent, check.args.value_or(options_.args));
  if (!checked) {
    outcome_.refused = checked.refusal();
    return;
  }
  outcome_.way_back = can_start_again(running_program);
  if (control_) control_->note_checked(checked.value());
  outcome_.program = programs_.add(std::move(checked.value()));
}

// Finds the previous version's program, to which the link of --previous leads. Returns a Refusal if
// it cannot be started, or if it has the same path as the first agent's executable. The paths are
// compared and not the files: two releases may share a file by hard links, and still differ in the
// configuration beside it.
Result<Program> Loop::find_way_back() const {
  auto checked = check_program(*options_.previous, options_.agent, options_.args);
  if (checked && first_program_ && checked.value().path == programs_.at(*first_program_).path) {
    return Refusal{"{} names the same executable"_with(*options_.previous)};
  }
  return checked;
}

void Loop::perform(const FindWayBack&) {
  auto found = find_way_back();
  if (found) {
    outcome_.program = programs_.add(std::move(found.value()));
  } else {
    logbook_.info("no way back: {}"_with(found.reason()));
    outcome_.refused = found.refusal();
  }
}

void Loop::perform(const ForgetAttempts&) {
  if (attempt_.count == 0) return;
  attempt_.count = 0;
  if (const int error = attempts_.write(attempt_)) {
    logbook_.error("cannot write {}.attempts: {}"_with(*options_.previous, SystemError{error}));
  }
}

void Loop::perform(const Spawn& spawn) {
  const Program& program = programs_.at(spawn.program);
  if (const auto failed = agents_->start(spawn.generation, program)) {
    const std::string by =
        options_.adapter.empty() ? std::string() : " by {}"_with(options_.adapter.front());
    // A failed exec means that the kernel has refused the file. Without --adapter that is the
    // agent's file; with --adapter it is the adapter's, and nothing is known about the agent's
    // file.
    outcome_.not_executable = failed->exec_failed && !is_shortage(failed->error) && by.empty();
    outcome_.refused = refuse(failed->error, "start {}{}"_with(program.path, by));
    return;
  }
  if (lock_ != nullptr) lock_->write_holder();
  const pid_t pid = agents_->pid_of(spawn.generation);
  logbook_.info(
      "generation {}: started as process {}, {}"_with(spawn.generation, pid, program.path));
  if (control_) control_->note_started(spawn.generation, pid, program);
}

void Loop::perform(const Send& send) {
  outcome_.sent = agents_->send(send.generation, send.message);
}

void Loop::signal(Generation generation, int signal_number) {
  const int error = agents_->signal(generation, signal_number);
  if (error == 0) return;
  logbook_.error("generation {}: cannot send it signal {}: {}"_with(generation, signal_number,
                                                                    SystemError{error}));
}

// Returns a function to call before each of several syncs, each of which may take long. It sends
// init WATCHDOG=1, unless the active agent has missed its heartbeat. Agents' messages are not read
// during the syncs, so new bytes in the active agent's pipe count as a heartbeat.
BeforeSync Loop::vouch_before_sync() {
  const Agent active = supervisor_.state().incumbent.value_or(Agent{});
  if (active.silent) return [] {};
  return [this, generation = active.generation, owed = active.heartbeat_deadline,
          before = std::size_t{0}]() mutable {
    const std::size_t unread = agents_->unread(generation);
    if (owed && unread != before) owed = now() + init_system_.watchdog();
    before = unread;
    if (!owed || now() < *owed) init_system_.keep_alive_early(now());
  };
}

void Loop::perform(const ProveRelink& prove) {
  if (const int error = link_->prove_previous()) {
    outcome_.refused =
        refuse(error, "write into the directory of --previous={}"_with(*options_.previous));
    return;
  }
  const Program& program = programs_.at(prove.program);
  const int error = link_->prove(program, vouch_before_sync());
  if (error == 0) return;
  outcome_.refused =
      refuse(error, "make sure that the link {} can name {}"_with(options_.agent, program.path));
}

void Loop::perform(const Relink& relink) {
  const int error =
      link_->commit(programs_.at(relink.program), vouch_before_sync(), relink.moves_previous);
  if (error == 0) return;
  outcome_.refused = refuse(error, "commit the link {}"_with(options_.agent));
  // A previous version that was started at boot cannot be committed if the disk has become
  // read-only: AGENT's link still leads to the version that has failed. Keep the previous version
  // running nevertheless, since it works. The next start of the upgrader has to choose again.
  if (relink.moves_previous || !link_->is_read_only()) return;
  logbook_.error("{}; it stays as it is, and the agent active"_with(outcome_.refused->reason));
  outcome_.refused.reset();
}

void Loop::perform(const PutLinkBack&) {
  const int error = link_->restore(vouch_before_sync());
  if (error != 0) outcome_.refused = refuse(error, "put the link {} back"_with(options_.agent));
}

void Loop::perform(const RestoreLink&) {
  perform(PutLinkBack{});
  const std::optional<Refusal> refused = std::exchange(outcome_.refused, std::nullopt);
  if (refused) logbook_.error(refused->reason);
}

void Loop::perform(const Notice& notice) {
  if (const auto text = log_limit_.admit(notice, now())) {
    show(Notice{notice.generation, notice.kind, *text});
  }
}

void Loop::perform(const Exit& exit) {
  // Add to the file of --attempts how this start of the upgrader ended. A failure of this write
  // loses only this fact: the count was written before the first agent was started. If this start
  // was not counted, the file belongs to an earlier start and stays as it is.
  if (attempt_.count != 0 && attempt_.ending.empty()) {
    attempt_.ending = words::ends_with(exit.status);
    static_cast<void>(attempts_.write(attempt_, true));
  }
  end(exit.status);
}

}  // namespace upgrader
