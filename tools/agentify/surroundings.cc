#include "tools/agentify/surroundings.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>

#include "base/descriptors.h"
#include "base/environment.h"
#include "base/errno_name.h"
#include "tools/agentify/daemon_lock.h"

namespace agentify {
namespace {

using upgrader::ExecutableKind;
using upgrader::OwnedFd;
using upgrader::Program;

constexpr std::string_view protocol_prefix = "AGENT_PROTOCOL";
constexpr const char* lock_variable = "AGENT_PROTOCOL_LOCK_FD";
constexpr const char* program_variable = "AGENT_PROTOCOL_PROGRAM";
constexpr const char* descriptor_variable = "AGENT_PROTOCOL_PROGRAM_FD";

// Variables that the daemon must not inherit: a variable that libagent-protocol sets for itself,
// and variables that init has set for the upgrader.
constexpr std::string_view left_out[] = {"LIBAGENT_PROTOCOL_PROCESS", "NOTIFY_SOCKET",
                                         "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_PIDFDID"};
constexpr std::string_view listen_prefix = "LISTEN_";

std::optional<int> descriptor_in(const char* name) {
  const auto number = upgrader::number_in(name, std::numeric_limits<int>::max());
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

std::string_view name_of(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}

bool is_left_out(std::string_view name) {
  if (name.starts_with(protocol_prefix)) return true;
  for (const std::string_view one : left_out) {
    if (one == name) return true;
  }
  return false;
}

void share_environment(Surroundings& made, bool sockets) {
  for (const char* const* entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name = name_of(*entry);
    if (is_left_out(name)) continue;
    const bool listens = name == "LISTEN_PID" || name == "LISTEN_FDS" || name == "LISTEN_FDNAMES";
    if (!name.starts_with(listen_prefix)) made.command_environment.emplace_back(*entry);
    if (listens && !sockets) continue;
    if (name == "LISTEN_PID") made.daemon.listen_pid = made.daemon.environment.size();
    made.daemon.environment.emplace_back(*entry);
  }
  made.check.environment = made.daemon.environment;
  made.check.listen_pid = made.daemon.listen_pid;
  if (const char* const path = std::getenv(program_variable)) {
    const std::string entry = std::string(program_variable) + "=" + path;
    made.command_environment.push_back(entry);
    made.check.environment.push_back(entry);
  }
}

// Occupies the descriptor `number`, which the daemon's readiness pipe will need, with a copy of
// standard error. So no file that is opened in the meantime gets this number.
std::string keep_free(int number, int first_free) {
  const std::string name = "--ready=fd:" + std::to_string(number) + ": ";
  if (number < first_free) return name + "the daemon has a socket or the lock there";
  const int error = ::dup3(STDERR_FILENO, number, O_CLOEXEC) < 0 ? errno : 0;
  return error == 0 ? "" : name + in_words(upgrader::SystemError{error});
}

// Keeps the number `from` free for the readiness pipe: if `descriptor` has this number, returns a
// copy of `descriptor` with a different number. Otherwise returns `descriptor`.
int moved_away(int descriptor, std::optional<int> from) {
  if (descriptor != from) return descriptor;
  return ::fcntl(descriptor, F_DUPFD_CLOEXEC, upgrader::first_passed_descriptor);
}

}  // namespace

std::variant<Surroundings, std::string> look_around(std::optional<int> ready_descriptor) {
  Surroundings made;
  made.alone = std::getenv("AGENT_PROTOCOL") == nullptr;
  upgrader::mark_close_on_exec_from(upgrader::first_passed_descriptor);
  const std::optional<int> sockets = upgrader::passed_sockets(::getpid());
  const int behind_sockets = upgrader::first_passed_descriptor + sockets.value_or(0);
  made.passed = made.check.passed = sockets.value_or(0);
  made.lock = descriptor_in(lock_variable);
  if (made.lock && (*made.lock != behind_sockets || ::fcntl(*made.lock, F_GETFD) < 0)) {
    return std::string(lock_variable) + " does not name the descriptor behind init's sockets";
  }
  if (made.lock) ++made.passed;
  made.daemon.passed = made.passed;
  share_environment(made, sockets.has_value());
  if (!ready_descriptor) return made;

  const std::optional<int> program = descriptor_in(descriptor_variable);
  if (program) {
    const int number = moved_away(*program, ready_descriptor);
    ::setenv(descriptor_variable, std::to_string(number).c_str(), 1);
  }
  const int first_free = upgrader::first_passed_descriptor + made.passed;
  if (std::string why = keep_free(*ready_descriptor, first_free); !why.empty()) return why;
  return made;
}

agent_protocol::Result<Program> find_daemon(const Options& options) {
  const char* const path = std::getenv(program_variable);
  if (path == nullptr) return upgrader::check_agent(options.name, options.args);
  const std::optional<int> number = descriptor_in(descriptor_variable);
  Program program{.name = options.name, .args = options.args, .path = path};
  program.kind = number ? ExecutableKind::elf : ExecutableKind::script;
  program.descriptor.reset(number ? *number : ::open(path, O_PATH | O_CLOEXEC));
  if (::fstat(program.descriptor.get(), &program.status) != 0) {
    const int error = errno;
    return agent_protocol::Refusal{
        .reason = std::string(path) + ": " + in_words(upgrader::SystemError{error}),
        .error_number = error,
        .missing = error == ENOENT || error == ENOTDIR};
  }
  return program;
}

// Finds the lock of a daemon whose upgrader has no --lock. The name of the lock file contains the
// pid of the upgrader, which is the parent process of agentify. So all agents of one upgrader use
// the same lock.
std::variant<DaemonLock, std::string> find_own_lock() {
  const auto directory = find_lock_directory();
  if (const auto* none = std::get_if<NoDirectory>(&directory)) {
    return "the daemon's lock has no place; give the upgrader --lock=FILE: " + none->why;
  }
  const std::string& path = std::get<std::string>(directory);
  remove_stale_locks(path);
  return DaemonLock::by_file(path + "/" + lock_file_name(::getppid()));
}

// Finds the daemon's lock, a file beside the upgrader's lock. agentify has inherited the upgrader's
// lock as an open descriptor. Returns the reason, in words, if the path of the upgrader's lock no
// longer leads to the open file, or if the daemon's lock file cannot be made. The lock file is made
// here, before the upgrader stops the old daemon, so that a failure leaves the old daemon running.
std::variant<DaemonLock, std::string> find_lock(const Surroundings& surroundings) {
  if (surroundings.alone) return DaemonLock();
  if (!surroundings.lock) return find_own_lock();
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(*surroundings.lock);
  const ssize_t size = ::readlink(link.c_str(), path, sizeof path);
  if (size <= 0 || size == sizeof path) return "cannot tell from /proc where the lock is";
  const std::string name(path, static_cast<std::size_t>(size));
  struct stat ours {};
  struct stat named {};
  const bool same = ::fstat(*surroundings.lock, &ours) == 0 && ::stat(name.c_str(), &named) == 0 &&
                    ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
  if (!same) return name + " is not the lock any more";
  DaemonLock lock = DaemonLock::by_file(name + ".daemon");
  if (const int error = lock.make_file(); error != 0) {
    return "the daemon's lock cannot be made beside the upgrader's (--lock): " +
           in_words(upgrader::SystemError{error}) + ": " + lock.path();
  }
  return lock;
}

Program shell_program(const std::string& command, const Options& options) {
  constexpr const char* shell = "/bin/sh";
  std::vector<std::string> args = {"-c", command, options.name};
  args.insert(args.end(), options.args.begin(), options.args.end());
  Program program{.name = "sh", .args = std::move(args), .path = shell};
  program.kind = ExecutableKind::elf;
  program.descriptor.reset(::open(shell, O_PATH | O_CLOEXEC));
  ::fstat(program.descriptor.get(), &program.status);
  return program;
}

}  // namespace agentify
