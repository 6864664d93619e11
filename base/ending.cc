#include "base/ending.h"

#include <csignal>

#include "base/named_number.h"

namespace upgrader {
namespace {

constexpr NamedNumber named_signals[] = {
    NAMED(SIGHUP),  NAMED(SIGINT),   NAMED(SIGQUIT), NAMED(SIGILL),  NAMED(SIGTRAP),
    NAMED(SIGABRT), NAMED(SIGBUS),   NAMED(SIGFPE),  NAMED(SIGKILL), NAMED(SIGUSR1),
    NAMED(SIGSEGV), NAMED(SIGUSR2),  NAMED(SIGPIPE), NAMED(SIGALRM), NAMED(SIGTERM),
    NAMED(SIGCHLD), NAMED(SIGCONT),  NAMED(SIGSTOP), NAMED(SIGTSTP), NAMED(SIGTTIN),
    NAMED(SIGTTOU), NAMED(SIGURG),   NAMED(SIGXCPU), NAMED(SIGXFSZ), NAMED(SIGVTALRM),
    NAMED(SIGPROF), NAMED(SIGWINCH), NAMED(SIGIO),   NAMED(SIGPWR),  NAMED(SIGSYS)};

}  // namespace

const char* known_signal(int number) {
  return name_in(named_signals, number);
}

std::string in_words(const Ending& ending) {
  if (ending.how == Ending::How::unknown) return "ended in an unknown way";
  if (ending.how == Ending::How::exited) return "exited with status {}"_with(ending.value);
  const char* const name = known_signal(ending.value);
  if (name == nullptr) return "was killed by signal {}"_with(ending.value);
  return "was killed by signal {} ({})"_with(ending.value, name);
}

int exit_status_of(const Ending& ending) {
  if (ending.how == Ending::How::unknown) return 125;
  return ending.how == Ending::How::exited ? ending.value : 128 + ending.value;
}

}  // namespace upgrader
