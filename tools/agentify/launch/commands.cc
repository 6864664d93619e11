// Performs `agentify run` and `agentify unit`: finds programs and directories, then executes the
// upgrader (`run`) or prints a service file (`unit`).
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <string_view>

#include "base/errno_name.h"
#include "base/pointers.h"
#include "base/shown.h"
#include "base/standard_output.h"
#include "tools/agentify/launch/launch.h"
#include "tools/agentify/launch/place.h"
#include "tools/agentify/launch/unit.h"
#include "tools/agentify/subcommands.h"

namespace agentify {
namespace {

constexpr int exit_good = 0;
constexpr int exit_refused = 1;
constexpr int exit_usage = 2;
constexpr int exit_not_executable = 126;
constexpr int exit_not_found = 127;

int print(const std::string& text) {
  return upgrader::print_text("agentify", text, exit_good, exit_refused);
}

// Prints the reason of a failure. The reason may contain text from a directory of releases, which
// need not belong to the user of this terminal.
int complain(const std::string& why, int status) {
  std::fprintf(stderr, "agentify: %s\n", upgraderctl::shown(why).c_str());
  return status;
}

// Returns true if the upgrader accepts its options. Otherwise the upgrader has printed the reason.
bool upgrader_takes_options(const Launch& launch, const Places& places) {
  if (launch.upgrader.empty()) return true;
  const std::vector<std::string> words = judging_command(launch, places);
  const std::vector<char*> argv = upgrader::pointers_to(words);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (error != 0) return true;  // start() reports the error when it executes the upgrader
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Executes the upgrader in this process. With --print, prints the upgrader's command line instead.
// Returns only after --print or after a failure.
int start(const Launch& launch) {
  if (launch.releases && !launch.print) {
    if (const auto missing = missing_current(*launch.releases)) {
      return complain("run: " + *missing, exit_not_found);
    }
  }
  auto programs = find_programs();
  if (const auto* none = std::get_if<NoPlace>(&programs)) return complain(none->why, exit_refused);
  Places places = std::get<Places>(std::move(programs));
  if (!upgrader_takes_options(launch, places)) return exit_usage;
  if (needs_directory(launch)) {
    const auto directory = find_directory(launch.name, !launch.print);
    if (const auto* none = std::get_if<NoPlace>(&directory)) {
      return complain(none->why, exit_refused);
    }
    places.directory = std::get<std::string>(directory);
  }
  const std::vector<std::string> words = upgrader_command(launch, places);
  if (launch.print) return print(shell_line(words) + "\n");
  const std::vector<char*> argv = upgrader::pointers_to(words);
  ::execv(argv[0], argv.data());
  const int error = errno;
  return complain("cannot execute " + words[0] + ": " + in_words(upgrader::SystemError{error}),
                  error == ENOENT ? exit_not_found : exit_not_executable);
}

// Returns `launch` with the name of the upgrader's directory. Without --name, this is the content
// of the file `.name` in the directory of --releases, or else the base name of that directory.
// Without --releases, it is the base name of the daemon.
std::variant<Launch, UsageError> named(Launch launch) {
  const std::string known = launch.releases ? name_of_releases(*launch.releases) : "";
  return with_name(std::move(launch), known);
}

int answer(const std::string& command, const UsageError& wrong) {
  return complain(command + ": " + wrong.reason, exit_usage);
}

// Makes the daemon's path absolute, because init may have a PATH that differs from the caller's.
std::optional<UsageError> find_daemon_path(Launch& launch) {
  if (launch.releases) return std::nullopt;
  const std::string found = path_of_program(launch.daemon);
  if (found.empty()) {
    return UsageError{launch.daemon +
                      ": not in PATH; give the daemon's path, which begins with a slash"};
  }
  launch.daemon = found;
  return std::nullopt;
}

// Returns true if the file at `path` is a script, which begins with #! and an interpreter.
bool begins_as_script(const std::string& path) {
  char head[2] = {};
  return std::ifstream(path, std::ios::binary).read(head, sizeof head) &&
         std::string_view(head, sizeof head) == "#!";
}

}  // namespace

int perform_run(int argc, const char* const* argv) {
  LaunchLine line = parse_run(argc, argv);
  if (std::holds_alternative<HelpWanted>(line)) return print(run_help());
  if (std::holds_alternative<VersionWanted>(line)) return print(version_text());
  if (const auto* wrong = std::get_if<UsageError>(&line)) return answer("run", *wrong);
  auto launch = named(std::get<Launch>(std::move(line)));
  if (const auto* wrong = std::get_if<UsageError>(&launch)) return answer("run", *wrong);
  return start(std::get<Launch>(launch));
}

int perform_unit(int argc, const char* const* argv) {
  UnitLine line = parse_unit(argc, argv);
  if (std::holds_alternative<HelpWanted>(line)) return print(unit_help());
  if (std::holds_alternative<VersionWanted>(line)) return print(version_text());
  if (const auto* wrong = std::get_if<UsageError>(&line)) return answer("unit", *wrong);
  Unit unit = std::get<Unit>(std::move(line));
  auto launch = named(std::move(unit.launch));
  if (const auto* wrong = std::get_if<UsageError>(&launch)) return answer("unit", *wrong);
  unit.launch = std::get<Launch>(std::move(launch));
  if (unit.init == InitSystem::systemd && unit.name().find(':') != std::string::npos) {
    return answer("unit", {"systemd reads RuntimeDirectory=upgrader/" + unit.name() +
                           " as two names, because of the colon; give --name=NAME without one"});
  }
  if (const auto wrong = find_daemon_path(unit.launch)) return answer("unit", *wrong);
  unit.is_script = !unit.launch.releases && begins_as_script(unit.launch.daemon);
  auto programs = find_programs();
  if (const auto* none = std::get_if<NoPlace>(&programs)) return complain(none->why, exit_refused);
  if (!upgrader_takes_options(unit.launch, std::get<Places>(programs))) return exit_usage;
  unit.agentify = std::get<Places>(programs).agentify;
  unit.ctl = std::get<Places>(programs).ctl;
  return print(unit_text(unit));
}

}  // namespace agentify
