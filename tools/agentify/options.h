// Parses agentify's command line into plain data. The page agentify(1) explains the options.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/command_line.h"
#include "tools/agentify/duration.h"
#include "tools/agentify/probe_kind.h"
#include "tools/agentify/stop_plan.h"

namespace agentify {

enum class HealthAction { silence, exit };

// The value of --ca-file that accepts any certificate, unchecked.
inline constexpr char any_certificate[] = "none";

struct Options {
  std::optional<std::string> check;
  Duration check_timeout = std::chrono::minutes{1};
  ReadyKind ready = ByStart{};
  std::string ready_text = "started";
  Duration settle = std::chrono::seconds{3};
  bool vouch = true;
  std::optional<ProbeKind> health;
  Duration health_interval = std::chrono::seconds{10};
  int health_failures = 3;
  HealthAction health_action = HealthAction::silence;
  std::optional<std::string> ca_file;  // the file that probes by https trust, or any_certificate
  StopPlan stop = default_stop_plan();
  std::optional<std::string> version;
  std::optional<std::string> version_command;
  std::optional<std::string> follow;       // the value of --follow: a directory of releases
  std::optional<std::string> follow_keys;  // the public keys for the releases of --follow
  bool last_words = false;
  std::optional<std::string> last_words_file;  // the value of --last-words: an absolute path
  std::string name;                            // the daemon's argv[0]
  std::vector<std::string> args;

  bool operator==(const Options&) const = default;
};

using upgrader::HelpWanted;
using upgrader::UsageError;
using upgrader::VersionWanted;
using CommandLine = upgrader::CommandLineOf<Options>;

// Parses the command line. Options end at the daemon or at `--`. An option that is given twice is a
// usage error.
[[nodiscard]] CommandLine parse_command_line(int argc, const char* const* argv);

[[nodiscard]] std::string help_text();
[[nodiscard]] std::string version_text();

}  // namespace agentify
