// Preloaded into the upgrader by canaries: it loses something at every agent that it starts. What,
// LEAK says: a descriptor, or memory.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t lost_bytes = 2'048;

// What is stored here is gone as soon as the next one is.
void* volatile lost = nullptr;

void lose() {
  const char* const what = std::getenv("LEAK");
  if (what == nullptr) return;
  if (std::strcmp(what, "descriptor") == 0) open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (std::strcmp(what, "memory") == 0) lost = std::memset(std::malloc(lost_bytes), 1, lost_bytes);
}

}  // namespace

extern "C" pid_t fork() {
  using Fork = pid_t (*)();
  const pid_t pid = reinterpret_cast<Fork>(dlsym(RTLD_NEXT, "fork"))();
  if (pid > 0) lose();
  return pid;
}
