// The symbolic link that AGENT is, for --relink: made to name what was committed, atomically and
// durably. All is done in the directory that held the link at start; where its path leads to
// another by now, nothing is committed: AGENT would not name it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/directory.h"
#include "base/program.h"
#include "base/result.h"

namespace upgrader {

// Called before each sync, which may take long and cannot be interrupted.
using BeforeSync = std::function<void()>;

class Link {
 public:
  // `path` must be a symbolic link: otherwise the errno is EINVAL. Its present target counts as
  // committed.
  [[nodiscard]] static Result<Link> open(const std::string& path);

  // From now on a commit makes the link at `path` name the previously committed executable. That
  // link need not exist yet. Refused if another kind of file stands there.
  [[nodiscard]] std::optional<Refusal> keep_previous(const std::string& path);

  // 0, or why the directory of that link cannot be written (EROFS: a disk that has become
  // read-only): then nothing can be committed, and the proof fails.
  [[nodiscard]] int previous_stays() const;

  // Whether the directory of AGENT's link is on a read-only file system.
  [[nodiscard]] bool is_read_only() const;

  // Shows that a commit will be able to replace the link, by replacing it with a fresh one that
  // names the same, and syncs the executable of `program` and the directories that lead to it.
  // Returns 0 or an errno value. ESTALE: AGENT's path leads to another directory, or the program's
  // path names another file by now. EACCES: neither the executable nor any directory that leads to
  // it on its file system may be read, so that nothing can be synced.
  [[nodiscard]] int prove(const Program& program, const BeforeSync& before_sync) const;

  // Makes the link name `program`, which was proved, relative to the link's directory if what it
  // names now is relative, and syncs that directory. Returns 0 when all is durable; otherwise an
  // errno value, and the link is as it was. ESTALE: the program's path names another file by now,
  // which has passed no trial, or AGENT's leads to another directory. Before that, with
  // `moves_previous` and a link of --previous, that one is made to name what was committed before,
  // durably; it too is as it was where anything fails.
  [[nodiscard]] int commit(const Program& program, const BeforeSync& before_sync,
                           bool moves_previous = true);

  // Puts the link back to what was committed last, if it names another or is gone. 0, or an errno;
  // ESTALE: AGENT's path leads to another directory, in which nothing is known of any link.
  [[nodiscard]] int restore(const BeforeSync& before_sync) const;

  // The text of the link as committed last.
  [[nodiscard]] const std::string& committed() const { return committed_; }

 private:
  Link(Entry link, std::string target);

  [[nodiscard]] int prepare_for(const Program& program, bool relative, std::string& target) const;
  [[nodiscard]] int move_previous(const Program& program, const BeforeSync& before_sync) const;
  [[nodiscard]] int move(const Program& program, const BeforeSync& before_sync);

  Entry link_;
  std::optional<Entry> previous_;
  std::string committed_;
};

}  // namespace upgrader
