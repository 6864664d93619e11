// Finds the directory of one upgrader, and the programs that are installed beside agentify.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "tools/agentify/launch/launch.h"

namespace agentify {

// Why a directory or a program cannot be found or used, for people.
struct NoPlace {
  std::string why;
};

// Finds the directory of the upgrader NAME: /run/upgrader/NAME, or $XDG_RUNTIME_DIR/upgrader/NAME
// if the caller is not root and nobody has made /run/upgrader/NAME for the caller. With `make`,
// makes it if it does not exist: NAME with mode 0700, the directory above it with 0755.
[[nodiscard]] std::variant<std::string, NoPlace> find_directory(const std::string& name, bool make);

// Finds agentify itself, and the upgrader and upgraderctl beside it.
[[nodiscard]] std::variant<Places, NoPlace> find_programs();

// Returns the path of a program, for a service file. A name that begins with a slash is returned
// unchanged; another is looked up in PATH. Returns "" if it is not found.
[[nodiscard]] std::string path_of_program(const std::string& name);

// Returns how to make the link `current` of a directory of agent-releases, or nothing if the
// directory has one.
[[nodiscard]] std::optional<std::string> missing_current(const std::string& directory);

// Returns the name that a directory of agent-releases keeps, or an empty text.
[[nodiscard]] std::string name_of_releases(const std::string& directory);

}  // namespace agentify
