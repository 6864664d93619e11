// Makes the service file of one daemon for one init system, as text, for `agentify unit`. Reads and
// writes nothing: commands.cc prints the text to standard output.
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
  std::string user;      // the user that the upgrader and the daemon run as; empty for root
  std::string replaces;  // the distribution's own service; if empty, it has the daemon's name
  std::string prepare;   // a command that root runs before each start, or ""
  std::string agentify;  // the path of agentify
  std::string ctl;       // the path of upgraderctl

  [[nodiscard]] const std::string& name() const { return launch.name; }
  // Returns the name of the distribution's own service.
  [[nodiscard]] const std::string& replaced() const {
    return replaces.empty() ? launch.name : replaces;
  }
  [[nodiscard]] std::string service() const { return launch.name + "-agent"; }
};

using UnitLine = std::variant<Unit, HelpWanted, VersionWanted, UsageError>;

// Parses the arguments after `agentify unit`. The members of Unit that depend on the machine, such
// as the paths of the programs, stay empty.
[[nodiscard]] UnitLine parse_unit(const std::vector<std::string>& words);

// Returns the whole file, with a newline at its end. The name and all members of Unit must be set.
[[nodiscard]] std::string unit_text(const Unit& unit);

[[nodiscard]] std::string unit_help();

}  // namespace agentify
