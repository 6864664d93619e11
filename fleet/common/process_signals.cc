#include "fleet/common/process_signals.h"

#include <signal.h>

namespace fleet {

void prepare_signals() {
  const sigset_t none{};
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace fleet
