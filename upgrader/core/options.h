// The command line as plain data. The meaning of the options is on the page upgrader(8).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/command_line.h"
#include "base/time.h"
#include "upgrader/core/log_level.h"
#include "upgrader/core/terms.h"

namespace upgrader {

struct Options {
  // For upgrades that do not say. The confirm timeout is the start timeout unless it is given; the
  // stop timeout is never 0; a trial of 0 commits at once.
  Terms defaults{.start_timeout = std::chrono::minutes{5},
                 .confirm_timeout = std::chrono::minutes{5},
                 .stop_timeout = std::chrono::seconds{90},
                 .trial = std::chrono::seconds{30}};
  Duration exit_grace{std::chrono::seconds{10}};  // 0 is no limit
  bool relink = false;
  std::optional<std::string> previous;  // a path
  int attempts = 0;                     // 0 counts nothing
  std::optional<std::string> lock_file;
  std::optional<Duration> lock_timeout;  // as given; see lock_timeout_of()
  std::optional<std::string> control_directory;
  std::optional<int> notify_fd;  // above the standard descriptors
  bool subreaper = false;
  std::vector<std::string> adapter;  // the program that runs AGENT, and its arguments; or none
  LogLevel log_level = LogLevel::info;
  std::string agent;
  std::vector<std::string> args;

  bool operator==(const Options&) const = default;
};

using CommandLine = CommandLineOf<Options>;

// Options end at AGENT or at `--`. An option that is given twice is a usage error: whichever of the
// two counted, somebody would believe that it was the other one.
[[nodiscard]] CommandLine parse_command_line(int argc, const char* const* argv);

// How long to wait for the lock: as given, or the longest that a predecessor's agent may take to
// end, stop timeout and exit grace; 0 is no limit.
[[nodiscard]] Duration lock_timeout_of(const Options& options);

// The supervisor's settings. `watchdog`: how far apart heartbeats may be, as init says; zero where
// none are wanted.
[[nodiscard]] Policy policy_of(const Options& options, Duration watchdog);

[[nodiscard]] std::string help_text();
[[nodiscard]] std::string version_text();

}  // namespace upgrader
