// The keeper is a process between agentify and a daemon, or between agentify and a command.
// Orphaned processes of the daemon become children of the keeper, so the keeper can find and kill
// them. The keeper obeys the orders that agentify sends, and reports to agentify, for example, that
// the daemon has exited. When agentify dies, for whatever reason, the keeper kills all processes of
// the daemon, and then releases the daemon's lock.
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

// How a keeper starts its child, which is the daemon or a command.
struct ChildSetting {
  // The environment of the child, as entries NAME=value.
  std::vector<std::string> environment = {};
  // the index of the entry LISTEN_PID= in `environment`, into which the child writes its own pid
  std::optional<std::size_t> listen_pid = {};
  // The number of descriptors, counted from descriptor 3, that the child inherits under the same
  // numbers.
  int passed = 0;
  int ready_descriptor = -1;  // the number that `ready_pipe` gets in the child; -1 for none
  int ready_pipe = -1;
  int death_signal = 0;  // the signal that the child gets if its parent dies; 0: none
};

// An order that agentify sends to a keeper, the parent process of the daemon or of a command.
struct Order {
  enum class Kind { start, cancel_start, signal, adopt, kill_family };

  Kind kind = Kind::start;
  // The meaning depends on `kind`. For start: the interval of WATCHDOG=1 in ms; for signal: the
  // number of the signal; for adopt: the pid of the new main process.
  int value = 0;
};

// A message from a keeper, the parent process of the daemon or of a command, to agentify.
struct News {
  enum class Kind { waits, started, refused, ended, family_gone };

  Kind kind = Kind::waits;
  // The meaning depends on `kind`. For waits: the pid of the lock's holder, or 0; for started: the
  // daemon's pid; for refused: an errno value; for ended: the exit status or the signal's number;
  // for family_gone: the number of processes that were killed.
  int value = 0;
  int how = 0;           // for ended: a value of DaemonEnding::How
  pid_t heir = 0;        // for ended: the process that may become the main process, or 0
  bool by_lock = false;  // for refused: true if the lock could not be taken
};

// The program that a keeper runs as its child (the daemon or a command), and the settings with
// which the keeper runs the program.
struct KeeperPlan {
  const upgrader::Program* program = nullptr;
  ChildSetting child;
  bool tells_watchdog = false;  // set the child's WATCHDOG_USEC from the value of the order `start`
  DaemonLock lock;
  int output = -1;              // the child's standard output and error; -1: the same as agentify's
  bool closes_input = true;     // make the keeper's standard input /dev/null
  const char* name = "keeper";  // the keeper's name in ps
  // The shared memory for the daemon's last lines (--last-words). Null without --last-words.
  LastWords* words = nullptr;
  // The path of the file into which the keeper writes the daemon's last lines (`words`) if agentify
  // dies. If the path is empty, no file is written.
  std::string words_file = {};
};

// The connection from agentify to a keeper, the parent process of the daemon or of a command.
class KeeperHandle {
 public:
  KeeperHandle() = default;

  // Forks the keeper, which then waits for orders. On failure returns false and sets errno.
  [[nodiscard]] bool fork_keeper(KeeperPlan plan);

  [[nodiscard]] int descriptor() const { return socket_.get(); }
  [[nodiscard]] pid_t pid() const { return pid_; }
  void order(Order order) const;
  // Returns true if the connection has room for many more orders. Returns false if so many orders
  // are still unread that the connection may soon be full.
  [[nodiscard]] bool has_room() const;
  // Returns the next news from the keeper. Returns nothing if no news has come or the keeper has
  // died; over() returns true if the keeper has died.
  [[nodiscard]] std::optional<News> take();
  [[nodiscard]] bool over() const { return over_; }
  // Closes the connection, and blocks until the keeper has killed all processes of the daemon or
  // command and has exited.
  void dismiss();
  // Closes the connection, but does not block. The keeper kills all processes of the daemon or
  // command and exits. A later call of fork_keeper() or abandon() reaps the keeper.
  void abandon();

 private:
  upgrader::OwnedFd socket_;
  pid_t pid_ = -1;
  bool over_ = false;
};

// ---- functions that run in the process of the keeper

// Turns the calling process into the keeper. The caller must just have been forked, with all
// signals blocked. `socket` is the keeper's end of the connection to agentify. The keeper exits
// when agentify has exited and no process of the daemon is left.
[[noreturn]] void become_keeper(KeeperPlan plan, upgrader::OwnedFd socket);

// The result of start_child().
struct StartedChild {
  pid_t pid = -1;  // the child's pid; -1 if the program could not be started
  int error = 0;   // if the program could not be started: the errno value
};

// Starts a program. Returns after the child's exec, or after the start has failed. The child shares
// the descriptors 0, 1 and 2 with this process. All other descriptors of this process must be
// close-on-exec.
[[nodiscard]] StartedChild start_child(const upgrader::Program& program,
                                       const ChildSetting& setting);

}  // namespace agentify
