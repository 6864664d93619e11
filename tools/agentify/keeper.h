// The keeper is a process between agentify and a daemon, or between agentify and a command. Orphans
// of the daemon become children of the keeper, so that none of them is lost. When agentify dies in
// any way, the keeper kills all processes of the daemon, and then releases the daemon's lock. Apart
// from that, the keeper obeys agentify's orders and sends it news.
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
  // for start: the interval of WATCHDOG=1 in ms; for signal: its number; for adopt: a pid
  int value = 0;
};

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

// Makes the calling process the keeper. It must have been forked just now, with all signals
// blocked. `socket` leads to agentify. The keeper exits when agentify has exited and no process of
// the daemon is left.
[[noreturn]] void become_keeper(KeeperPlan plan, upgrader::OwnedFd socket);

}  // namespace agentify
