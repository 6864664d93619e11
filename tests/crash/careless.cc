// A library to be preloaded that makes any program careless, so that the check of crash states can
// show that it would notice. CARELESS says how: "file" never syncs a file, "directory" never a
// directory, "rename" removes what is to be replaced and makes it anew. "sync" syncs nothing, which
// saves the judges, whose deeds need not last, most of their time.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace {

bool careless_of(std::string_view what) {
  const char* const how = std::getenv("CARELESS");
  return how != nullptr && how == what;
}

int sync_with_care(int fd, long call) {
  struct stat status {};
  if (careless_of("sync")) return 0;
  if (::fstat(fd, &status) == 0 && careless_of(S_ISDIR(status.st_mode) ? "directory" : "file")) {
    return 0;
  }
  return static_cast<int>(::syscall(call, fd));
}

}  // namespace

extern "C" {

int fsync(int fd) {
  return sync_with_care(fd, SYS_fsync);
}

int fdatasync(int fd) {
  return sync_with_care(fd, SYS_fdatasync);
}

int renameat(int from, const char* old_name, int to, const char* new_name) noexcept {
  if (!careless_of("rename")) {
    return static_cast<int>(::syscall(SYS_renameat2, from, old_name, to, new_name, 0));
  }
  ::unlinkat(to, new_name, 0);
  if (::linkat(from, old_name, to, new_name, 0) != 0) return -1;
  return ::unlinkat(from, old_name, 0);
}

int rename(const char* old_name, const char* new_name) noexcept {
  return renameat(AT_FDCWD, old_name, AT_FDCWD, new_name);
}

}  // extern "C"
