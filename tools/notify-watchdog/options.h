// Parses notify-watchdog's command line into plain data. The page notify-watchdog(8) explains the
// options.
#pragma once

#include <string>
#include <vector>

#include "base/command_line.h"
#include "base/time.h"

namespace notify_watchdog {

using upgrader::Duration;

struct Options {
  std::string device = "/dev/watchdog";
  Duration timeout = std::chrono::seconds{60};
  Duration start_timeout = std::chrono::minutes{10};
  Duration stop_timeout = std::chrono::minutes{3};
  std::vector<std::string> command;  // the program and its arguments; never empty

  bool operator==(const Options&) const = default;
};

using upgrader::HelpWanted;
using upgrader::UsageError;
using upgrader::VersionWanted;
using CommandLine = upgrader::CommandLineOf<Options>;

// Parses the command line. The options end at PROGRAM or at `--`. It is an error to give an option
// twice.
[[nodiscard]] CommandLine parse_command_line(int argc, const char* const* argv);

[[nodiscard]] std::string help_text();
[[nodiscard]] std::string version_text();

}  // namespace notify_watchdog
