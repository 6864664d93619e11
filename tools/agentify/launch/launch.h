// The command lines of `agentify run` and `agentify unit` as plain data, and the command line of
// the upgrader that follows from them. No input or output: directories are made by commands.cc.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tools/agentify/options.h"

namespace agentify {

// The options of `agentify run` and `agentify unit`. Members that were not given are empty.
struct Launch {
  std::string name;                     // the name of the upgrader's directory; see with_name()
  std::optional<std::string> releases;  // a directory of agent-releases: its link `current` is run
  std::vector<std::string> upgrader;    // options of the upgrader, as given
  std::vector<std::string> adapter;     // agentify's own options, as given
  std::string daemon;                   // the daemon's path or name; with `releases`, DIR/current
  std::vector<std::string> args;
  bool print = false;  // with --print: show the command line, and do not run it

  bool operator==(const Launch&) const = default;
};

using LaunchLine = std::variant<Launch, HelpWanted, VersionWanted, UsageError>;

// Parses the arguments after `agentify run`. agentify's own options are checked here, by its own
// rules. The upgrader checks its options itself: see judging_command().
[[nodiscard]] LaunchLine parse_run(const std::vector<std::string>& words);

// Returns `launch` with a name: the name that was given, otherwise the name in the directory of
// releases, otherwise the daemon's base name. Returns an error if the name cannot be that of a
// directory.
[[nodiscard]] std::variant<Launch, UsageError> with_name(Launch launch,
                                                         const std::string& name_of_releases);

// The paths of the programs and of the directory of one upgrader.
struct Places {
  std::string upgrader;   // the path of the program upgrader
  std::string agentify;   // the path of the program agentify
  std::string ctl;        // the path of the program upgraderctl
  std::string directory;  // where to put the control files, lock and last words; may be empty
};

// Returns true unless the upgrader's options set both the control directory and the lock.
[[nodiscard]] bool needs_directory(const Launch& launch);

// Returns argv of the upgrader, with the defaults that a daemon needs, unless the same option was
// given.
[[nodiscard]] std::vector<std::string> upgrader_command(const Launch& launch, const Places& places);

// Returns a command line like that of upgrader_command(), but for a check: with it, the upgrader
// checks the options and exits.
[[nodiscard]] std::vector<std::string> judging_command(const Launch& launch, const Places& places);

// Returns the argument in the form in which a shell reads it, quoted if necessary.
[[nodiscard]] std::string shell_word(const std::string& word);
// Returns all arguments in one line, as a shell reads them.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& words);

[[nodiscard]] std::string run_help();

}  // namespace agentify
