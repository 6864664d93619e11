// Helpers for tests that start processes. They check a program as the upgrader does, wait with a
// deadline, inspect a process through /proc, and find out whether a function aborts its process.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/owned_fd.h"
#include "base/process.h"
#include "base/program.h"
#include "tests/support/temporary_directory.h"

// Returns the program at a path; fails the test if the file there is not a program.
inline upgrader::Program program_of(const std::string& path, std::vector<std::string> args = {}) {
  auto checked = upgrader::check_program(path, path, std::move(args));
  if (!checked) FAIL(checked.reason());
  return std::move(checked.value());
}

// The longest time that a test waits for an event, in milliseconds. Even on a slow machine an event
// comes earlier, so a test that waits longer fails.
inline constexpr int patience_ms = 20'000;

inline bool becomes_ready(int fd, short events) {
  pollfd one{.fd = fd, .events = events, .revents = 0};
  int count = 0;
  do {
    count = ::poll(&one, 1, patience_ms);
  } while (count < 0 && errno == EINTR);
  return count == 1;
}

// Waits until the process has exited, for at most `patience_ms`. Does not reap the process. Returns
// false if the process has not exited in time.
inline bool ends(pid_t pid) {
  const upgrader::OwnedFd handle(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  return handle && becomes_ready(handle.get(), POLLIN);
}

// Reads until `size` bytes have arrived, the stream ends, or no byte arrives in time. Returns the
// bytes.
inline std::string read_from(int fd, std::size_t size) {
  std::string bytes;
  char buffer[4096];
  while (bytes.size() < size && becomes_ready(fd, POLLIN)) {
    const ssize_t count = ::read(fd, buffer, std::min(sizeof buffer, size - bytes.size()));
    if (count <= 0) break;
    bytes.append(buffer, static_cast<std::size_t>(count));
  }
  return bytes;
}

// Returns whether the started process copies its input to its output. Then ends the process.
inline bool is_cat(const upgrader::Started& started) {
  static_cast<void>(::write(started.input.get(), "x", 1));
  const bool answers = read_from(started.output.get(), 1) == "x";
  ::kill(started.pid, SIGKILL);
  ::waitpid(started.pid, nullptr, 0);
  return answers;
}

inline std::string read_to_end(int fd) {
  return read_from(fd, static_cast<std::size_t>(-1));
}

// Returns the open descriptors of a process. Maps each descriptor to the name of its file.
inline std::map<int, std::string> descriptors_of(pid_t pid) {
  const std::string directory = "/proc/" + std::to_string(pid) + "/fd";
  std::map<int, std::string> found;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    names.push_back(entry.path().filename().string());
  }
  for (const std::string& name : names) {
    std::error_code gone;
    const std::filesystem::path target =
        std::filesystem::read_symlink(directory + "/" + name, gone);
    if (!gone) found[std::stoi(name)] = target.string();
  }
  return found;
}

// Returns the value of the line with this name in /proc/PID/status.
inline std::string status_of(pid_t pid, const std::string& name) {
  std::istringstream lines(content_of("/proc/" + std::to_string(pid) + "/status"));
  std::string line;
  while (std::getline(lines, line)) {
    if (line.starts_with(name + ":\t")) return line.substr(name.size() + 2);
  }
  return "";
}

// Waits until /proc shows the process's arguments. For a moment after a successful exec, /proc
// shows no arguments.
inline void await_arguments(pid_t pid) {
  const upgrader::OwnedFd handle(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  pollfd end{.fd = handle.get(), .events = POLLIN, .revents = 0};
  for (int waited_ms = 0; waited_ms < patience_ms && ::poll(&end, 1, 0) == 0; ++waited_ms) {
    if (!content_of("/proc/" + std::to_string(pid) + "/cmdline").empty()) return;
    ::poll(nullptr, 0, 1);
  }
}

// Returns the NUL-terminated strings of a file in /proc/PID: "cmdline" or "environ".
inline std::vector<std::string> texts_of(pid_t pid, const std::string& file) {
  await_arguments(pid);
  const std::string content = content_of("/proc/" + std::to_string(pid) + "/" + file);
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < content.size();) {
    const std::size_t end = std::min(content.find('\0', at), content.size());
    texts.push_back(content.substr(at, end - at));
    at = end + 1;
  }
  return texts;
}

// Returns whether a function aborts its process, as a failed check() does. Runs the function in a
// child process.
template <class Deed>
bool aborts(const Deed& deed) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    // Restores the default effect of SIGABRT. The test framework handles this signal, and would
    // report that the test itself has failed.
    ::signal(SIGABRT, SIG_DFL);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
    deed();
    ::_exit(0);
  }
  int status = 0;
  return ::waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}
