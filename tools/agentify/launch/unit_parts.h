// The parts that the service files of all init systems share: quoted words, times, and comments.
#pragma once

#include <string>
#include <vector>

#include "tools/agentify/launch/unit.h"

namespace agentify {

// ---- words, quoted for a service file

// Quotes one word for ExecStart= and the like.
[[nodiscard]] std::string systemd_word(const std::string& word);
// Quotes one word for `command =` of dinit.
[[nodiscard]] std::string dinit_word(const std::string& word);
// Escapes a text that stands between the double quotes of a shell.
[[nodiscard]] std::string in_double_quotes(const std::string& text);

// ---- the command

// Returns the command line: agentify, `run`, the name and the options of the unit, then `--` and
// the daemon. `more` has the options that the init system needs; each is left out if the upgrader
// got the same one.
[[nodiscard]] std::vector<std::string> run_words(const Unit& unit,
                                                 const std::vector<std::string>& more = {});
// Writes the words over several lines, each but the last ending in a backslash.
[[nodiscard]] std::string over_lines(const std::vector<std::string>& words,
                                     std::string (*quoted)(const std::string&));

// ---- times

// Times in seconds, with some to spare: the longest stop, and the longest start with the wait for
// the lock. 0 is no limit.
struct UnitTimes {
  long stop = 0;
  long start = 0;
};
[[nodiscard]] UnitTimes times_of(const Unit& unit);

// ---- comments, each line of which begins with `# `

// The paragraphs that follow the first one in every file: the upgrade by hand, how far the way back
// leads, and the commands that make the package manager request upgrades. `off` are commands that
// end the distribution's own service; `by_hand` is the init's own way to request an upgrade, or "".
[[nodiscard]] std::string common_comments(const Unit& unit, const std::vector<std::string>& off,
                                          const std::string& by_hand);
// Returns the text as comment lines, filled to the width of a line.
[[nodiscard]] std::string comment(const std::string& text);

// ---- the files

[[nodiscard]] std::string systemd_unit(const Unit& unit);
[[nodiscard]] std::string openrc_script(const Unit& unit);
[[nodiscard]] std::string procd_script(const Unit& unit);
[[nodiscard]] std::string dinit_service(const Unit& unit);
// The following scripts execute the upgrader in their own process.
[[nodiscard]] std::string runit_script(const Unit& unit);
[[nodiscard]] std::string s6_script(const Unit& unit);
[[nodiscard]] std::string busybox_script(const Unit& unit);
[[nodiscard]] std::string sysvinit_script(const Unit& unit);
[[nodiscard]] std::string finit_script(const Unit& unit);

}  // namespace agentify
