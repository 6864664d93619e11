#include "base/descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <memory>

#include "base/number.h"

namespace upgrader {
namespace {

// If neither close_range() nor /proc can be used, at most this many descriptor numbers are marked
// one by one. The limit of open files may be far higher, and trying all numbers would delay the
// start.
constexpr int descriptors_looked_at_max = 1 << 20;

void mark(int fd) {
  const int flags = ::fcntl(fd, F_GETFD);
  if (flags >= 0) ::fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
}

}  // namespace

int open_standard_descriptors(bool output_fails) {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // open() returns the lowest free number. All numbers below `fd` are in use, so the result is
    // `fd`.
    const int opened = ::open("/dev/null", output_fails && fd == 1 ? O_RDONLY : O_RDWR);
    if (opened < 0) return errno;
  }
  return 0;
}

void mark_close_on_exec_from(int first) {
#ifdef SYS_close_range
  // The value of CLOSE_RANGE_CLOEXEC, which not every libc defines.
  constexpr unsigned close_on_exec = 1U << 2;
  if (::syscall(SYS_close_range, static_cast<unsigned>(first), ~0U, close_on_exec) == 0) return;
#endif
  const std::vector<int> found = numbers_in("/proc/self/fd");
  for (const int fd : found) {
    if (fd >= first) mark(fd);
  }
  if (!found.empty()) return;
  // Without /proc, marks every number that a descriptor may have, open or not. This may be slow.
  rlimit limit{};
  int count = descriptors_looked_at_max;
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
      limit.rlim_cur < rlim_t{descriptors_looked_at_max}) {
    count = static_cast<int>(limit.rlim_cur);
  }
  for (int fd = first; fd < count; ++fd)
    mark(fd);
}

std::vector<int> numbers_in(const std::string& path) {
  std::vector<int> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), &::closedir);
  if (!directory) return numbers;
  while (const dirent* const entry = ::readdir(directory.get())) {
    const auto number = whole_number(entry->d_name, std::numeric_limits<int>::max());
    if (number) numbers.push_back(static_cast<int>(*number));
  }
  return numbers;
}

int put_signals_right() {
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  // A write to the log can cause three of these signals: SIGPIPE (no reader), SIGXFSZ (file size
  // limit) and SIGTTOU (the terminal of another session). SIGIO comes if an agent has used F_SETOWN
  // to direct it to this process.
  for (const int signal_number : {SIGPIPE, SIGXFSZ, SIGTTOU, SIGIO}) {
    ::sigaction(signal_number, &action, nullptr);
  }
  action.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &action, nullptr);
  sigset_t blocked;
  ::sigemptyset(&blocked);
  for (const int signal_number : read_signals)
    ::sigaddset(&blocked, signal_number);
  return ::sigprocmask(SIG_SETMASK, &blocked, nullptr) == 0 ? 0 : errno;
}

}  // namespace upgrader
