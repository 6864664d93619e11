#include "base/signals.h"

#include <signal.h>

#include "base/number.h"

namespace upgrader {
namespace {

// The last signal with a name of its own. Higher numbers are real-time signals.
constexpr int signal_max = 31;

struct Named {
  std::string_view name;
  int number;
};

constexpr Named names[] = {
    {"HUP", SIGHUP},       {"INT", SIGINT},   {"QUIT", SIGQUIT},   {"ILL", SIGILL},
    {"TRAP", SIGTRAP},     {"ABRT", SIGABRT}, {"BUS", SIGBUS},     {"FPE", SIGFPE},
    {"KILL", SIGKILL},     {"USR1", SIGUSR1}, {"SEGV", SIGSEGV},   {"USR2", SIGUSR2},
    {"PIPE", SIGPIPE},     {"ALRM", SIGALRM}, {"TERM", SIGTERM},   {"CHLD", SIGCHLD},
    {"CONT", SIGCONT},     {"STOP", SIGSTOP}, {"TSTP", SIGTSTP},   {"TTIN", SIGTTIN},
    {"TTOU", SIGTTOU},     {"URG", SIGURG},   {"XCPU", SIGXCPU},   {"XFSZ", SIGXFSZ},
    {"VTALRM", SIGVTALRM}, {"PROF", SIGPROF}, {"WINCH", SIGWINCH}, {"IO", SIGIO},
    {"PWR", SIGPWR},       {"SYS", SIGSYS},
};

}  // namespace

std::optional<int> parse_signal(std::string_view name) {
  if (const auto number = whole_number(name, signal_max); number && *number > 0) {
    return static_cast<int>(*number);
  }
  if (name.starts_with("SIG")) name.remove_prefix(3);
  for (const Named& named : names) {
    if (named.name == name) return named.number;
  }
  return std::nullopt;
}

std::string signal_name(int number) {
  for (const Named& named : names) {
    if (named.number == number) return "SIG" + std::string(named.name);
  }
  return "signal " + std::to_string(number);
}

}  // namespace upgrader
