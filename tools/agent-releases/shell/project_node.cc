// Makes the files to pack for a project of Node.js: see project_tree.h.
#include <fcntl.h>
#include <sys/stat.h>

#include <utility>
#include <vector>

#include "tools/agent-releases/core/names.h"
#include "tools/agent-releases/core/project.h"
#include "tools/agent-releases/shell/child.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/pack_files.h"
#include "tools/agent-releases/shell/project_tree.h"
#include "tools/agent-releases/shell/unpack.h"

namespace agent_releases {
namespace {

constexpr const char* package_file = "package.json";
constexpr std::size_t lock_bytes_max = 67'108'864;

// Unpacks NAME-VERSION.tgz, the only file that `npm pack` makes. Returns the archive's directory
// `package`.
Result<Directory> unpack_package(const Directory& scratch) {
  const auto names = scratch.names();
  if (!names) return names.refusal();
  if (names.value().size() != 1) return Refusal{"npm pack has not made one file"};
  const auto file = scratch.open_file(names.value()[0], O_RDONLY);
  if (!file) return file.refusal();
  struct stat status {};
  if (::fstat(file.value().get(), &status) != 0)
    return refusal_from_errno("read", names.value()[0]);
  const auto unpacked = unpack(file.value().get(), status.st_size, scratch);
  if (!unpacked) return Refusal{"what npm pack has made: " + unpacked.reason()};
  return scratch.subdirectory("package");
}

Result<std::string> read_needed(const Directory& directory, const std::string& name,
                                std::size_t bytes_max) {
  auto text = directory.read(name, bytes_max);
  if (!text) return text.refusal();
  if (!text.value()) return Refusal{"there is no " + directory.path_of(name), Trouble::absent};
  return std::move(*text.value());
}

// Reads the project's lock file, which may have one of two names. If both files exist, reads the
// one that npm would read.
Result<std::pair<std::string, std::string>> read_lock(const Directory& project) {
  for (const std::string name : {"npm-shrinkwrap.json", "package-lock.json"}) {
    auto text = project.read(name, lock_bytes_max);
    if (!text) return text.refusal();
    if (text.value()) return std::pair(name, std::move(*text.value()));
  }
  return Refusal{"there is no " + project.path_of("package-lock.json") +
                     ", which says which packages are installed: npm install makes it",
                 Trouble::absent};
}

Outcome install_modules(const Project& project, const Directory& tree) {
  std::vector<std::string> command{
      "npm",        "ci",        "--omit=dev",           "--engine-strict",
      "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"};
  if (!project.run_scripts) command.emplace_back("--ignore-scripts");
  const auto installed = run_child(command, tree.path());
  return installed ? Outcome(std::monostate{}) : Outcome(installed.refusal());
}

Result<std::string> find_program(const std::string& program, const Directory& tree) {
  const auto found = look_at_tree(tree);
  if (!found) return found.refusal();
  if (const auto addon = unbuilt_addon(found.value())) {
    return Refusal{*addon +
                   " is a native addon that has not been built: --scripts lets packages run what "
                   "builds them"};
  }
  for (const std::string& path : node_program_paths(program)) {
    for (const Found& each : found.value()) {
      if (each.path == path && each.kind == Found::Kind::file) return path;
    }
  }
  return Refusal{"the package has no " + program + ", which is to be run: name it by --entry=PATH",
                 Trouble::absent};
}

}  // namespace

Result<ProjectTree> make_node_tree(const Project& project) {
  const auto directory = Directory::open(project.directory);
  if (!directory) return directory.refusal();
  const auto text = read_needed(directory.value(), package_file, package_bytes_max);
  if (!text) return text.refusal();
  const auto package = parse_package(text.value(), project.name);
  if (!package && project.entry.empty()) return package.refusal();
  const auto lock = read_lock(directory.value());
  if (!lock) return lock.refusal();
  auto scratch = Scratch::make();
  if (!scratch) return scratch.refusal();
  const auto packed = run_child({"npm", "pack", "--ignore-scripts", "--loglevel=error",
                                 "--pack-destination", scratch.value().directory().path()},
                                project.directory);
  if (!packed) return packed.refusal();
  const auto tree = unpack_package(scratch.value().directory());
  if (!tree) return tree.refusal();
  const Outcome locked = tree.value().write(lock.value().first, lock.value().second);
  if (!locked) return locked.refusal();
  const Outcome installed = install_modules(project, tree.value());
  if (!installed) return installed.refusal();
  const std::string wanted = project.entry.empty() ? package.value().program : project.entry;
  const auto program = find_program(wanted, tree.value());
  if (!program) return program.refusal();
  const std::string entry(node_entry);
  const auto taken = tree.value().status(entry);
  if (!taken) return taken.refusal();
  if (taken.value()) return Refusal{"the package has a file " + entry + ", which pack would make"};
  const Outcome made = tree.value().write(entry, node_entry_text(program.value()), release_mode);
  if (!made) return made.refusal();
  return ProjectTree{.scratch = std::move(scratch.value()),
                     .path = tree.value().path(),
                     .name = project.name.empty() && package ? package.value().name : project.name,
                     .version = package ? package.value().version : "",
                     .entry = entry};
}

}  // namespace agent_releases
