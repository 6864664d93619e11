// The keeper is a process between agentify and a daemon, or between agentify and a command. Orphans
// of the daemon become children of the keeper, so that none of them is lost. When agentify dies in
// any way, the keeper kills all processes of the daemon, and then releases the daemon's lock. Apart
// from that, the keeper obeys agentify's orders and sends it news.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "base/program.h"
#include "tools/agentify/daemon_lock.h"
#include "tools/agentify/last_words.h"

namespace agentify {

// How a keeper starts its program.
struct ChildSetting {
  // The environment of the process, as entries NAME=value.
  std::vector<std::string> environment = {};
  // the index of LISTEN_PID= in `environment`; the child writes its own pid there
  std::optional<std::size_t> listen_pid = {};
  // How many descriptors, from 3 on, the child inherits under the same numbers.
  int passed = 0;
  int ready_descriptor = -1;  // the number that `ready_pipe` gets in the child; -1 for none
  int ready_pipe = -1;
  int death_signal = 0;  // the signal for the child when its parent dies; 0 for none
};

// An order of agentify for its keeper.
struct Order {
  enum class Kind { start, cancel_start, signal, adopt, kill_family };

  Kind kind = Kind::start;
  // for start: the interval of WATCHDOG=1 in ms; for signal: its number; for adopt: a pid
  int value = 0;
};

// A message of the keeper for agentify.
struct News {
  enum class Kind { waits, started, refused, ended, family_gone };

  Kind kind = Kind::waits;
  // for waits: the pid of the lock's holder, or 0; for started: the daemon's pid; for refused: an
  // errno value; for ended: the exit status or the signal's number; for family_gone: the number of
  // processes that were killed
  int value = 0;
  int how = 0;           // for ended: a value of DaemonEnding::How
  pid_t heir = 0;        // for ended: the process that may be the new main process, or 0
  bool by_lock = false;  // for refused: the lock could not be taken
};

// The program that a keeper runs, and how it runs it.
struct KeeperPlan {
  const upgrader::Program* program = nullptr;
  ChildSetting child;
  bool tells_watchdog = false;  // set the child's WATCHDOG_USEC from the value of the order `start`
  DaemonLock lock;
  int output = -1;              // the child's standard output and error; if -1, those of agentify
  bool closes_input = true;     // make the keeper's standard input /dev/null
  const char* name = "keeper";  // the keeper's name in ps
  // The shared memory for the daemon's last words (--last-words). Null if they are not kept.
  LastWords* words = nullptr;
  // The file into which the keeper writes `words` if agentify dies. May be empty.
  std::string words_file = {};
};

// The connection from agentify to a keeper.
class KeeperHandle {
 public:
  KeeperHandle() = default;

  // Forks the keeper, which then waits for orders. On failure returns false and sets errno.
  [[nodiscard]] bool fork_keeper(KeeperPlan plan);

  [[nodiscard]] int descriptor() const { return socket_.get(); }
  [[nodiscard]] pid_t pid() const { return pid_; }
  void order(Order order) const;
  // Returns the next news from the keeper. Returns nothing if none has come, or if the keeper has
  // died, which over() tells.
  [[nodiscard]] std::optional<News> take();
  [[nodiscard]] bool over() const { return over_; }
  // Closes the connection, and waits until the keeper has killed all its processes and has exited.
  void dismiss();
  // Closes the connection, but does not wait. The keeper kills its processes, exits, and is reaped
  // later.
  void abandon();

 private:
  upgrader::OwnedFd socket_;
  pid_t pid_ = -1;
  bool over_ = false;
};

// ---- in the keeper itself

// Makes the calling process the keeper. It must have been forked just now, with all signals
// blocked. `socket` leads to agentify. The keeper exits when agentify has exited and no process of
// the daemon is left.
[[noreturn]] void become_keeper(KeeperPlan plan, upgrader::OwnedFd socket);

// The result of a start.
struct StartedChild {
  pid_t pid = -1;  // the child's pid; -1 if the program could not be started
  int error = 0;   // if the program could not be started: the errno value
};

// Starts a program. Returns when the program is executed, or when that has failed. The child
// shares descriptors 0, 1 and 2. All others must be close-on-exec in this process.
[[nodiscard]] StartedChild start_child(const upgrader::Program& program,
                                       const ChildSetting& setting);

}  // namespace agentify
