// The symbolic link AGENT, for --relink. A commit makes this link name the committed program,
// atomically and durably. All changes are made in the directory that held the link at the start. If
// AGENT's path leads to a different directory by now, the commit fails, since AGENT is no longer
// the link in that first directory.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/directory.h"
#include "base/program.h"
#include "base/result.h"

namespace upgrader {

// A function that is called before each sync, since a sync may take long and cannot be interrupted.
// The function can tell init beforehand that all is well.
using BeforeSync = std::function<void()>;

class Link {
 public:
  // Opens the link at `path`, whose current target counts as committed. If `path` is not a symbolic
  // link, refuses with EINVAL. With `previous`, every later commit makes the link at that second
  // path name the executable that was committed before. The second link need not exist yet, but a
  // file at that path that is not a symbolic link is refused, and so is the first link itself.
  [[nodiscard]] static Result<Link> open(const std::string& path,
                                         const std::optional<std::string>& previous = {});

  // Returns why a commit could not change the link of --previous: an errno value if the link's
  // directory cannot be written, such as EROFS if the disk has become read-only. In that case no
  // program can be committed. Returns 0 if the directory can be written, or if --previous is not
  // given.
  [[nodiscard]] int previous_stays() const;

  // Proves that a commit will be able to replace the link of --previous: replaces it, if there is
  // one, by a new link with the same target. Returns 0 or an errno value. EPERM means that another
  // user owns the link, and its directory is sticky.
  [[nodiscard]] int prove_previous() const;

  // Returns true if the directory of AGENT's link is on a read-only file system.
  [[nodiscard]] bool is_read_only() const;

  // Proves that a commit will be able to replace the link: replaces it by a new link with the same
  // target, and syncs the executable of `program` and the directories that lead to it. Returns 0 or
  // an errno value. ESTALE means that AGENT's path leads to another directory, or that the
  // program's path names another file by now. EACCES means that nothing can be synced, because
  // neither the executable nor any of the directories that lead to it may be read.
  [[nodiscard]] int prove(const Program& program, const BeforeSync& before_sync) const;

  // Makes AGENT's link lead to `program`, and syncs the link's directory. In an upgrade, prove()
  // has been called before. The new target is relative if the current target is relative, unless a
  // relative one would lead to a different file. With `moves_previous` and --previous, first makes
  // the link of --previous lead to the executable that was committed before, durably. Returns 0
  // when all is durable. Otherwise returns an errno value, and both links are as they were, unless
  // putting them back has failed as well. ESTALE means that the program's path now names another
  // file, which has passed no trial, or that AGENT's path leads to another directory.
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
