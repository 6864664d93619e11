// The keeper: a process between agentify and a daemon, or a command. Processes that the daemon
// leaves behind become the keeper's children, so that none of them is lost. When agentify dies, in
// any way, the keeper kills all of them before it releases the daemon's lock. The keeper obeys
// orders and reports news; this one killing is all that it decides itself.
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
  int value = 0;  // start: how often the daemon is to say WATCHDOG=1, in ms; a signal; a pid
};

struct News {
  enum class Kind { waits, started, refused, ended, family_gone };

  Kind kind = Kind::waits;
  int value = 0;   // a pid (waits: who holds the lock, or 0); an errno value; an exit status or a
                   // signal; how many were killed
  int how = 0;     // ended: DaemonEnding::How
  pid_t heir = 0;  // ended
  bool by_lock = false;  // refused: it is the lock that cannot be had
};

// The program that a keeper runs, and all that it needs for that.
struct KeeperPlan {
  const upgrader::Program* program = nullptr;
  ChildSetting child;
  bool tells_watchdog = false;  // WATCHDOG_USEC goes to the child, as `start` says
  DaemonLock lock;
  int output = -1;              // where standard output and error go; -1: as agentify's
  bool closes_input = true;     // standard input is /dev/null
  const char* name = "keeper";  // as ps shows it
  LastWords* words = nullptr;   // where the daemon's last output is kept, and then passed on
  std::string words_file = {};  // what is kept is written there if agentify is killed; or ""
};

// Makes a process that has just been forked, with all signals blocked, the keeper; `socket` leads
// to agentify. It exits when agentify has gone and nothing of the daemon is left.
[[noreturn]] void become_keeper(KeeperPlan plan, upgrader::OwnedFd socket);

}  // namespace agentify
