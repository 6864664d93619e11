#include "tools/agentify/daemon_lock.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/errno_name.h"
#include "base/lock.h"
#include "base/owned_fd.h"

namespace agentify {

namespace {

// Opens a lock's file, or makes it. Returns the file, or the errno value of a failure.
std::variant<upgrader::OwnedFd, int> open_file(const std::string& path, int more_flags) {
  constexpr int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  upgrader::OwnedFd file(::open(path.c_str(), flags | more_flags, 0600));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return EINVAL;
  return file;
}

}  // namespace

DaemonLock DaemonLock::by_file(std::string path) {
  DaemonLock lock;
  lock.path_ = std::move(path);
  return lock;
}

int DaemonLock::make_file() const {
  const auto opened = open_file(path_, O_CLOEXEC);
  const int* const error = std::get_if<int>(&opened);
  return error == nullptr ? 0 : *error;
}

// The lock's descriptor is not close-on-exec, so the daemon inherits it. If agentify and the keeper
// (the daemon's parent process) are killed at the same time, the surviving daemon still holds the
// lock, and no second daemon can start. The keeper executes no program but the daemon, so nothing
// else can inherit the descriptor.
int DaemonLock::try_take() {
  if (path_.empty()) return 0;
  auto opened = open_file(path_, 0);
  if (const int* const error = std::get_if<int>(&opened)) return *error;
  upgrader::OwnedFd& file = std::get<upgrader::OwnedFd>(opened);
  struct stat ours {};
  if (::fstat(file.get(), &ours) != 0) return errno;
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return errno;
  // Check that the path still leads to the locked file. If a different process has removed the file
  // between open() and flock(), other processes will lock a new file at this path, so the lock on
  // the removed file excludes nobody.
  struct stat named {};
  const bool same = ::fstatat(AT_FDCWD, path_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                    named.st_dev == ours.st_dev && named.st_ino == ours.st_ino;
  if (!same) return EWOULDBLOCK;
  held_ = std::move(file);
  return 0;
}

pid_t DaemonLock::holder() const {
  const upgrader::OwnedFd file(
      ::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file) return 0;
  const std::vector<pid_t> holders = upgrader::lock_holders(file.get());
  return holders.empty() ? 0 : holders.front();
}

// ---- the directory for lock files, for an upgrader that has no lock of its own

namespace {

// A deleter that closes an open directory, for std::unique_ptr<DIR>.
struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

using Found = std::variant<std::string, NoDirectory>;

// The most names that are read from a directory. Without this limit, other users could delay a
// start by filling /tmp.
constexpr int names_max = 10'000;

constexpr mode_t others = S_IRWXG | S_IRWXO;

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, CloseDirectory> opened(::opendir(directory.c_str()));
  if (!opened) return names;
  const dirent* entry = nullptr;
  for (int i = 0; i < names_max && (entry = ::readdir(opened.get())) != nullptr; ++i)
    names.emplace_back(entry->d_name);
  return names;
}

// Returns true if nobody except this user and root can make, rename or remove names in the
// directory.
bool is_private_base(const std::string& path) {
  struct stat status {};
  if (!path.starts_with('/') || ::stat(path.c_str(), &status) != 0) return false;
  const bool owned = status.st_uid == 0 || status.st_uid == ::geteuid();
  const bool closed = (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  return S_ISDIR(status.st_mode) && owned && closed && ::access(path.c_str(), W_OK | X_OK) == 0;
}

bool is_ours_alone(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid() && (status.st_mode & others) == 0;
}

Found find_in_private(const std::string& base) {
  std::string path = base + "/agentify";
  if (::mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    return NoDirectory{path + " cannot be made: " + in_words(upgrader::SystemError{errno})};
  }
  if (is_ours_alone(path)) return path;
  return NoDirectory{path + " is no directory that this user alone can open"};
}

std::string variable(const char* name) {
  const char* const text = ::getenv(name);
  const std::string value = text == nullptr ? "" : text;
  // take the first directory: systemd may list several in RUNTIME_DIRECTORY, separated by colons
  return value.substr(0, value.find(':'));
}

}  // namespace

Found find_lock_directory() {
  for (const std::string& base :
       {variable("RUNTIME_DIRECTORY"), variable("XDG_RUNTIME_DIR"), std::string("/run")}) {
    if (is_private_base(base)) return find_in_private(base);
  }
  return find_in_shared("/tmp");
}

Found find_in_shared(const std::string& base) {
  const std::string prefix = "agentify-" + std::to_string(::geteuid()) + ".";
  std::vector<std::string> names = names_in(base);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    std::string path = base + "/" + name;
    if (name.starts_with(prefix) && is_ours_alone(path)) return path;
  }
  std::string path = base + "/" + prefix + "XXXXXX";
  if (::mkdtemp(path.data()) != nullptr) return path;
  return NoDirectory{"no directory can be made in " + base + ": " +
                     in_words(upgrader::SystemError{errno})};
}

std::string lock_file_name(int upgrader) {
  const std::int64_t started = upgrader::process_start_time(upgrader).value_or(0);
  return std::to_string(upgrader) + "." + std::to_string(started);
}

void remove_stale_locks(const std::string& directory) {
  for (const std::string& name : names_in(directory)) {
    int pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc{} || *end != '.' || lock_file_name(pid) == name) continue;
    const std::string path = directory + "/" + name;
    const upgrader::OwnedFd file(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
    if (file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
  }
}

}  // namespace agentify
