// Makes of a project of Node.js or Python, in a fresh directory, the tree that is packed: its own
// files, the packages that its lock file names, and a program that starts it.
#pragma once

#include <string>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/packing.h"
#include "tools/agent-releases/shell/scratch.h"

namespace agent_releases {

struct Project {
  std::string directory;     // it is only read
  std::string name{};        // of the release; empty: the package's
  std::string entry{};       // the script that is run; empty: as the project says
  bool run_scripts = false;  // packages may run programs of their own while they are installed
};

struct ProjectTree {
  Scratch scratch;        // the tree lives as long as this does
  std::string path{};     // of the tree
  std::string name{};     // of the release, as far as it is known
  std::string version{};  // empty: the project has none
  std::string entry{};    // the program that was made
};

// By package.json and package-lock.json: the files that `npm pack` takes, and `npm ci --omit=dev`.
[[nodiscard]] Result<ProjectTree> make_node_tree(const Project& project);

// By requirements.txt, which has the hash of every package: `pip install --require-hashes`.
[[nodiscard]] Result<ProjectTree> make_python_tree(const Project& project);

}  // namespace agent_releases
