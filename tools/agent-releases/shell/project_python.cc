// Makes the files to pack for a project of Python: see project_tree.h.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/member.h"
#include "tools/agent-releases/core/project.h"
#include "tools/agent-releases/shell/child.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/interruption.h"
#include "tools/agent-releases/shell/pack_files.h"
#include "tools/agent-releases/shell/project_tree.h"

namespace agent_releases {
namespace {

// Copies the content of a directory, with its files, directories and links, into a new directory.
constexpr std::size_t copied_bytes = 262'144;

Outcome copy_file(const Directory& from, const Directory& into, const std::string& name,
                  mode_t mode) {
  const auto source = from.open_file(name, O_RDONLY);
  if (!source) return source.refusal();
  const auto copy = into.open_file(name, O_WRONLY | O_CREAT | O_EXCL, mode & 0777U);
  if (!copy) return copy.refusal();
  std::vector<char> piece(copied_bytes);
  while (true) {
    if (const Outcome none = Interruption::none(); !none) return none;
    const ssize_t count = ::read(source.value().get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return refusal_from_errno("read", from.path_of(name));
    if (count == 0) break;
    const std::string_view bytes(piece.data(), static_cast<std::size_t>(count));
    const Outcome written = write_all(copy.value().get(), into.path_of(name), bytes);
    if (!written) return written;
  }
  if (::fchmod(copy.value().get(), mode & permission_bits) == 0) return std::monostate{};
  return refusal_from_errno("write", into.path_of(name));
}

// Copies a directory, except the names for which `is_left_out` returns true. Refuses devices, FIFOs
// and sockets. Also refuses directories that are nested deeper than a release may be.
[[nodiscard]] Outcome copy_tree(const Directory& from, const Directory& into,
                                const std::function<bool(const std::string&)>& is_left_out,
                                std::size_t depth = 0) {
  if (depth >= member_depth_max) return Refusal{from.path() + " is too deep for a release"};
  const auto names = from.names();
  if (!names) return names.refusal();
  for (const std::string& name : names.value()) {
    if (is_left_out(name)) continue;
    const auto status = from.status(name);
    if (!status) return status.refusal();
    if (!status.value()) return Refusal{from.path_of(name) + " vanished while it was packed"};
    const mode_t mode = status.value()->st_mode;
    Outcome copied = Refusal{from.path_of(name) + " is a device, a FIFO or a socket"};
    if (S_ISREG(mode)) {
      copied = copy_file(from, into, name, mode);
    } else if (S_ISLNK(mode)) {
      copied = into.link(from.link_target(name).value_or(""), name);
    } else if (S_ISDIR(mode)) {
      const auto below = from.subdirectory(name);
      if (!below) return below.refusal();
      if (const Outcome made = into.make_directory(name, directory_mode); !made) return made;
      const auto copy = into.subdirectory(name);
      if (!copy) return copy.refusal();
      copied = copy_tree(below.value(), copy.value(), is_left_out, depth + 1);
    }
    if (!copied) return copied;
  }
  return std::monostate{};
}

constexpr const char* requirements_file = "requirements.txt";
constexpr const char* bytecode_directory = "__pycache__";

// Returns true for files that are not packed: hidden ones, such as .git and .venv, because they are
// not part of the program; and bytecode, because it differs from one machine to another.
bool is_left_out(const std::string& name) {
  return name.starts_with('.') || name == bytecode_directory;
}

// Installs the packages, but only from wheels. To install a package of another kind, pip would run
// a program of that package.
Outcome install_wheels(const Project& project, const Directory& tree) {
  std::vector<std::string> command{"python3",       "-m",
                                   "pip",           "install",
                                   "--quiet",       "--disable-pip-version-check",
                                   "--no-input",    "--root-user-action=ignore",
                                   "--no-compile",  "--require-hashes",
                                   "--target",      tree.path_of(python_packages),
                                   "--requirement", requirements_file};
  if (!project.run_scripts) command.emplace_back("--only-binary=:all:");
  const auto installed = run_child(command, project.directory);
  if (!installed) return Refusal{"pip: " + installed.reason(), installed.refusal().trouble};
  // Removes the programs that packages have installed, because their first line names the Python of
  // this machine.
  const auto packages = tree.subdirectory(std::string(python_packages));
  if (!packages) return errno == ENOENT ? Outcome(std::monostate{}) : packages.refusal();
  return packages.value().remove("bin");
}

// Returns the version of the python3 that PATH finds, such as "3.11".
Result<std::string> python_version(const std::string& directory) {
  auto version = run_child(
      {"python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2], end='')"}, directory);
  return version;
}

}  // namespace

Result<ProjectTree> make_python_tree(const Project& project) {
  const auto directory = Directory::open(project.directory);
  if (!directory) return directory.refusal();
  const auto requirements = directory.value().status(requirements_file);
  if (!requirements) return requirements.refusal();
  if (!requirements.value()) {
    return Refusal{"there is no " + directory.value().path_of(requirements_file) +
                       ", which names every package with its hash",
                   Trouble::absent};
  }
  auto scratch = Scratch::make();
  if (!scratch) return scratch.refusal();
  const Directory& tree = scratch.value().directory();
  const Outcome copied = copy_tree(directory.value(), tree, is_left_out);
  if (!copied) return copied.refusal();
  const std::string entry(python_entry);
  for (const std::string& name : {entry, std::string(python_packages)}) {
    const auto taken = tree.status(name);
    if (!taken) return taken.refusal();
    if (taken.value()) return Refusal{"the project has " + name + ", which pack would make"};
  }
  const Outcome installed = install_wheels(project, tree);
  if (!installed) return installed.refusal();
  const auto found = look_at_tree(tree);
  if (!found) return found.refusal();
  const std::string program = python_program(project.name, project.entry, found.value());
  if (program.empty()) {
    return Refusal{"the project has " +
                       (project.entry.empty() ? "neither " + project.name + ".py nor __main__.py"
                                              : "no " + project.entry) +
                       ": name the script or the module that is run by --entry",
                   Trouble::absent};
  }
  std::string version;
  if (has_native_files(found.value())) {
    auto asked = python_version(project.directory);
    if (!asked) return asked.refusal();
    version = std::move(asked.value());
  }
  const auto is_file = tree.status(program);
  const bool is_module = !is_file || !is_file.value();
  const Outcome made =
      tree.write(entry, python_entry_text(project.name, program, is_module, version), release_mode);
  if (!made) return made.refusal();
  const std::string path = tree.path();
  return ProjectTree{
      .scratch = std::move(scratch.value()), .path = path, .name = project.name, .entry = entry};
}

}  // namespace agent_releases
