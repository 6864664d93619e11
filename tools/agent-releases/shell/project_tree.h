// Makes, in a new directory, the files that are packed for a project of Node.js or Python. These
// are the project's own files, the packages that its lock file names, and a program that starts the
// project. Runs npm and pip for this.
#pragma once

#include <string>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/packing.h"
#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {

struct Project {
  std::string directory;     // the project's directory, which is not changed
  std::string name{};        // the release's NAME; if empty, the package's name
  std::string entry{};       // the script to run; if empty, the script that the project names
  bool run_scripts = false;  // let packages run programs while they are installed
};

struct ProjectTree {
  Scratch scratch;         // the temporary directory that contains the files
  std::string path{};      // the directory in `scratch` that is packed
  std::string name{};      // the release's NAME, if known
  std::string version{};   // the project's version; empty if it has none
  std::string entry{};     // the path of the program that starts the project
  std::string packages{};  // the directory into which npm or pip has installed packages
};

// Makes the files for a Node.js project: the files that `npm pack` would publish, and the packages
// that `npm ci --omit=dev` installs. Needs package.json and package-lock.json.
[[nodiscard]] Result<ProjectTree> make_node_tree(const Project& project);

// Makes the files for a Python project, with the packages that `pip install --require-hashes`
// installs. Needs requirements.txt with the hash of every package.
[[nodiscard]] Result<ProjectTree> make_python_tree(const Project& project);

}  // namespace agent_releases
