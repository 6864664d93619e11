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
  std::string name;                     // of the upgrader's directory; see with_name()
  std::optional<std::string> releases;  // a directory of agent-releases: DIR/current is run
  std::vector<std::string> upgrader;    // options of the upgrader, as given
  std::vector<std::string> adapter;     // agentify's own options, as given
  std::string daemon;                   // a path or a name; with `releases` DIR/current
  std::vector<std::string> args;
  bool print = false;  // run: show the command line instead

  bool operator==(const Launch&) const = default;
};

using LaunchLine = std::variant<Launch, HelpWanted, VersionWanted, UsageError>;

// `words` are those behind `agentify run`. The adapter's options are judged here, by the adapter's
// own rules. The upgrader's options are judged by the upgrader: see judging_command().
[[nodiscard]] LaunchLine parse_run(const std::vector<std::string>& words);

// The name that was given, otherwise the one that the directory of releases knows, otherwise the
// daemon's base name. Complains about one that cannot name a directory.
[[nodiscard]] std::variant<Launch, UsageError> with_name(Launch launch,
                                                         const std::string& name_of_releases);

// The paths of the programs and of the directory of one upgrader.
struct Places {
  std::string upgrader;   // the program
  std::string agentify;   // the program
  std::string ctl;        // upgraderctl, the program
  std::string directory;  // for --control, the lock and the last words; empty: not needed
};

// Whether the upgrader's options leave the control directory or the lock to us.
[[nodiscard]] bool needs_directory(const Launch& launch);

// argv of the upgrader: the defaults that a daemon needs, unless the same option was given.
[[nodiscard]] std::vector<std::string> upgrader_command(const Launch& launch, const Places& places);

// argv of an upgrader that says whether the options of upgrader_command() are good, and ends.
[[nodiscard]] std::vector<std::string> judging_command(const Launch& launch, const Places& places);

// A word as a shell takes it, in quotes if it needs them.
[[nodiscard]] std::string shell_word(const std::string& word);
// All of them, in one line.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& words);

[[nodiscard]] std::string run_help();

}  // namespace agentify
