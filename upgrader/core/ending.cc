#include "upgrader/core/ending.h"

#include <csignal>

namespace upgrader {
namespace {

struct NamedSignal {
  int number;
  char name[10];
};

constexpr NamedSignal named_signals[] = {
    {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
    {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
    {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
    {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"}, {SIGVTALRM, "SIGVTALRM"},
    {SIGPROF, "SIGPROF"}, {SIGIO, "SIGIO"},     {SIGPWR, "SIGPWR"},   {SIGXCPU, "SIGXCPU"},
    {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"}};

const char* signal_name(int number) {
  for (const NamedSignal& signal : named_signals) {
    if (signal.number == number) return signal.name;
  }
  return nullptr;
}

}  // namespace

std::string in_words(const Ending& ending) {
  switch (ending.how) {
    case Ending::How::exited:
      return "exited with status " + std::to_string(ending.value);
    case Ending::How::signalled: {
      const char* const name = signal_name(ending.value);
      return "was killed by signal " + std::to_string(ending.value) +
             (name != nullptr ? " (" + std::string(name) + ")" : "");
    }
    case Ending::How::unknown:
      break;
  }
  return "ended in an unknown way";
}

int exit_status_of(const Ending& ending) {
  switch (ending.how) {
    case Ending::How::exited:
      return ending.value;
    case Ending::How::signalled:
      return 128 + ending.value;
    case Ending::How::unknown:
      break;
  }
  return 125;
}

}  // namespace upgrader
