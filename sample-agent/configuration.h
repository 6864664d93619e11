// The command line of the sample agent as a value.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sample-agent/result.h"

namespace sample_agent {

// The NAME of the sample agent's releases, whose files are called agent-v1.2.3.
inline constexpr std::string_view releases_name = "agent";

enum class Task { run, self_test, show_version, show_help };

struct Configuration {
  Task task = Task::run;
  std::string input;
  std::string output;
  std::string state_directory;
  std::string releases;  // the directory of releases; if empty, no upgrade is requested
  std::string events;    // the path of the event log; if empty, no log is written
  std::uint64_t rotate_wait_ms = 5'000;
  // If true, an upgrade waits until the operator makes the file `confirm`.
  bool confirms_gate = false;
  // If true, an upgrade is committed when the new version says `healthy`.
  bool commits_healthy = false;
};

[[nodiscard]] std::string_view help_text();

// Parses `arguments`, which must not contain the program's name. A refusal names the wrong
// argument.
[[nodiscard]] Result<Configuration> parse_arguments(std::span<const std::string_view> arguments);

}  // namespace sample_agent
