// The directory of one upgrader, and the programs that are installed beside agentify.
#pragma once

#include <string>
#include <variant>

#include "tools/agentify/launch/launch.h"

namespace agentify {

// Why a directory or a program cannot be had, for people.
struct NoPlace {
  std::string why;
};

// The directory NAME in /run/upgrader, or in $XDG_RUNTIME_DIR/upgrader if the caller is not root
// and nobody has made /run/upgrader/NAME for the caller. With `make` it exists then: NAME with mode
// 0700, the directory above it with 0755.
[[nodiscard]] std::variant<std::string, NoPlace> find_directory(const std::string& name, bool make);

// agentify itself, and the upgrader and upgraderctl beside it.
[[nodiscard]] std::variant<Places, NoPlace> find_programs();

// The path of a program, for a service file: a path as it is, if it begins with a slash; a name as
// it is found in PATH; otherwise "".
[[nodiscard]] std::string path_of_program(const std::string& name);

// The name that a directory of agent-releases keeps, or nothing.
[[nodiscard]] std::string name_of_releases(const std::string& directory);

}  // namespace agentify
