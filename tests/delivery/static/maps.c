/* Prints how its own memory is mapped. It is linked without packaging/static/run_time.cc, so its
 * relocated pages can still be written: the canary of tests/delivery/static/run.sh. */
#include <fcntl.h>
#include <unistd.h>

int main(void) {
  char buffer[4096];
  const int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  ssize_t count = 0;
  while ((count = read(maps, buffer, sizeof buffer)) > 0) {
    if (write(STDOUT_FILENO, buffer, (size_t)count) != count) return 1;
  }
  return count == 0 ? 0 : 1;
}
