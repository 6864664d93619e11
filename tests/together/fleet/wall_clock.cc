// A library for LD_PRELOAD that shows a program a wrong wall clock. The environment variable
// WALL_CLOCK names a file with the number of seconds by which the clock is ahead. The file may
// change while the program runs. Monotonic clocks are not changed.
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

namespace {

// Returns the number of seconds by which the shown wall clock must be ahead. Reads the number from
// the file that the environment variable WALL_CLOCK names. Returns 0 if there is no such file.
long ahead_s() {
  const char* const path = std::getenv("WALL_CLOCK");
  const int file = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[32] = "";
  const auto size = ::read(file, text, sizeof text - 1);
  ::close(file);
  return size > 0 ? std::strtol(text, nullptr, 10) : 0;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const long result = ::syscall(SYS_clock_gettime, clock, time);
  const bool is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (result == 0 && is_wall) time->tv_sec += ahead_s();
  return static_cast<int>(result);
}

time_t time(time_t* there) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (there != nullptr) *there = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(timeval* there, void* /*zone*/) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  *there = {.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1'000};
  return 0;
}

}  // extern "C"
