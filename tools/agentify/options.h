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

// The value of --ca-file with which any certificate is accepted, without verification.
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
  // the file of certificates that https probes trust, or any_certificate
  std::optional<std::string> ca_file;
  StopPlan stop = default_stop_plan();
  std::optional<std::string> version;
  std::optional<std::string> version_command;
  std::optional<std::string> follow;       // --follow: the directory of releases
  std::optional<std::string> follow_keys;  // --follow-keys: the directory of public keys
  bool last_words = false;
  std::optional<std::string> last_words_file;  // --last-words=FILE: an absolute path
  std::string name;                            // the daemon's argv[0]
  std::vector<std::string> args;

  bool operator==(const Options&) const = default;
};

using upgrader::HelpWanted;
using upgrader::UsageError;
using upgrader::VersionWanted;
using CommandLine = upgrader::CommandLineOf<Options>;

// Parses the command line. The options end at the first argument that is not an option, which is
// the daemon, or at `--`. It is an error to give an option twice.
[[nodiscard]] CommandLine parse_command_line(int argc, const char* const* argv);

[[nodiscard]] std::string help_text();
[[nodiscard]] std::string version_text();

}  // namespace agentify
