#include "tools/agentify/launch/place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "agent-releases/releases.h"
#include "base/errno_name.h"

namespace agentify {
namespace {

constexpr char system_base[] = "/run/upgrader";
constexpr mode_t base_mode = 0755;
constexpr mode_t directory_mode = 0700;
constexpr mode_t others_may_write = S_IWGRP | S_IWOTH;

std::string because(const std::string& path, int error) {
  return path + ": " + in_words(upgrader::SystemError{error});
}

// Makes the directory, unless it exists. Returns the reason why the caller cannot use the
// directory, or nothing.
std::optional<std::string> make_directory(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) == 0) {
    // Set the mode again, because the umask may have removed bits of `mode`.
    if (::chmod(path.c_str(), mode) == 0) return std::nullopt;
    return because(path, errno);
  }
  if (errno != EEXIST) return because(path, errno);
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return because(path, errno);
  if (!S_ISDIR(status.st_mode)) return path + " is not a directory";
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
    return path + " belongs to another user";
  }
  if ((status.st_mode & others_may_write) != 0) return path + " can be written by other users";
  return std::nullopt;
}

bool belongs_to_caller(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid();
}

}  // namespace

std::variant<std::string, NoPlace> find_directory(const std::string& name, bool make) {
  std::string base = system_base;
  // If the daemon has a user of its own, that user cannot make a directory in /run. In that case
  // the commands in the service file, which run as root, have made this directory for the user.
  if (belongs_to_caller(base + "/" + name)) return base + "/" + name;
  if (::geteuid() != 0) {
    const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
    if (runtime == nullptr || runtime[0] != '/') {
      return NoPlace{"no directory for the upgrader: " + base + "/" + name +
                     " does not exist or belongs to another user, and XDG_RUNTIME_DIR" +
                     (runtime == nullptr || *runtime == 0
                          ? " is not set"
                          : "=" + std::string(runtime) + " is not an absolute path") +
                     "; set it to the absolute path of a directory that only you can write"};
    }
    base = std::string(runtime) + "/upgrader";
  }
  if (make) {
    if (const auto wrong = make_directory(base, base_mode)) return NoPlace{*wrong};
    if (const auto wrong = make_directory(base + "/" + name, directory_mode)) {
      return NoPlace{*wrong};
    }
  }
  return base + "/" + name;
}

std::variant<Places, NoPlace> find_programs() {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  if (size <= 0 || size == sizeof path) return NoPlace{"cannot tell from /proc where agentify is"};
  const std::string self(path, static_cast<std::size_t>(size));
  const std::string beside = self.substr(0, self.rfind('/') + 1);
  return Places{.upgrader = beside + "upgrader",
                .agentify = self,
                .ctl = beside + "upgraderctl",
                .directory = ""};
}

std::string path_of_program(const std::string& name) {
  if (name.starts_with('/')) return name;
  if (name.find('/') != std::string::npos) return "";
  const char* const value = std::getenv("PATH");
  std::string_view path = value == nullptr ? "" : value;
  while (!path.empty()) {
    const std::string_view directory = path.substr(0, path.find(':'));
    const std::string found = std::string(directory) + "/" + name;
    if (directory.starts_with('/') && ::access(found.c_str(), X_OK) == 0) return found;
    path.remove_prefix(std::min(directory.size() + 1, path.size()));
  }
  return "";
}

std::optional<std::string> missing_current(const std::string& directory) {
  const std::string link = directory + "/current";
  struct stat status {};
  if (::lstat(link.c_str(), &status) == 0 || errno != ENOENT) return std::nullopt;
  const std::string missing =
      link + " does not exist, the link that names the release to run; make it by ";
  const std::string by_hand = missing + "ln -s when agent-releases has added a release";
  const auto releases = agent_releases::Releases::open({.directory = directory});
  if (!releases) return by_hand;
  const auto list = releases.value().list();  // the releases, the oldest first
  if (!list || list.value().empty()) return by_hand;
  const auto newest = std::find_if(list.value().rbegin(), list.value().rend(),
                                   [](const auto& each) { return !each.version.is_prerelease(); });
  if (newest == list.value().rend()) {
    return missing + "ln -s: the directory has only pre-releases";
  }
  const std::string below = newest->executable.substr(releases.value().directory().size() + 1);
  return missing + shell_line({"ln", "-s", below, link});
}

std::string name_of_releases(const std::string& directory) {
  std::ifstream file(directory + "/.name");
  std::string name;
  std::getline(file, name);
  return name;
}

}  // namespace agentify
