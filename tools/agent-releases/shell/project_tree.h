// Makes, in a new directory, the files that are packed for a project of Node.js or Python: its own
// files, the packages that its lock file names, and a program that starts it.
#pragma once

#include <string>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/packing.h"
#include "tools/agent-releases/shell/scratch.h"

namespace agent_releases {

struct Project {
  std::string directory;     // the project's directory, which is only read
  std::string name{};        // the release's NAME; if empty, the package's name
  std::string entry{};       // the script to run; if empty, the project's own choice
  bool run_scripts = false;  // packages may run programs while they are installed
};

struct ProjectTree {
  Scratch scratch;        // the temporary directory that has the files
  std::string path{};     // the directory in `scratch` with these files
  std::string name{};     // the release's NAME, if known
  std::string version{};  // the project's version; empty if it has none
  std::string entry{};    // the program that was made to start the project
};

// Uses package.json and package-lock.json: takes the files of `npm pack`, and the packages of `npm
// ci --omit=dev`.
[[nodiscard]] Result<ProjectTree> make_node_tree(const Project& project);

// Uses requirements.txt, which must have the hash of every package: `pip install --require-hashes`.
[[nodiscard]] Result<ProjectTree> make_python_tree(const Project& project);

}  // namespace agent_releases
