// notify-watchdog: feeds a hardware watchdog for a program that uses systemd's notification
// protocol. See notify-watchdog(8).
#include <unistd.h>

#include <string>
#include <variant>

#include "base/descriptors.h"
#include "tools/notify-watchdog/log.h"
#include "tools/notify-watchdog/loop.h"
#include "tools/notify-watchdog/options.h"

namespace notify_watchdog {
namespace {

int print(const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (count <= 0) return exit_failed;
    done += static_cast<std::size_t>(count);
  }
  return 0;
}

int perform(const CommandLine& line) {
  if (std::holds_alternative<HelpWanted>(line)) return print(help_text());
  if (std::holds_alternative<VersionWanted>(line)) return print(version_text());
  if (const auto* wrong = std::get_if<UsageError>(&line)) {
    log_line(wrong->reason);
    return exit_failed;
  }
  return watch(std::get<Options>(line));
}

}  // namespace
}  // namespace notify_watchdog

int main(int argc, char** argv) {
  if (upgrader::open_standard_descriptors() != 0) return notify_watchdog::exit_failed;
  return notify_watchdog::perform(notify_watchdog::parse_command_line(argc, argv));
}
