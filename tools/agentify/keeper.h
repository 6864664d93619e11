// The keeper is a process between agentify and a daemon, or between agentify and a command.
// Processes that the daemon leaves behind become the keeper's children, so that none of them is
// lost. When agentify dies, in any way, the keeper kills all of them before it releases the
// daemon's lock. In all else the keeper obeys orders and reports news.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/owned_fd.h"
#include "base/program.h"
#include "tools/agentify/daemon_lock.h"
#include "tools/agentify/last_words.h"
#include "tools/agentify/starter.h"

namespace agentify {

struct Order {
  enum class Kind { start, cancel_start, signal, adopt, kill_family };

  Kind kind = Kind::start;
  int value = 0;  // start: the interval of WATCHDOG=1 in ms; signal: its number; adopt: a pid
};

struct News {
  enum class Kind { waits, started, refused, ended, family_gone };

  Kind kind = Kind::waits;
  // waits: the pid of the lock's holder, or 0; started: the daemon's pid; refused: an errno value;
  // ended: the exit status or the signal's number; family_gone: how many processes were killed
  int value = 0;
  int how = 0;           // if `kind` is `ended`: the way of the end, a value of DaemonEnding::How
  pid_t heir = 0;        // if `kind` is `ended`: a child that may be the new main process, or 0
  bool by_lock = false;  // if `kind` is `refused`: the lock is the reason
};

// The program that a keeper runs, its setting and its lock.
struct KeeperPlan {
  const upgrader::Program* program = nullptr;
  ChildSetting child;
  bool tells_watchdog = false;  // set the child's WATCHDOG_USEC to the value in `start`
  DaemonLock lock;
  int output = -1;              // the child's standard output and error; -1 leaves agentify's own
  bool closes_input = true;     // the keeper's standard input becomes /dev/null
  const char* name = "keeper";  // the name of the process as ps shows it
  // The memory for the last bytes of the daemon's output (--last-words); null if they are not kept.
  LastWords* words = nullptr;
  // the file to which the keeper writes `words` when agentify dies; may be ""
  std::string words_file = {};
};

// Turns a process that has just been forked, with all signals blocked, into the keeper; `socket`
// leads to agentify. The keeper exits when agentify has exited and no process of the daemon is
// left.
[[noreturn]] void become_keeper(KeeperPlan plan, upgrader::OwnedFd socket);

}  // namespace agentify
