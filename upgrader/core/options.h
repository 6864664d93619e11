// The command line as plain data. The meaning of the options is on the page upgrader(8).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent-protocol/cpp/wire/message.h"
#include "base/command_line.h"
#include "base/time.h"
#include "upgrader/core/log_level.h"

namespace upgrader {

struct Options {
  agent_protocol::Mode mode = agent_protocol::Mode::parallel;
  Duration start_timeout{std::chrono::minutes{5}};  // 0 is no limit
  Duration stop_timeout{std::chrono::seconds{90}};  // never 0
  Duration exit_grace{std::chrono::seconds{10}};    // 0 is no limit
  Duration trial{std::chrono::seconds{30}};         // 0 commits at once
  agent_protocol::UncleanStop on_unclean_stop = agent_protocol::UncleanStop::fall_back;
  agent_protocol::FallbackMode fallback = agent_protocol::FallbackMode::cold;
  agent_protocol::Gate gate = agent_protocol::Gate::none;
  agent_protocol::CommitRule commit = agent_protocol::CommitRule::survive;
  std::optional<Duration> confirm_timeout;  // as given; otherwise the start timeout; 0 is no limit
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

[[nodiscard]] std::string help_text();
[[nodiscard]] std::string version_text();

}  // namespace upgrader
