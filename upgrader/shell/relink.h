// The symbolic link AGENT, for --relink. A commit makes this link name the committed program,
// atomically and durably. All changes are made in the directory that held the link at the start. If
// AGENT's path leads to a different directory at the time of a commit, the commit fails.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/directory.h"
#include "base/program.h"
#include "base/result.h"

namespace upgrader {

// Called before each sync, which may take long and cannot be interrupted. The function can send
// init WATCHDOG=1 beforehand.
using BeforeSync = std::function<void()>;

class Link {
 public:
  // Opens the link at `path`, and regards its current target as committed. Refuses with EINVAL if
  // `path` is not a symbolic link. `previous` is a second link: every later commit makes it name
  // the executable that was committed before. `previous` need not exist yet. It must not be another
  // kind of file, and must not be the first link.
  [[nodiscard]] static Result<Link> open(const std::string& path,
                                         const std::optional<std::string>& previous = {});

  // Checks that the directory of the link of --previous can be written. Returns 0 if so, or if
  // --previous is not given. Otherwise returns an errno value, such as EROFS if the disk has become
  // read-only; no program can then be committed.
  [[nodiscard]] int previous_stays() const;

  // Tests whether a commit will be able to replace the link of --previous, by replacing it with an
  // equal link. Returns 0 or an errno value; EPERM if another user owns the link and its directory
  // is sticky.
  [[nodiscard]] int prove_previous() const;

  // Returns true if the directory of AGENT's link is on a read-only file system.
  [[nodiscard]] bool is_read_only() const;

  // Tests whether a commit will be able to replace AGENT's link, by replacing it with an equal
  // link. Also syncs the program and the directories that lead to it. Returns 0 or an errno value.
  // ESTALE: AGENT's path leads to another directory, or the program's path names another file.
  // EACCES: nothing could be synced, because neither the program nor its directories may be read.
  [[nodiscard]] int prove(const Program& program, const BeforeSync& before_sync) const;

  // Makes AGENT's link lead to `program`, durably. The target stays relative if it was relative and
  // a relative target leads to the right file. With `moves_previous` and --previous, first makes
  // the link of --previous lead to the executable that was committed before.
  //
  // Returns 0 when all is durable. Otherwise returns an errno value, and restores both links if
  // possible. ESTALE: AGENT's path leads to another directory, or the program's path now names
  // another file, which has passed no trial.
  [[nodiscard]] int commit(const Program& program, const BeforeSync& before_sync,
                           bool moves_previous = true);

  // Makes the link name the last committed target again, if the link has another target or is gone.
  // Returns 0 or an errno value. ESTALE means that AGENT's path leads to another directory, in
  // which the upgrader changes nothing.
  [[nodiscard]] int restore(const BeforeSync& before_sync) const;

  // Returns the target that the link had after the last commit, or at the start.
  [[nodiscard]] const std::string& committed() const { return committed_; }

 private:
  Link() = default;

  [[nodiscard]] int prepare_for(const Program& program, bool relative, std::string& target) const;
  [[nodiscard]] int move_previous(const Program& program, const BeforeSync& before_sync) const;
  [[nodiscard]] int move(const Program& program, const BeforeSync& before_sync);

  Entry link_;
  std::optional<Entry> previous_;
  std::string committed_;
};

}  // namespace upgrader
