// Projects of Node.js and of Python: which program of one is run, and the small program that `pack`
// puts beside it to run it. Text in, text out: npm and pip are the shell's affair.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent-releases/result.h"
#include "agent-releases/version.h"
#include "tools/agent-releases/core/packing.h"

namespace agent_releases {

// Nobody's package.json is longer.
inline constexpr std::size_t package_bytes_max = 1'048'576;

// The members of a package.json that are used.
struct NodePackage {
  std::string name;     // without a scope
  std::string version;  // empty: it has none
  std::string program;  // the path of the script that is run: `bin`, or else `main`
};

// Of several programs in `bin` the one that is called `wanted`, or as the package.
[[nodiscard]] Result<NodePackage> parse_package(std::string_view text, std::string_view wanted);

// The paths at which Node.js looks for `main`, in their order.
[[nodiscard]] std::vector<std::string> node_program_paths(const std::string& program);

// The paths, in the tree, of the small programs that `pack` makes. The ending .cjs tells Node.js
// that the program is CommonJS, even in a package of ES modules.
inline constexpr std::string_view node_entry = "agent-entry.cjs";
inline constexpr std::string_view python_entry = "agent-entry";
inline constexpr std::string_view python_packages = "site-packages";

// `program` is a path in the tree.
[[nodiscard]] std::string node_entry_text(const std::string& program);

// `program` is a path in the tree, or the name of a module. `version`, such as "3.11": the packages
// are for this Python alone; empty: for any.
[[nodiscard]] std::string python_entry_text(const std::string& name, const std::string& program,
                                            bool is_module, const std::string& version);

// A package that has the source of a native addon and nothing that was built of it.
[[nodiscard]] std::optional<std::string> unbuilt_addon(const std::vector<Found>& tree);

// Whether the tree has ELF files.
[[nodiscard]] bool has_native_files(const std::vector<Found>& tree);

// The program of a Python project: the one that was named, or NAME.py, __main__.py,
// NAME/__main__.py. Returns an empty string if the tree has none of them.
[[nodiscard]] std::string python_program(const std::string& name, const std::string& entry,
                                         const std::vector<Found>& tree);

// "package.module", which `python3 -m` takes.
[[nodiscard]] bool is_module_name(std::string_view text);

}  // namespace agent_releases
