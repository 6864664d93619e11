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
  // The default terms of an upgrade, which its request may change. Without --confirm-timeout, the
  // confirm timeout is the start timeout. The stop timeout is never 0, since a stop would then have
  // no time limit. With a trial of 0, an agent is committed as soon as it is active.
  Terms defaults{.start_timeout = std::chrono::minutes{5},
                 .confirm_timeout = std::chrono::minutes{5},
                 .stop_timeout = std::chrono::seconds{90},
                 .trial = std::chrono::seconds{30}};
  // How long an agent may take to exit after it has sent `stopped`; 0 means no limit.
  Duration exit_grace{std::chrono::seconds{10}};
  bool relink = false;
  std::optional<std::string> previous;  // the value of --previous: the path of a link
  int attempts = 0;                     // the value of --attempts; 0 if starts are not counted
  std::optional<std::string> lock_file;
  // The value of --lock-timeout, if given. lock_timeout_of() below has the default.
  std::optional<Duration> lock_timeout;
  std::optional<std::string> control_directory;
  std::optional<int> notify_fd;  // the value of --notify-fd; never a standard descriptor
  bool subreaper = false;
  // The words of --adapter: the program that runs AGENT, and the arguments of that program. Empty
  // without an adapter.
  std::vector<std::string> adapter;
  LogLevel log_level = LogLevel::info;
  std::string agent;
  std::vector<std::string> args;

  bool operator==(const Options&) const = default;
};

using CommandLine = CommandLineOf<Options>;

// Parses the command line. The upgrader's own options end at AGENT or at `--`. An option that is
// given twice is an error, because some people expect the first value to be used, and others the
// last.
[[nodiscard]] CommandLine parse_command_line(int argc, const char* const* argv);

// Returns how long to wait for the lock: the value of --lock-timeout, or without that option the
// sum of stop timeout and exit grace. That sum is the longest time that the agent of an earlier
// upgrader may take to end. 0 means no limit.
[[nodiscard]] Duration lock_timeout_of(const Options& options);

// Makes the supervisor's settings. `watchdog` is the longest time between two heartbeats that init
// allows; zero if init wants none.
[[nodiscard]] Policy policy_of(const Options& options, Duration watchdog);

[[nodiscard]] std::string help_text();
[[nodiscard]] std::string version_text();

}  // namespace upgrader
