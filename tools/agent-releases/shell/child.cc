#include "tools/agent-releases/shell/child.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/owned_fd.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/interruption.h"

extern char** environ;

namespace agent_releases {
namespace {

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
// to the child. Each wait is short, because a signal that comes just before a wait does not end it.
Outcome drain(int pipe, pid_t child, std::string& output) {
  bool told = false;
  std::array<char, 4'096> bytes;
  while (true) {
    if (!told && !Interruption::none()) {
      told = true;
      ::kill(child, SIGTERM);
    }
    pollfd readable{pipe, POLLIN, 0};
    if (::poll(&readable, 1, look_ms) <= 0) continue;
    const ssize_t count = ::read(pipe, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Interruption::none();
    output.append(bytes.data(), static_cast<std::size_t>(count));
    if (output.size() > child_output_bytes_max) output.resize(child_output_bytes_max);
  }
}

std::string end_of(int status) {
  if (WIFSIGNALED(status)) return "was killed by signal " + std::to_string(WTERMSIG(status));
  return "exited with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Result<std::string> run_child(const std::vector<std::string>& command,
                              const std::string& directory) {
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
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

}  // namespace agent_releases
