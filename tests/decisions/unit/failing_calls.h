// Makes system calls and calls of libuv fail when a test wants that. The programs failing_*_test
// are linked with --wrap for each of these calls (tests/decisions/decisions.mk), so the tested code
// calls the wrappers in this file. Each such program has one source file, which includes this file
// once.
#pragma once

#include <sys/syscall.h>
#include <sys/vfs.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdarg>
#include <functional>
#include <optional>
#include <string_view>

enum class Call {
  clone,
  dup2,
  dup3,
  epoll_create1,
  epoll_ctl,
  eventfd,
  faccessat2,
  fcntl,
  fdatasync,
  flock,
  fstat,
  fstatat,
  fstatfs,
  fsync,
  ftruncate,
  getcwd,
  getppid,
  getrlimit,
  ioctl,
  kill,
  lstat,
  mkfifoat,
  open,
  openat,
  opendir,
  pipe2,
  poll,
  prctl,
  pread,
  pwrite,
  read,
  readlinkat,
  realpath,
  renameat,
  send,
  sendto,
  setenv,
  setsid,
  signalfd,
  sigprocmask,
  stat,
  symlinkat,
  sync,
  syncfs,
  syscall,
  unlinkat,
  uv_loop_init,
  uv_poll_init,
  uv_timer_init,
  waitpid,
  write
};

// Makes a call fail with an errno, `times` times in total, as long as this object exists. Before
// each failure, the call succeeds `after` times. After the last failure, this object lets every
// call through. The call also fails in child processes that are forked while this object exists.
class Failing {
 public:
  explicit Failing(Call call, int error, int after = 0, int times = 1)
      : call_(call), error_(error), after_(after), let_(after), times_(times), before_(first_) {
    first_ = this;
  }
  // Checks that the call has failed at least once. Omits this check if the test has called fired(),
  // or if `times` is 0.
  ~Failing() {
    first_ = before_;
    if (!asked_ && times_ > 0) CHECK(fired_ > 0);
  }
  Failing(const Failing&) = delete;
  Failing& operator=(const Failing&) = delete;

  [[nodiscard]] bool fired() const {
    asked_ = true;
    return fired_ > 0;
  }

  static bool fails(Call call) {
    for (Failing* one = first_; one != nullptr; one = one->before_) {
      if (one->call_ != call || one->fired_ >= one->times_ || one->let_-- > 0) continue;
      one->let_ = one->after_;
      ++one->fired_;
      errno = one->error_;
      return true;
    }
    return false;
  }

 private:
  static inline Failing* first_ = nullptr;

  Call call_;
  int error_;
  int after_;
  int let_;
  int times_;
  int fired_ = 0;
  mutable bool asked_ = false;
  Failing* before_;
};

// Defines the wrapper of the call NAME, which returns RESULT and has the parameters GIVEN. The
// wrapper returns FAILED if the call is to fail. Otherwise the wrapper calls the real function with
// the arguments PASSED.
#define FAILING_SYMBOL(RESULT, NAME, SYMBOL, GIVEN, PASSED, FAILED) \
  extern "C" RESULT __real_##SYMBOL GIVEN;                          \
  extern "C" RESULT __wrap_##SYMBOL GIVEN;                          \
  extern "C" RESULT __wrap_##SYMBOL GIVEN {                         \
    if (Failing::fails(Call::NAME)) return FAILED;                  \
    return __real_##SYMBOL PASSED;                                  \
  }
#define FAILING_CALL(RESULT, NAME, GIVEN, PASSED, FAILED) \
  FAILING_SYMBOL(RESULT, NAME, NAME, GIVEN, PASSED, FAILED)
