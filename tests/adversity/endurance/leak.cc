// Preloaded into the upgrader by canaries: it loses something at every agent that it starts, a
// descriptor or memory, as LEAK says.
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t lost_bytes = 2'048;

// Memory whose address is stored here is lost as soon as the next one is.
void* volatile lost = nullptr;

void lose() {
  const char* const what = std::getenv("LEAK");
  if (what == nullptr) return;
  if (std::strcmp(what, "descriptor") == 0) open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (std::strcmp(what, "memory") == 0) lost = std::memset(std::malloc(lost_bytes), 1, lost_bytes);
}

}  // namespace

// By this call the upgrader starts an agent, and makes nothing else of its further arguments.
extern "C" int clone(int (*run)(void*), void* stack, int flags, void* data, ...) {
  using Clone = int (*)(int (*)(void*), void*, int, void*, ...);
  const int pid = reinterpret_cast<Clone>(dlsym(RTLD_NEXT, "clone"))(run, stack, flags, data);
  if (pid > 0) lose();
  return pid;
}
