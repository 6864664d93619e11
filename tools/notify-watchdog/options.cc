#include "tools/notify-watchdog/options.h"

#include <string_view>

#include "base/duration.h"
#include "base/version.h"

namespace notify_watchdog {
namespace {

using upgrader::Argument;

using upgrader::complaint_about;

// The reason why an argument is wrong, or an empty string if the argument is right.
using Complaint = std::string;

Complaint set_duration(const Argument& argument, Duration& duration, bool may_be_0) {
  const auto parsed = upgrader::parse_duration(argument.value.value_or(""));
  if (parsed == Duration{0} && !may_be_0) return complaint_about(argument, "must not be 0");
  if (!parsed)
    return complaint_about(argument, "needs =D, " + std::string(upgrader::duration_form));
  duration = *parsed;
  return "";
}

Complaint set_device(const Argument& argument, Options& options) {
  if (argument.value.value_or("").empty()) {
    return complaint_about(argument, "needs =FILE, where FILE is a watchdog device");
  }
  options.device = std::string(*argument.value);
  return "";
}

Complaint set_option(const Argument& argument, Options& options) {
  const std::string_view name = argument.name;
  if (name == "--device") return set_device(argument, options);
  if (name == "--timeout") return set_duration(argument, options.timeout, false);
  if (name == "--start-timeout") return set_duration(argument, options.start_timeout, true);
  if (name == "--stop-timeout") return set_duration(argument, options.stop_timeout, false);
  return complaint_about(argument, "no such option; --help names them all");
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  Options options;
  const auto finish = [&](int at) -> CommandLine {
    if (at >= argc) {
      return UsageError{"PROGRAM is missing: notify-watchdog [options] PROGRAM [ARG ...]"};
    }
    options.command.assign(argv + at, argv + argc);
    return options;
  };
  return upgrader::parse_options<Options>(
      argc, argv, [&options](const Argument& argument) { return set_option(argument, options); },
      finish);
}

std::string help_text() {
  return "Usage: notify-watchdog [options] PROGRAM [ARG ...]\n"
         "\n"
         "Runs PROGRAM, and feeds the hardware's watchdog as long as PROGRAM says WATCHDOG=1 on\n"
         "its NOTIFY_SOCKET. If PROGRAM, notify-watchdog or the kernel hangs, the watchdog resets\n"
         "the machine.\n"
         "\n"
         "  --device=FILE         watchdog device (/dev/watchdog)\n"
         "  --timeout=D           time without feeding after which the device resets the machine\n"
         "                        (60s)\n"
         "  --start-timeout=D     longest time until PROGRAM says READY=1 (10m; 0: no limit)\n"
         "  --stop-timeout=D      longest time from the beginning of a stop until PROGRAM has\n"
         "                        exited (3m)\n"
         "  -h, --help            print this help and exit\n"
         "  --version             print the version and exit\n"
         "\n"
         "D is a whole number with ms, s, m or h, at most 24h. No option may be given twice.\n"
         "\n"
         "All signals are passed on to PROGRAM. The device is stopped if SIGTERM or SIGINT came\n"
         "before PROGRAM exited, or if PROGRAM says STOPPING=1 and exits with status 0. Otherwise\n"
         "the device stays armed.\n"
         "\n"
         "More in notify-watchdog(8).\n";
}

std::string version_text() {
  return "notify-watchdog " + std::string(upgrader::upgrader_version) + "\n";
}

}  // namespace notify_watchdog
