// Makes the text of the service file for one daemon and one init system, for `agentify unit`. No
// input or output: commands.cc prints the text.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tools/agentify/launch/launch.h"

namespace agentify {

enum class InitSystem { systemd, openrc, runit, s6, busybox, sysvinit, finit, procd, dinit };

struct Unit {
  Launch launch;
  InitSystem init = InitSystem::systemd;
  std::string user;      // the user of the upgrader and the daemon; empty for root
  std::string replaces;  // the distribution's service for the daemon; if empty, NAME
  std::string prepare;   // a command that root runs before each start, or ""
  std::string agentify;  // the path of agentify
  std::string ctl;       // the path of upgraderctl

  [[nodiscard]] const std::string& name() const { return launch.name; }
  // Returns the name of the distribution's own service for the daemon.
  [[nodiscard]] const std::string& replaced() const {
    return replaces.empty() ? launch.name : replaces;
  }
  [[nodiscard]] std::string service() const { return launch.name + "-agent"; }
};

using UnitLine = std::variant<Unit, HelpWanted, VersionWanted, UsageError>;

// Parses the arguments after `agentify unit`. Does not set the members of Unit that depend on the
// machine, such as the paths of programs.
[[nodiscard]] UnitLine parse_unit(const std::vector<std::string>& words);

// Returns the text of the whole service file. All members of Unit must be set.
[[nodiscard]] std::string unit_text(const Unit& unit);

[[nodiscard]] std::string unit_help();

}  // namespace agentify
