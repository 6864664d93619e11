#include "tools/agent-releases/shell/project_tree.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "base/owned_fd.h"
#include "base/pointers.h"
#include "tools/agent-releases/core/member.h"
#include "tools/agent-releases/core/project.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/interruption.h"
#include "tools/agent-releases/shell/pack_files.h"
#include "tools/agent-releases/shell/unpack.h"

extern char** environ;

namespace agent_releases {
namespace {

// The most bytes that are read from a child's output.
constexpr std::size_t child_output_bytes_max = 65'536;
constexpr int look_ms = 100;

class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// Reads from the pipe until the child closes its end. If this process is interrupted, sends SIGTERM
// to the child. Each wait for the pipe is short, because a signal that comes just before a wait
// begins does not end this wait.
Outcome drain(int pipe, pid_t child, std::string& output) {
  bool told = false;
  std::array<char, 4'096> bytes;
  while (true) {
    if (!told && !not_interrupted()) {
      told = true;
      ::kill(child, SIGTERM);
    }
    pollfd readable{pipe, POLLIN, 0};
    if (::poll(&readable, 1, look_ms) <= 0) continue;
    const ssize_t count = ::read(pipe, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return not_interrupted();
    output.append(bytes.data(), static_cast<std::size_t>(count));
    if (output.size() > child_output_bytes_max) output.resize(child_output_bytes_max);
  }
}

std::string end_of(int status) {
  if (WIFSIGNALED(status)) return "was killed by signal " + std::to_string(WTERMSIG(status));
  return "exited with status " + std::to_string(WEXITSTATUS(status));
}

// Runs npm or Python from PATH, without a shell, and waits until it exits. Returns its standard
// output; its standard error is not redirected. Refuses if the program is missing or fails.
// Interrupts the child if this process is interrupted.
Result<std::string> run_child(const std::vector<std::string>& command,
                              const std::string& directory) {
  const std::vector<char*> arguments = upgrader::pointers_to(command);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return refusal_from_errno("make", "a pipe");
  const upgrader::OwnedFd ours(ends[0]);
  upgrader::OwnedFd theirs(ends[1]);
  FileActions actions;
  ::posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(actions.get(), theirs.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_addchdir_np(actions.get(), directory.c_str());
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, command[0].c_str(), actions.get(), nullptr, arguments.data(), environ);
  if (error != 0) {
    return Refusal{"cannot run " + command[0] + ": " + std::strerror(error),
                   error == ENOENT ? Trouble::absent : Trouble::system};
  }
  theirs.reset();
  std::string output;
  const Outcome drained = drain(ours.get(), child, output);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!drained) return drained.refusal();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output;
  return Refusal{"`" + command[0] + " " + command[1] + "` " + end_of(status)};
}

constexpr const char* package_file = "package.json";
constexpr std::size_t lock_bytes_max = 67'108'864;

// Unpacks NAME-VERSION.tgz, the only file that `npm pack` makes. Returns the directory `package`
// from this archive.
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

// Returns the name and the content of the project's lock file, which may have one of two names. If
// both files exist, reads the file that npm would read.
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

Outcome copy_file(const Directory& from, const Directory& into, const std::string& name,
                  mode_t mode) {
  const auto source = from.open_file(name, O_RDONLY);
  if (!source) return source.refusal();
  const auto copy = into.open_file(name, O_WRONLY | O_CREAT | O_EXCL, mode & 0777U);
  if (!copy) return copy.refusal();
  const auto write = [&](std::string_view piece) {
    const Outcome none = not_interrupted();
    return none ? write_all(copy.value().get(), into.path_of(name), piece) : none;
  };
  const Outcome copied = read_pieces(source.value().get(), from.path_of(name), write);
  if (!copied) return copied;
  if (::fchmod(copy.value().get(), mode & permission_bits) == 0) return std::monostate{};
  return refusal_from_errno("write", into, name);
}

// Copies a directory, except entries for whose names `is_left_out` returns true. Refuses devices,
// FIFOs and sockets. Also refuses directories that are nested deeper than a release allows.
Outcome copy_tree(const Directory& from, const Directory& into,
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

// Returns true for files that are not packed. Hidden files and directories, such as .git and .venv,
// are not part of the program. Bytecode is left out because it differs from machine to machine.
bool is_left_out(const std::string& name) {
  return name.starts_with('.') || name == bytecode_directory;
}

// Installs the packages, but only from wheels. To install a package that is not a wheel, pip would
// run a program from that package.
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
  // Remove the programs that packages have installed, because the first line of each program names
  // the Python of this machine.
  const auto packages = tree.subdirectory(std::string(python_packages));
  const bool is_absent = !packages && packages.refusal().error_number == ENOENT;
  if (!packages) return is_absent ? Outcome(std::monostate{}) : packages.refusal();
  return packages.value().remove("bin");
}

// Returns the version of the python3 that is found in PATH, such as "3.11".
Result<std::string> python_version(const std::string& directory) {
  return run_child({"python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2], end='')"},
                   directory);
}

}  // namespace

Result<ProjectTree> make_node_tree(const Project& project) {
  const auto directory = Directory::open(project.directory);
  if (!directory) return directory.refusal();
  const auto text = directory.value().read(package_file, package_bytes_max);
  if (!text) return text.refusal();
  if (!text.value()) {
    return Refusal{"there is no " + directory.value().path_of(package_file), Trouble::absent};
  }
  const auto package = parse_package(*text.value(), project.name);
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
                     .entry = entry,
                     .packages = std::string(node_packages)};
}

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
  return ProjectTree{.scratch = std::move(scratch.value()),
                     .path = path,
                     .name = project.name,
                     .entry = entry,
                     .packages = std::string(python_packages)};
}

}  // namespace agent_releases
