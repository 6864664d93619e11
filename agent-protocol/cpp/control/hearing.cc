#include "agent-protocol/cpp/control/hearing.h"

#include <cerrno>

namespace upgraderctl {

Hearing hearing_of(const Signs& signs) {
  const bool is_forbidden = signs.fifo_error == EACCES || signs.fifo_error == EPERM;
  if (signs.fifo_error == ENXIO) return Hearing::gone;
  if (signs.fifo_error != 0 && !is_forbidden) {
    return signs.process_there.value_or(false) ? Hearing::deaf : Hearing::gone;
  }
  if (is_forbidden && signs.process_there == false) return Hearing::unseen;
  if (signs.process_stopped) return Hearing::stopped;
  if (signs.disk_full) return Hearing::full;
  return is_forbidden ? Hearing::unknown : Hearing::listens;
}

std::string hearing_clause(Hearing hearing) {
  switch (hearing) {
    case Hearing::stopped:
      return "is stopped: its status is from before that";
    case Hearing::full:
      return "has its control directory on a disk that is full: its status may be old";
    case Hearing::deaf:
      return "takes no requests: its FIFO is missing, or has been replaced";
    case Hearing::gone:
      return "takes no requests: it has gone without a last word, or another waits for the lock";
    case Hearing::unseen:
      return "is not to be seen here: it has gone without a last word, or is in another PID "
             "namespace";
    case Hearing::listens:
    case Hearing::unknown:
      break;
  }
  return "";
}

}  // namespace upgraderctl
