#include "upgrader/shell/control_directory.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/errno_name.h"

namespace upgrader {
namespace {

constexpr char lock_name[] = ".lock";
constexpr char status_name[] = "status.json";
constexpr char previous_name[] = "previous.json";
constexpr char fifo_name[] = "control";

}  // namespace

std::string ControlDirectory::open(std::string path) {
  // Remove slashes at the end: with one, the kernel would follow a symbolic link at this path,
  // which must be refused.
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  path_ = std::move(path);
  const auto refused = [this](const char* what) { return "--control={}: {}"_with(path_, what); };
  const auto failed = [this](const char* what) {
    return "--control={}: {}{}"_with(path_, what, SystemError{errno});
  };
  const bool made = ::mkdir(path_.c_str(), 0700) == 0;
  if (!made && errno != EEXIST) return failed("cannot be made: ");
  if (directory_.open(path_, false) != 0) return failed("cannot be opened as a directory: ");
  struct stat status {};
  if (::fstat(directory_.descriptor(), &status) != 0) return failed("");
  if (status.st_uid != ::geteuid()) return refused("belongs to another user");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return refused("may be written to by others");
  if (directory_.is_fat()) return refused("is on FAT, which has no FIFOs");
  // Add the bits that the umask has removed: without them, its owner could not use the directory.
  if (made && ::fchmod(directory_.descriptor(), 0700) != 0) return failed("cannot be made: ");
  return "";
}

int ControlDirectory::lock() {
  const int fd = directory_.descriptor();
  constexpr int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  OwnedFd file(::openat(fd, lock_name, O_RDWR | O_CREAT | flags, 0600));
  if (!file && errno == EROFS) file.reset(::openat(fd, lock_name, O_RDONLY | flags));
  if (!file) return errno;
  // Make sure that only this user can open the lock's file, since anybody who can open that file
  // can lock it. An earlier version of the upgrader may have made the file with a different mode.
  struct stat status {};
  const bool is_ours = ::fstat(file.get(), &status) == 0 && (status.st_mode & 0777) == 0600;
  if (!is_ours && ::fchmod(file.get(), 0600) != 0) return errno;
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return errno;
  lock_ = std::move(file);
  return 0;
}

int ControlDirectory::keep_last() const {
  const int fd = directory_.descriptor();
  const int moved = ::renameat(fd, status_name, fd, previous_name);
  return moved == 0 || errno == ENOENT ? 0 : errno;
}

int ControlDirectory::replace_status(std::string_view text) const {
  return directory_.replace_file(status_name, text, false);
}

int ControlDirectory::make_fifo() const {
  remove_fifo();
  return ::mkfifoat(directory_.descriptor(), fifo_name, 0600) == 0 ? 0 : errno;
}

OwnedFd ControlDirectory::open_fifo() const {
  return OwnedFd(
      ::openat(directory_.descriptor(), fifo_name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
}

void ControlDirectory::remove_fifo() const {
  directory_.remove(fifo_name);
}

bool ControlDirectory::is_in_memory() const {
  const unsigned long type = directory_.file_system();
  // an unknown file system (0), tmpfs or ramfs
  return type == 0 || type == 0x01021994 || type == 0x858458f6;
}

}  // namespace upgrader
