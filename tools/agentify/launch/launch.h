// The command lines of `agentify run` and `agentify unit` as data, and the upgrader's command line
// that follows from them. This file does no input or output: commands.cc makes directories and
// executes the upgrader.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tools/agentify/options.h"

namespace agentify {

// The options of `agentify run` and `agentify unit`. If an option was not given, its member is
// empty.
struct Launch {
  std::string name;  // the NAME of the upgrader's directory; see with_name()
  // a directory of releases, whose link `current` leads to the program that is run
  std::optional<std::string> releases;
  std::vector<std::string> upgrader;  // options for the upgrader, as they were given
  std::vector<std::string> adapter;   // options for agentify, as they were given
  std::string daemon;                 // the daemon's path or name; with `releases`, DIR/current
  std::vector<std::string> args;
  bool print = false;  // --print: only print the upgrader's command line

  bool operator==(const Launch&) const = default;
};

using LaunchLine = upgrader::CommandLineOf<Launch>;

// Parses the command line of `agentify run`, in which argv[0] is `run`. Checks the options that
// agentify will get. The upgrader checks the options in `--upgrader=OPTION` itself: see
// judging_command().
[[nodiscard]] LaunchLine parse_run(int argc, const char* const* argv);

// ---- parsing the options that `agentify run` and `agentify unit` share, one argument at a time

// Sets the member of `launch` for one option. Returns what is wrong with the option, or an empty
// text. An option that `agentify run` does not know is kept for the agentify process that the
// upgrader will start.
[[nodiscard]] std::string set_launch_option(const upgrader::Argument& argument, Launch& launch);

// Sets the daemon and the daemon's arguments to `words`, which follow the options, and checks that
// the options for agentify can be used together. Returns what is wrong, or an empty text. `command`
// is `run` or `unit`.
[[nodiscard]] std::string finish_launch(std::vector<std::string> words, const std::string& command,
                                        Launch& launch);

// Returns true if `options`, each of the form --NAME or --NAME=VALUE, has an option with this name.
[[nodiscard]] bool holds_option(const std::vector<std::string>& options, std::string_view name);

// ---- the upgrader's directory and its command line

// Returns `launch` with a name, which is the first of these that is not empty: --name,
// `name_of_releases`, the base name of the directory of releases, the base name of the daemon.
// Returns an error if the name cannot be the name of a directory.
[[nodiscard]] std::variant<Launch, UsageError> with_name(Launch launch,
                                                         const std::string& name_of_releases);

// The paths of the programs and of the directory of one upgrader.
struct Places {
  std::string upgrader;  // the path of the program upgrader
  std::string agentify;  // the path of the program agentify
  std::string ctl;       // the path of the program upgraderctl
  // the directory for the upgrader's control files, its lock and the daemon's last words; empty if
  // the upgrader needs none
  std::string directory;
};

// Returns true if the upgrader needs a directory for its control files or its lock. It needs none
// if its options name both a control directory and a lock.
[[nodiscard]] bool needs_directory(const Launch& launch);

// Returns the upgrader's command line. Adds default values for options that the upgrader needs for
// a daemon, except for options that the user has given.
[[nodiscard]] std::vector<std::string> upgrader_command(const Launch& launch, const Places& places);

// Returns a command line with which the upgrader checks its options and exits. The options are
// those of upgrader_command(), except --adapter.
[[nodiscard]] std::vector<std::string> judging_command(const Launch& launch, const Places& places);

// Returns one argument, quoted for a shell if necessary.
[[nodiscard]] std::string shell_word(const std::string& word);
// Returns all arguments on one line, quoted for a shell.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& words);

[[nodiscard]] std::string run_help();

}  // namespace agentify
