#include "base/lock_holders.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

#include "base/descriptors.h"
#include "base/directory.h"
#include "base/errno_name.h"
#include "base/visible.h"

namespace upgrader {
namespace {

// The most bytes that are read, more than /proc/PID/fdinfo/FD has, except for a descriptor that
// watches very many others.
constexpr std::size_t fdinfo_bytes_max = 2'048;

// The longest name read: the kernel keeps 15 bytes of a program's name, but names its own threads
// longer.
constexpr std::size_t name_bytes_max = 64;

std::string read_file(const std::string& path, std::size_t bytes_max) {
  return read_start(OwnedFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)).get(), bytes_max);
}

// Returns true if the text of /proc/PID/fdinfo/FD has a lock of flock(2) on a file with that inode:
// "lock:\t1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF".
bool tells_of_lock(std::string_view fdinfo, const std::string& inode) {
  const std::size_t lock = fdinfo.find("\nlock:\t");
  if (lock == std::string_view::npos) return false;
  const std::string_view line = fdinfo.substr(lock);
  return line.find(" FLOCK ") != std::string_view::npos &&
         line.find(inode) != std::string_view::npos;
}

bool holds_lock(const std::string& process, const struct stat& file) {
  const std::string inode = ":{} "_with(file.st_ino);
  for (const int fd : numbers_in("{}/fdinfo"_with(process))) {
    if (!tells_of_lock(read_file("{}/fdinfo/{}"_with(process, fd), fdinfo_bytes_max), inode)) {
      continue;
    }
    // stat() comes last, since a slow file system may delay it for long.
    struct stat found {};
    if (::stat("{}/fd/{}"_with(process, fd).c_str(), &found) != 0) continue;
    if (is_same_file(found, file)) return true;
  }
  return false;
}

}  // namespace

std::vector<pid_t> lock_holders(int fd) {
  std::vector<pid_t> holders;
  struct stat file {};
  if (::fstat(fd, &file) != 0) return holders;
  for (const pid_t pid : numbers_in("/proc")) {
    if (holds_lock("/proc/{}"_with(pid), file)) holders.push_back(pid);
  }
  return holders;
}

std::string process_in_words(pid_t pid) {
  std::string name = read_file("/proc/{}/comm"_with(pid), name_bytes_max);
  if (name.ends_with('\n')) name.pop_back();
  if (name.empty()) return "process {}"_with(pid);
  return "process {} ({})"_with(pid, escape(name, name_bytes_max));
}

}  // namespace upgrader
