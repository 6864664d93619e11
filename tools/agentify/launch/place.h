// This file finds the directory of one upgrader, for its control files and its lock, and the
// programs that are installed beside agentify.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "tools/agentify/launch/launch.h"

namespace agentify {

// The reason, in words, why a directory or a program cannot be found or used.
struct NoPlace {
  std::string why;
};

// Finds the directory of the upgrader NAME: /run/upgrader/NAME if the caller is root or owns that
// directory, otherwise $XDG_RUNTIME_DIR/upgrader/NAME. If `make` is true, makes the directory NAME
// (mode 0700) and its parent (mode 0755) if they are missing.
[[nodiscard]] std::variant<std::string, NoPlace> find_directory(const std::string& name, bool make);

// Finds the path of agentify itself, and of the programs upgrader and upgraderctl in the same
// directory.
[[nodiscard]] std::variant<Places, NoPlace> find_programs();

// Returns the absolute path of a program, for a service file. A name that begins with a slash is
// returned unchanged. A name without a slash is looked up in PATH. Returns "" if PATH has no such
// program, or if the name is a relative path with a slash.
[[nodiscard]] std::string path_of_program(const std::string& name);

// Returns nothing if a directory of agent-releases has the link `current`, which leads to the
// release to run. Otherwise returns a message that tells the user how to make the link.
[[nodiscard]] std::optional<std::string> missing_current(const std::string& directory);

// Returns the NAME with which the names of all releases in a directory of agent-releases begin.
// Reads it from the directory's file `.name`; if there is no such file, returns an empty string.
[[nodiscard]] std::string name_of_releases(const std::string& directory);

}  // namespace agentify
