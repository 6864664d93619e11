// Projects of Node.js and Python: finds the program of a project, and makes the small program that
// `pack` puts beside it to run it. Reads no files: project_node.cc and project_python.cc run npm
// and pip.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent-releases/result.h"
#include "agent-releases/version.h"
#include "tools/agent-releases/core/packing.h"

namespace agent_releases {

// The most bytes of a package.json that are read. Real ones are far smaller.
inline constexpr std::size_t package_bytes_max = 1'048'576;

// The members of a package.json that are used.
struct NodePackage {
  std::string name;     // the package's name without its scope
  std::string version;  // the package's version; empty if it has none
  std::string program;  // the path of the script to run: `bin`, or else `main`
};

// Parses a package.json. If `bin` has several programs, takes the one that is called `wanted`, or
// else the one that has the package's name.
[[nodiscard]] Result<NodePackage> parse_package(std::string_view text, std::string_view wanted);

// Returns the paths that Node.js would try, in this order, to find the file that `main` names.
[[nodiscard]] std::vector<std::string> node_program_paths(const std::string& program);

// The paths that `pack` adds to a project: the program that starts it, for Node.js or Python, and
// the directory of Python packages. The ending .cjs makes Node.js read the program as CommonJS,
// even in a package of ES modules.
inline constexpr std::string_view node_entry = "agent-entry.cjs";
inline constexpr std::string_view python_entry = "agent-entry";
inline constexpr std::string_view python_packages = "site-packages";

// Returns the text of the program that starts the Node.js program at the path `program` of a
// release.
[[nodiscard]] std::string node_entry_text(const std::string& program);

// Returns the text of the program that starts the Python program `program`: a path in the release,
// or the name of a module. If `version` is set, such as "3.11", the packages work only with that
// Python.
[[nodiscard]] std::string python_entry_text(const std::string& name, const std::string& program,
                                            bool is_module, const std::string& version);

// Returns the name of a package that has the source of a native addon, but no addon built from it;
// or nothing.
[[nodiscard]] std::optional<std::string> unbuilt_addon(const std::vector<Found>& tree);

// Returns true if the tree has ELF files.
[[nodiscard]] bool has_native_files(const std::vector<Found>& tree);

// Returns the program of a Python project: the one that was named, otherwise NAME.py, __main__.py
// or NAME/__main__.py. Returns an empty string if the tree has none of them.
[[nodiscard]] std::string python_program(const std::string& name, const std::string& entry,
                                         const std::vector<Found>& tree);

// Returns true for a name that `python3 -m` takes, such as "package.module".
[[nodiscard]] bool is_module_name(std::string_view text);

}  // namespace agent_releases
