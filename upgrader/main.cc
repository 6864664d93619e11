// The program that runs between the init system and an agent: see upgrader(8).
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <variant>

#include "base/descriptors.h"
#include "base/directory.h"
#include "base/lock.h"
#include "base/process.h"
#include "base/program.h"
#include "upgrader/core/options.h"
#include "upgrader/core/words.h"
#include "upgrader/shell/environment.h"
#include "upgrader/shell/init_system.h"
#include "upgrader/shell/log.h"
#include "upgrader/shell/loop.h"

namespace {

using namespace upgrader;

// Logs why the upgrader cannot start, and returns the exit status for this failure.
int report(const std::string& reason) {
  Logbook logbook(LogLevel::error, std::getenv("JOURNAL_STREAM"));
  logbook.error(reason);
  return exit_own_failure;
}

// Prints the text of an option such as --help. Returns a failing exit status if the text could not
// be written.
int print(const std::string& text) {
  const int error = write_all(STDOUT_FILENO, text);
  return error == 0 ? 0 : report("cannot write standard output: {}"_with(SystemError{error}));
}

// Runs the upgrader. Ends by exit(), which does not call the destructors of local objects. That is
// harmless: even a sudden death of the upgrader must do no harm (rule IO-10 of ARCHITECTURE.md).
[[noreturn]] void run(const Options& options) {
  const std::optional<int> sockets = passed_sockets(::getpid());
  const int lock_number = first_passed_descriptor + sockets.value_or(0);

  // Take over the descriptor of --notify-fd before the Lock is made, because Lock closes any other
  // descriptor that has the number `lock_number`. A --notify-fd with that number is moved to a
  // higher one.
  OwnedFd readiness;
  if (const std::optional<int>& number = options.notify_fd) {
    // The descriptors from 3 to lock_number - 1 are the sockets that init passed. A --notify-fd
    // that names one of these descriptors is refused.
    Result<OwnedFd> seized = Refusal{"it is one of the sockets that init passed"};
    if (*number >= lock_number) seized = seize_for_readiness(*number, lock_number + 1);
    if (!seized) std::exit(report("--notify-fd={}: {}"_with(*number, seized.reason())));
    readiness = std::move(seized.value());
  }

  std::unique_ptr<Lock> lock;
  if (options.lock_file) lock = std::make_unique<Lock>(*options.lock_file, lock_number);
  // The log is made after the lock. Otherwise the descriptor that the log opens for itself might
  // get the number `lock_number`, under which agents expect the lock.
  Logbook logbook(options.log_level, std::getenv("JOURNAL_STREAM"));

  ChildSetting setting;
  setting.environment =
      agent_environment(environ, sockets, lock ? std::optional<int>(lock_number) : std::nullopt);
  setting.passed = sockets.value_or(0) + (lock ? 1 : 0);
  if (!options.adapter.empty()) {
    auto adapter =
        check_agent(options.adapter.front(), {options.adapter.begin() + 1, options.adapter.end()});
    if (!adapter) {
      const bool one_word = options.adapter.front().find(' ') == std::string::npos;
      std::exit(report("--adapter: {}{}"_with(
          adapter.reason(), one_word ? "" : "; each word needs an --adapter of its own")));
    }
    setting.adapter = std::move(adapter.value());
  }
  if (const int error = options.subreaper ? become_subreaper() : 0)
    std::exit(report("cannot become a subreaper: {}"_with(SystemError{error})));
  const auto watchdog = watchdog_wish(::getpid());
  if (!watchdog) logbook.warning(watchdog.reason());
  InitSystem init_system(std::getenv("NOTIFY_SOCKET"), watchdog ? watchdog.value() : Duration{0},
                         std::move(readiness));
  Loop loop(options, logbook, init_system, lock.get());
  std::exit(loop.run(std::move(setting)));
}

// Signals must be blocked as early as possible: until then, most of them would kill the process.
// With glibc, .preinit_array runs before the libraries' constructors. musl has no .preinit_array,
// so there block_signals_early() is one of the program's first constructors.
#ifdef __GLIBC__
#define FIRST_OF_ALL ".preinit_array"
#else
#define FIRST_OF_ALL ".init_array.00101"
#endif
[[gnu::no_sanitize_address]] void block_signals_early() {
  sigset_t ours{};
  for (const int signal_number : read_signals)
    ::sigaddset(&ours, signal_number);
  ::sigprocmask(SIG_BLOCK, &ours, nullptr);
}
[[gnu::section(FIRST_OF_ALL), gnu::used]] void (*const first_of_all)() = block_signals_early;

}  // namespace

int main(int argc, char** argv) {
  if (const int error = open_standard_descriptors())
    return report("cannot open /dev/null: {}"_with(SystemError{error}));
  mark_close_on_exec_from(first_passed_descriptor);
  if (const int error = put_signals_right())
    return report("cannot block signals: {}"_with(SystemError{error}));

  const CommandLine command_line = parse_command_line(argc, argv);
  if (std::holds_alternative<HelpWanted>(command_line)) return print(help_text());
  if (std::holds_alternative<VersionWanted>(command_line)) return print(version_text());
  if (const auto* usage = std::get_if<UsageError>(&command_line)) {
    return report(usage->reason);
  }
  run(std::get<Options>(command_line));
}
