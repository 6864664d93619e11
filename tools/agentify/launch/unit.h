// Makes the text of a service file, for one daemon and one init system, for the command `agentify
// unit`. This file does no input or output: commands.cc prints the text.
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
  std::string user;        // the user of the upgrader and the daemon; empty for root
  std::string replaces;    // the value of --replaces, or empty
  std::string prepare;     // a command that root runs before each start, or ""
  bool is_script = false;  // the daemon's file begins with #!
  std::string agentify;    // the path of agentify
  std::string ctl;         // the path of upgraderctl

  [[nodiscard]] const std::string& name() const { return launch.name; }
  // Returns the name of the distribution's own service for the daemon, which the new service
  // replaces. Without --replaces, this is NAME.
  [[nodiscard]] const std::string& replaced() const {
    return replaces.empty() ? launch.name : replaces;
  }
  [[nodiscard]] std::string service() const { return launch.name + "-agent"; }
};

using UnitLine = upgrader::CommandLineOf<Unit>;

// Parses the command line of `agentify unit`, in which argv[0] is `unit`. Does not set the members
// of Unit that depend on the machine, such as the paths of programs.
[[nodiscard]] UnitLine parse_unit(int argc, const char* const* argv);

// Returns the text of the service file. All members of Unit must be set.
[[nodiscard]] std::string unit_text(const Unit& unit);

[[nodiscard]] std::string unit_help();

// ---- common parts of all service files (unit_parts.cc): quoting words for a service file

// Quotes one argument for ExecStart= and similar settings of systemd.
[[nodiscard]] std::string systemd_word(const std::string& word);
// Quotes one argument for the setting `command =` of dinit.
[[nodiscard]] std::string dinit_word(const std::string& word);
// Returns the text in double quotes, escaped for a shell script.
[[nodiscard]] std::string in_double_quotes(const std::string& text);

// ---- common parts of all service files: the command line of `agentify run`

// Returns the command line: agentify, `run`, the name and the options of the unit, then `--` and
// the daemon. `more` has upgrader options that the init system needs. An option in `more` is left
// out if the user has set the same option.
[[nodiscard]] std::vector<std::string> run_words(const Unit& unit,
                                                 const std::vector<std::string>& more = {});
// Returns the path of the upgrader's lock file, quoted for a shell.
[[nodiscard]] std::string lock_word(const Unit& unit);
// Breaks a command line into lines. Every line except the last ends in a backslash.
[[nodiscard]] std::string over_lines(const std::vector<std::string>& words,
                                     std::string (*quoted)(const std::string&));

// ---- common parts of all service files: time limits

// The limits in the service file for a stop and for a start, in seconds. Both limits are a little
// longer than the longest time that the upgrader may need. The limit for a start includes the wait
// for the upgrader's lock. 0 means no limit.
struct UnitTimes {
  long stop = 0;
  long start = 0;
};
[[nodiscard]] UnitTimes times_of(const Unit& unit);

// ---- common parts of all service files: comments, which are lines that begin with `# `

// Returns the comments after the first paragraph of every service file. They say how to disable the
// distribution's own service (with the commands in `off`), how to upgrade by hand, and how to let
// the package manager request upgrades. They also say which program runs after a failed upgrade and
// after a boot. `by_hand` is the init system's command that requests an upgrade, or empty if there
// is none.
[[nodiscard]] std::string common_comments(const Unit& unit, const std::vector<std::string>& off,
                                          const std::string& by_hand);
// Returns the text as comment lines, wrapped at the line width.
[[nodiscard]] std::string comment(const std::string& text);

// ---- the service file for each init system (unit_files.cc and unit_scripts.cc)

[[nodiscard]] std::string systemd_unit(const Unit& unit);
[[nodiscard]] std::string openrc_script(const Unit& unit);
[[nodiscard]] std::string procd_script(const Unit& unit);
[[nodiscard]] std::string dinit_service(const Unit& unit);
// The next five functions return shell scripts whose last command executes the upgrader by `exec`.
[[nodiscard]] std::string runit_script(const Unit& unit);
[[nodiscard]] std::string s6_script(const Unit& unit);
[[nodiscard]] std::string busybox_script(const Unit& unit);
[[nodiscard]] std::string sysvinit_script(const Unit& unit);
[[nodiscard]] std::string finit_script(const Unit& unit);

}  // namespace agentify
