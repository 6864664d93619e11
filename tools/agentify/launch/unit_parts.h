// The parts that the service files of all init systems share: words in each file's quotes, times,
// and comments.
#pragma once

#include <string>
#include <vector>

#include "tools/agentify/launch/unit.h"

namespace agentify {

// ---- one word, in the quotes of a file

// In ExecStart= and its like.
[[nodiscard]] std::string systemd_word(const std::string& word);
// In `command =` of dinit.
[[nodiscard]] std::string dinit_word(const std::string& word);
// A text, between the double quotes of a shell.
[[nodiscard]] std::string in_double_quotes(const std::string& text);

// ---- the command

// agentify, `run`, the name and the options that the unit was given, then `--` and the daemon.
// `more` are options that the init system needs, each left out if the upgrader got the same one.
[[nodiscard]] std::vector<std::string> run_words(const Unit& unit,
                                                 const std::vector<std::string>& more = {});
// Over several lines, with a backslash at the end of each but the last.
[[nodiscard]] std::string over_lines(const std::vector<std::string>& words,
                                     std::string (*quoted)(const std::string&));

// ---- times

// In seconds, with some to spare: how long a stop takes at most, and a start with the wait for the
// lock; 0: no limit.
struct UnitTimes {
  long stop = 0;
  long start = 0;
};
[[nodiscard]] UnitTimes times_of(const Unit& unit);

// ---- comments, each line of which begins with `# `

// The paragraphs that every file has behind its first: the upgrade by hand, how far the way back
// leads, and the commands that make the package manager ask for upgrades. `off` are commands that
// end the distribution's own service; `by_hand` is the init's own way to ask, or "".
[[nodiscard]] std::string common_comments(const Unit& unit, const std::vector<std::string>& off,
                                          const std::string& by_hand);
// Filled to the width of a line.
[[nodiscard]] std::string comment(const std::string& text);

// ---- the files

[[nodiscard]] std::string systemd_unit(const Unit& unit);
[[nodiscard]] std::string openrc_script(const Unit& unit);
[[nodiscard]] std::string procd_script(const Unit& unit);
[[nodiscard]] std::string dinit_service(const Unit& unit);
// Scripts that become the upgrader.
[[nodiscard]] std::string runit_script(const Unit& unit);
[[nodiscard]] std::string s6_script(const Unit& unit);
[[nodiscard]] std::string busybox_script(const Unit& unit);
[[nodiscard]] std::string sysvinit_script(const Unit& unit);
[[nodiscard]] std::string finit_script(const Unit& unit);

}  // namespace agentify
