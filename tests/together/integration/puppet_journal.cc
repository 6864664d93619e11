// Appends to the puppets' files, and holds a lock that the kernel frees. See puppet_journal.h.
#include "tests/together/integration/puppet_journal.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>

namespace puppet {

Journal::Journal(const char* directory)
    : directory_(open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

void Journal::become_active() {
  happened("activate");
  const int fd = openat(directory_, "active.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  // Uses a lock of fcntl(), which belongs to one process: a child that outlives the puppet does not
  // keep it.
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (fcntl(fd, F_SETLK, &lock) != 0) violated("two agents are active");
}

void Journal::append(const char* file, const std::string& text) {
  const int fd = openat(directory_, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const long long now = microseconds();
  dprintf(fd, "%lld.%06lld %d %s\n", now / 1'000'000, now % 1'000'000, getpid(), text.c_str());
  close(fd);
}

long long microseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000LL + now.tv_nsec / 1'000;
}

}  // namespace puppet