#define FAILING_CALL_64(RESULT, NAME, GIVEN, PASSED, FAILED) \
  FAILING_SYMBOL(RESULT, NAME, NAME##64, GIVEN, PASSED, FAILED)

FAILING_CALL(int, clone, (int (*run)(void*), void* stack, int flags, void* data),
             (run, stack, flags, data), -1)
FAILING_CALL(int, dup2, (int from, int to), (from, to), -1)
FAILING_CALL(int, dup3, (int from, int to, int flags), (from, to, flags), -1)
FAILING_CALL(int, epoll_create1, (int flags), (flags), -1)
FAILING_CALL(int, epoll_ctl, (int fd, int how, int what, void* event), (fd, how, what, event), -1)
FAILING_CALL(int, eventfd, (unsigned count, int flags), (count, flags), -1)
FAILING_CALL(int, fdatasync, (int fd), (fd), -1)
FAILING_CALL(int, flock, (int fd, int how), (fd, how), -1)
FAILING_CALL_64(int, fstat, (int fd, void* status), (fd, status), -1)
FAILING_CALL_64(int, fstatat, (int fd, const char* path, void* status, int flags),
                (fd, path, status, flags), -1)

// The magic number that fstatfs() reports for every file system, if this variable is set.
inline std::optional<unsigned> file_system_told;

extern "C" int __real_fstatfs64(int fd, struct statfs* status);
extern "C" int __wrap_fstatfs64(int fd, struct statfs* status);
extern "C" int __wrap_fstatfs64(int fd, struct statfs* status) {
  if (Failing::fails(Call::fstatfs)) return -1;
  const int answer = __real_fstatfs64(fd, status);
  if (file_system_told) status->f_type = *file_system_told;
  return answer;
}

FAILING_CALL_64(int, lstat, (const char* path, void* status), (path, status), -1)

// If it is set, this function is called before every fsync().
inline std::function<void()> at_fsync;

extern "C" int __real_fsync(int fd);
extern "C" int __wrap_fsync(int fd);
extern "C" int __wrap_fsync(int fd) {
  if (at_fsync) at_fsync();
  return Failing::fails(Call::fsync) ? -1 : __real_fsync(fd);
}

FAILING_CALL_64(int, ftruncate, (int fd, long size), (fd, size), -1)
FAILING_CALL(char*, getcwd, (char* path, unsigned long size), (path, size), nullptr)
FAILING_CALL(int, getppid, (), (), -1)
FAILING_CALL_64(int, getrlimit, (int what, void* limit), (what, limit), -1)
FAILING_CALL(int, ioctl, (int fd, unsigned long what, void* argument), (fd, what, argument), -1)

// Sends a signal. Only the build that counts branches defines this function, in
// tests/judging/coverage/dump.cc. In that build, the wrapper of kill() calls this function instead
// of the real kill().
extern "C" [[gnu::weak]] int counted_kill(int pid, int signal_number);

extern "C" int __real_kill(int pid, int signal_number);
extern "C" int __wrap_kill(int pid, int signal_number);
extern "C" int __wrap_kill(int pid, int signal_number) {
  if (Failing::fails(Call::kill)) return -1;
  return (counted_kill != nullptr ? counted_kill : __real_kill)(pid, signal_number);
}

FAILING_CALL(int, mkfifoat, (int fd, const char* path, unsigned mode), (fd, path, mode), -1)
FAILING_CALL(void*, opendir, (const char* path), (path), nullptr)
FAILING_CALL(int, pipe2, (int* ends, int flags), (ends, flags), -1)

// A test may set these functions. at_poll is called before every poll(), with the timeout of this
// poll() in milliseconds. after_poll is called after every poll().
inline void (*at_poll)(int timeout_ms) = nullptr;
inline std::function<void()> after_poll;

extern "C" int __real_poll(void* ends, unsigned long count, int timeout);
extern "C" int __wrap_poll(void* ends, unsigned long count, int timeout);
extern "C" int __wrap_poll(void* ends, unsigned long count, int timeout) {
  if (at_poll != nullptr) at_poll(timeout);
  const int result = Failing::fails(Call::poll) ? -1 : __real_poll(ends, count, timeout);
  if (after_poll) after_poll();
  return result;
}

FAILING_CALL(int, prctl, (int what, unsigned long argument), (what, argument), -1)
FAILING_CALL_64(long, pread, (int fd, void* bytes, unsigned long size, long offset),
                (fd, bytes, size, offset), -1)
FAILING_CALL_64(long, pwrite, (int fd, const void* bytes, unsigned long size, long offset),
                (fd, bytes, size, offset), -1)
FAILING_CALL(long, read, (int fd, void* bytes, unsigned long size), (fd, bytes, size), -1)
FAILING_CALL(long, readlinkat, (int fd, const char* path, char* text, unsigned long size),
             (fd, path, text, size), -1)
FAILING_CALL(char*, realpath, (const char* path, char* resolved), (path, resolved), nullptr)
// Wraps `__realpath_chk()`, which the compiler calls instead of realpath() if _FORTIFY_SOURCE is
// set. `__realpath_chk()` has one more argument, the size of `resolved`.
FAILING_SYMBOL(char*, realpath, __realpath_chk,
               (const char* path, char* resolved, unsigned long size), (path, resolved, size),
               nullptr)
FAILING_CALL(int, renameat, (int from, const char* old, int into, const char* fresh),
             (from, old, into, fresh), -1)
FAILING_CALL(long, send, (int fd, const void* bytes, unsigned long size, int flags),
             (fd, bytes, size, flags), -1)
FAILING_CALL(long, sendto,
             (int fd, const void* bytes, unsigned long size, int flags, const void* address,
              unsigned length),
             (fd, bytes, size, flags, address, length), -1)
FAILING_CALL(int, setenv, (const char* name, const char* value, int over), (name, value, over), -1)
FAILING_CALL(int, setsid, (), (), -1)
FAILING_CALL(int, signalfd, (int fd, const void* mask, int flags), (fd, mask, flags), -1)
FAILING_CALL(int, sigprocmask, (int how, const void* set, void* before), (how, set, before), -1)

// If it is set, this function is called before and after every stat() that is not made to fail.
inline std::function<void(std::string_view path, bool done)> at_stat;

extern "C" int __real_stat64(const char* path, void* status);
extern "C" int __wrap_stat64(const char* path, void* status);
extern "C" int __wrap_stat64(const char* path, void* status) {
  if (Failing::fails(Call::stat)) return -1;
  if (at_stat) at_stat(path, false);
  const int result = __real_stat64(path, status);
  if (at_stat) at_stat(path, true);
  return result;
}

FAILING_CALL(int, symlinkat, (const char* target, int fd, const char* path), (target, fd, path), -1)
FAILING_CALL(void, sync, (), (), )
FAILING_CALL(int, syncfs, (int fd), (fd), -1)
FAILING_CALL(int, unlinkat, (int fd, const char* path, int flags), (fd, path, flags), -1)
FAILING_CALL(int, uv_loop_init, (void* loop), (loop), -errno)
FAILING_CALL(int, uv_poll_init, (void* loop, void* handle, int fd), (loop, handle, fd), -errno)
FAILING_CALL(int, uv_timer_init, (void* loop, void* handle), (loop, handle), -errno)
FAILING_CALL(int, waitpid, (int pid, int* status, int how), (pid, status, how), -1)
FAILING_CALL(long, write, (int fd, const void* bytes, unsigned long size), (fd, bytes, size), -1)

// Wraps syscall(). Always passes on six arguments, since no system call has more.
extern "C" long __real_syscall(long number, ...);
extern "C" long __wrap_syscall(long number, long, long, long, long, long, long);
extern "C" long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) {
  if (Failing::fails(number == SYS_faccessat2 ? Call::faccessat2 : Call::syscall)) return -1;
  return __real_syscall(number, a, b, c, d, e, f);
}

