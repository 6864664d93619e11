// Linked into every program of the coverage build: writes down what has been counted where a
// process would otherwise take it with it. gcc sees to exit and fork by itself; what is left is
// _exit, abort, and the two ways in which the product executes a program.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include <cstdarg>
#include <cstdlib>

extern "C" {

void __gcov_dump();
void __gcov_reset();

[[noreturn]] void __real__exit(int status);
[[noreturn]] void __real_abort();
int __real_execve(const char* path, char* const* argv, char* const* envp);
long __real_syscall(long number, ...);

// A test may have limited the size of files, and its signal kills the child of a fork.
static void dump() {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &none);
  __gcov_dump();
  setrlimit(RLIMIT_FSIZE, &before);
}

static void dump_at_exit() {
  dump();
  __gcov_reset();
}

[[gnu::constructor]] static void see_to_exit() {
  std::atexit(dump_at_exit);
}

[[noreturn]] void __wrap__exit(int status) {
  dump();
  __real__exit(status);
}

[[noreturn]] void __wrap_abort() {
  dump();
  __real_abort();
}

int __wrap_execve(const char* path, char* const* argv, char* const* envp) {
  dump();
  const int result = __real_execve(path, argv, envp);
  __gcov_reset();
  return result;
}

// Six arguments are what the kernel takes; those that a caller has not given are not looked at.
long __wrap_syscall(long number, ...) {
  long argument[6];
  va_list given;
  va_start(given, number);
  for (long& one : argument)
    one = va_arg(given, long);
  va_end(given);
  if (number == SYS_execveat) dump();
  const long result = __real_syscall(number, argument[0], argument[1], argument[2], argument[3],
                                     argument[4], argument[5]);
  if (number == SYS_execveat) __gcov_reset();
  return result;
}

}  // extern "C"
