// The parts that the service files of all init systems share: quoted words, times, and comments.
#pragma once

#include <string>
#include <vector>

#include "tools/agentify/launch/unit.h"

namespace agentify {

// ---- words, quoted for a service file

// Quotes one argument for ExecStart= and the like.
[[nodiscard]] std::string systemd_word(const std::string& word);
// Quotes one argument for `command =` of dinit.
[[nodiscard]] std::string dinit_word(const std::string& word);
// Escapes a text that stands between the double quotes of a shell.
[[nodiscard]] std::string in_double_quotes(const std::string& text);

// ---- the command

// Returns the command line: agentify, `run`, the name and the options of the unit, then `--` and
// the daemon. `more` has upgrader options that the init system needs. Each of them is left out if
// the unit already sets that option.
[[nodiscard]] std::vector<std::string> run_words(const Unit& unit,
                                                 const std::vector<std::string>& more = {});
// Writes the arguments over several lines. Each line but the last ends in a backslash.
[[nodiscard]] std::string over_lines(const std::vector<std::string>& words,
                                     std::string (*quoted)(const std::string&));

// ---- times

// The time limits in the service file, in seconds, for the longest stop and the longest start. The
// start includes the wait for the lock. Both limits are a little longer than the upgrader needs. 0
// means no limit.
struct UnitTimes {
  long stop = 0;
  long start = 0;
};
[[nodiscard]] UnitTimes times_of(const Unit& unit);

// ---- comments, each line of which begins with `# `

// Returns the comments after the first paragraph of every service file: the commands that end the
// distribution's own service (`off`), how to upgrade by hand, which program runs after a failed
// upgrade or a boot, and the commands that let the package manager request upgrades. `by_hand` is
// the init system's own way to request an upgrade, or "".
[[nodiscard]] std::string common_comments(const Unit& unit, const std::vector<std::string>& off,
                                          const std::string& by_hand);
// Returns the text as comment lines, filled to the width of a line.
[[nodiscard]] std::string comment(const std::string& text);

// ---- the files

[[nodiscard]] std::string systemd_unit(const Unit& unit);
[[nodiscard]] std::string openrc_script(const Unit& unit);
[[nodiscard]] std::string procd_script(const Unit& unit);
[[nodiscard]] std::string dinit_service(const Unit& unit);
// The next five functions return scripts that end by executing the upgrader in their own process.
[[nodiscard]] std::string runit_script(const Unit& unit);
[[nodiscard]] std::string s6_script(const Unit& unit);
[[nodiscard]] std::string busybox_script(const Unit& unit);
[[nodiscard]] std::string sysvinit_script(const Unit& unit);
[[nodiscard]] std::string finit_script(const Unit& unit);

}  // namespace agentify
