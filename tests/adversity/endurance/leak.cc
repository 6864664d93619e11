// A library for LD_PRELOAD that makes the upgrader leak a descriptor or memory at each start of an
// agent. The endurance run uses this library in its canaries (runs with an injected bug), to check
// that it finds each leak. The environment variable LEAK is `descriptor` or `memory`.
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t lost_bytes = 2'048;

// The block of memory that was allocated last. The block leaks when this pointer is set to the next
// block.
void* volatile lost = nullptr;

void lose() {
  const char* const what = std::getenv("LEAK");
  if (what == nullptr) return;
  if (std::strcmp(what, "descriptor") == 0) open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (std::strcmp(what, "memory") == 0) lost = std::memset(std::malloc(lost_bytes), 1, lost_bytes);
}

}  // namespace

// Replaces clone(), with which the upgrader starts an agent. Ignores the optional arguments of
// clone(), since the upgrader passes none of them.
extern "C" int clone(int (*run)(void*), void* stack, int flags, void* data, ...) {
  using Clone = int (*)(int (*)(void*), void*, int, void*, ...);
  const int pid = reinterpret_cast<Clone>(dlsym(RTLD_NEXT, "clone"))(run, stack, flags, data);
  if (pid > 0) lose();
  return pid;
}
