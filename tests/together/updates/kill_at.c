// A library that is preloaded into every program of an installation. It counts the calls that make,
// change, move or remove a file or its name, in all processes and threads together. Just before the
// call with a given number, it kills the whole process group with SIGKILL. Writes to pipes and
// sockets change no file, and are not counted.
//
// KILL_AT names a file with two 64-bit numbers. The first is how many calls have been counted. The
// second is the number of the call at which to kill, or 0 for no kill.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

struct counter {
  _Atomic unsigned long made;
  _Atomic unsigned long last;
};

static struct counter* counter;

__attribute__((constructor)) static void open_counter(void) {
  const char* path = getenv("KILL_AT");
  const int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void* at = mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at != MAP_FAILED) counter = at;
  close(fd);
}

static void count(void) {
  if (counter == NULL) return;
  const unsigned long number = atomic_fetch_add(&counter->made, 1) + 1;
  if (number != atomic_load(&counter->last)) return;
  kill(0, SIGKILL);
  for (;;)
    pause();
}

static void count_of_file(int fd) {
  struct stat status;
  if (counter != NULL && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) count();
}

static int writes(int flags) {
  return (flags & (O_CREAT | O_TRUNC)) != 0;
}

// ISO C has no conversion from the result of dlsym() to a function, but POSIX promises that it
// works. __extension__ keeps the compiler from a warning about it.
#define NEXT(name) (__extension__(__typeof__(&name)) dlsym(RTLD_NEXT, #name))

// The callers of open() pass the argument `mode` only if the call may make a file. So `mode` is
// read from the variable arguments only in this case.
#define OPENS(name, parameters, ...)             \
  int name parameters {                          \
    mode_t mode = 0;                             \
    if ((flags & (O_CREAT | O_TMPFILE)) != 0) {  \
      va_list rest;                              \
      va_start(rest, flags);                     \
      mode = va_arg(rest, mode_t);               \
      va_end(rest);                              \
    }                                            \
    if (writes(flags)) count();                  \
    return NEXT(name)(__VA_ARGS__, flags, mode); \
  }
OPENS(open, (const char* path, int flags, ...), path)
OPENS(open64, (const char* path, int flags, ...), path)
OPENS(openat, (int at, const char* path, int flags, ...), at, path)
OPENS(openat64, (int at, const char* path, int flags, ...), at, path)

#define WRITES(type, name, parameters, ...) \
  type name parameters {                    \
    count_of_file(fd);                      \
    return NEXT(name)(__VA_ARGS__);         \
  }
WRITES(ssize_t, write, (int fd, const void* from, size_t size), fd, from, size)
WRITES(ssize_t, writev, (int fd, const struct iovec* from, int size), fd, from, size)
WRITES(ssize_t, pwrite, (int fd, const void* from, size_t size, off_t at), fd, from, size, at)
WRITES(ssize_t, pwrite64, (int fd, const void* from, size_t size, off64_t at), fd, from, size, at)
WRITES(ssize_t, pwritev, (int fd, const struct iovec* from, int size, off_t at), fd, from, size, at)
WRITES(ssize_t, pwritev64, (int fd, const struct iovec* from, int size, off64_t at), fd, from, size,
       at)
WRITES(int, ftruncate, (int fd, off_t size), fd, size)
WRITES(int, ftruncate64, (int fd, off64_t size), fd, size)
WRITES(int, fchmod, (int fd, mode_t mode), fd, mode)

#define CHANGES(name, parameters, ...) \
  int name parameters {                \
    count();                           \
    return NEXT(name)(__VA_ARGS__);    \
  }
CHANGES(mkdir, (const char* path, mode_t mode), path, mode)
CHANGES(mkdirat, (int at, const char* path, mode_t mode), at, path, mode)
CHANGES(rename, (const char* from, const char* to), from, to)
CHANGES(renameat, (int a, const char* from, int b, const char* to), a, from, b, to)
CHANGES(renameat2, (int a, const char* from, int b, const char* to, unsigned flags), a, from, b, to,
        flags)
CHANGES(unlink, (const char* path), path)
CHANGES(unlinkat, (int at, const char* path, int flags), at, path, flags)
CHANGES(rmdir, (const char* path), path)
CHANGES(link, (const char* from, const char* to), from, to)
CHANGES(linkat, (int a, const char* from, int b, const char* to, int flags), a, from, b, to, flags)
CHANGES(symlink, (const char* from, const char* to), from, to)
CHANGES(symlinkat, (const char* from, int at, const char* to), from, at, to)
CHANGES(chmod, (const char* path, mode_t mode), path, mode)
CHANGES(fchmodat, (int at, const char* path, mode_t mode, int flags), at, path, mode, flags)