// Defines the wrapper of a call whose last argument is optional, such as open() or fcntl().
#define FAILING_CALL_OF_ANY(NAME, TYPE, LAST)                 \
  extern "C" int __real_##NAME##64(TYPE, int, ...);           \
  extern "C" int __wrap_##NAME##64(TYPE, int, ...);           \
  extern "C" int __wrap_##NAME##64(TYPE what, int how, ...) { \
    if (Failing::fails(Call::NAME)) return -1;                \
    va_list given;                                            \
    va_start(given, how);                                     \
    LAST last = va_arg(given, LAST);                          \
    va_end(given);                                            \
    return __real_##NAME##64(what, how, last);                \
  }

FAILING_CALL_OF_ANY(fcntl, int, long)
FAILING_CALL_OF_ANY(open, const char*, unsigned)
// Wraps `__open64_2()`, which the compiler may call instead of open() if _FORTIFY_SOURCE is set.
FAILING_SYMBOL(int, open, __open64_2, (const char* path, int how), (path, how), -1)

extern "C" int __real_openat64(int fd, const char* path, int how, ...);
extern "C" int __wrap_openat64(int fd, const char* path, int how, unsigned mode);
extern "C" int __wrap_openat64(int fd, const char* path, int how, unsigned mode) {
  return Failing::fails(Call::openat) ? -1 : __real_openat64(fd, path, how, mode);
}
