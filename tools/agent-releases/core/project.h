// Finds the program of a Node.js or Python project. Also makes the text of a small program that
// starts the project's program. `pack` adds this small program to the release. The functions here
// read no files: project_tree.cc reads the project's files, and runs npm and pip.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent-releases/result.h"
#include "agent-releases/version.h"
#include "tools/agent-releases/core/packing.h"

namespace agent_releases {

// The most bytes of a package.json that are read. A real package.json is far smaller.
inline constexpr std::size_t package_bytes_max = 1'048'576;

// The facts from a package.json that the command `pack` needs.
struct NodePackage {
  std::string name;     // the package's name without its scope
  std::string version;  // the package's version; empty if it has none
  std::string program;  // the path of the script to run: `bin`, or else `main`
};

// Parses a package.json. If `bin` is an object of named programs, chooses the program called
// `wanted`, or else the program with the package's name.
[[nodiscard]] Result<NodePackage> parse_package(std::string_view text, std::string_view wanted);

// Returns the paths at which Node.js looks for the file that `main` names, in the order in which
// Node.js tries them.
[[nodiscard]] std::vector<std::string> node_program_paths(const std::string& program);

// The program that `pack` adds to a Node.js project, to start the project. Because of the ending
// .cjs, Node.js reads this file as CommonJS, even in a package of ES modules.
inline constexpr std::string_view node_entry = "agent-entry.cjs";
// The program that `pack` adds to a Python project, to start the project.
inline constexpr std::string_view python_entry = "agent-entry";
// The directories into which `pack` installs the packages that a project needs.
inline constexpr std::string_view node_packages = "node_modules";
inline constexpr std::string_view python_packages = "site-packages";

// Returns the text of a program that starts the Node.js script `program`, a path in the release.
[[nodiscard]] std::string node_entry_text(const std::string& program);

// Returns the text of a program that starts `program`: the name of a Python module if `is_module`
// is true, otherwise the path of a Python script in the release. If `version`, such as "3.11", is
// not empty, a program with this text refuses to run with any other version of Python, because the
// release's packages would not work with it.
[[nodiscard]] std::string python_entry_text(const std::string& name, const std::string& program,
                                            bool is_module, const std::string& version);

// Returns the name of a package whose native addon was not built: the package has the addon's
// source code, but no built file. Returns nothing if there is no such package.
[[nodiscard]] std::optional<std::string> unbuilt_addon(const std::vector<Found>& tree);

// Returns true if there are ELF files among the project's files.
[[nodiscard]] bool has_native_files(const std::vector<Found>& tree);

// Returns the path of a Python project's program: the path that the publisher named, or else
// NAME.py, __main__.py or NAME/__main__.py. Returns an empty string if none of these files exists.
[[nodiscard]] std::string python_program(const std::string& name, const std::string& entry,
                                         const std::vector<Found>& tree);

// Returns true if the text has the form of a module name for `python3 -m`, such as
// "package.module".
[[nodiscard]] bool is_module_name(std::string_view text);

}  // namespace agent_releases
