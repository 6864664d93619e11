/* The agent of the benchmark: quick to start and to end, and the same under every program that runs
 * it. It notes when it was started, when it could begin to work, when it worked last and when it
 * ended: see stamps.h. It speaks the protocol without a library. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "tests/benchmark/stamps.h"

enum { exit_failure = 1, input_bytes_max = 4096 };

static struct stamp_page* page;
static uint32_t generation;

static char input[input_bytes_max + 1];
static size_t held;  /* bytes in `input` */
static size_t taken; /* of these, the lines that have been looked at */

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void stamp(enum stamp_kind kind, int64_t time_ns) {
  const uint32_t index = __atomic_fetch_add(&page->used, 1, __ATOMIC_RELAXED);
  if (index >= stamps_max) _exit(exit_failure);
  struct stamp* const entry = &page->all[index];
  entry->time_ns = time_ns;
  entry->generation = generation;
  __atomic_store_n(&entry->kind, kind, __ATOMIC_RELEASE);
}

static void map_page(void) {
  const char* const path = getenv(STAMP_PAGE);
  const int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) _exit(exit_failure);
  page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (page == MAP_FAILED) _exit(exit_failure);
  close(fd);
  generation = __atomic_add_fetch(&page->agents, 1, __ATOMIC_RELAXED);
}

static unsigned long setting(const char* name) {
  const char* const text = getenv(name);
  return text == NULL ? 0 : strtoul(text, NULL, 10);
}

static void pass_ms(unsigned long ms) {
  struct timespec time;
  if (ms == 0) return;
  time.tv_sec = (time_t)(ms / 1000);
  time.tv_nsec = (long)(ms % 1000) * 1000000;
  nanosleep(&time, NULL);
}

static void say(const char* line) {
  const size_t size = strlen(line);
  if (write(STDOUT_FILENO, line, size) != (ssize_t)size) _exit(exit_failure);
}

/* Returns the next line of the input, with NUL instead of newline. */
static const char* next_line(void) {
  for (;;) {
    char* const newline = memchr(input + taken, '\n', held - taken);
    if (newline != NULL) {
      const char* const line = input + taken;
      *newline = '\0';
      taken = (size_t)(newline + 1 - input);
      return line;
    }
    memmove(input, input + taken, held - taken);
    held -= taken;
    taken = 0;
    const ssize_t count = read(STDIN_FILENO, input + held, input_bytes_max - held);
    if (count <= 0) _exit(exit_failure);
    held += (size_t)count;
  }
}

/* Returns 1 if the next line is a message of this type, and 0 if it is `accepted`, which the caller
 * skips. Any other message, such as that of a failed upgrade, ends the measurement. */
static int next_line_is(const char* type) {
  const char* const line = next_line();
  if (strstr(line, type) != NULL) return 1;
  if (strstr(line, "\"type\":\"accepted\"") == NULL) _exit(exit_failure);
  return 0;
}

static void wait_for(const char* type) {
  while (!next_line_is(type)) {
  }
}

static void ask_for_upgrade(const char* path) {
  char line[input_bytes_max];
  const int size = snprintf(line, sizeof line,
                            "{\"type\":\"upgrade\",\"id\":\"next\",\"executable\":\"%s\"}\n", path);
  if (size < 0 || (size_t)size >= sizeof line) _exit(exit_failure);
  say(line);
}

/* Works while there is nothing to read, and notes the time of the last work. */
static void tick_until_told_to_stop(void) {
  struct pollfd told = {.fd = STDIN_FILENO, .events = POLLIN};
  int64_t last = 0;
  do {
    do {
      last = now_ns();
    } while (taken == held && poll(&told, 1, 0) == 0);
  } while (!next_line_is("\"type\":\"stop\""));
  stamp(stamp_last_tick, last);
}

/* Works for `ms` milliseconds, and ends without a message. */
static void tick_until_it_fails(unsigned long ms) {
  const int64_t end = now_ns() + (int64_t)ms * 1000000;
  int64_t last = 0;
  do {
    last = now_ns();
  } while (last < end);
  stamp(stamp_last_tick, last);
  _exit(exit_failure);
}

static void work_under_upgrader(unsigned long handovers, const char* path) {
  const unsigned long fail_ms = setting(STAMP_FAIL_MS);
  say("{\"type\":\"hello\",\"protocol\":1}\n");
  wait_for("\"type\":\"welcome\"");
  if (generation > 1) pass_ms(setting(STAMP_START_MS));
  say("{\"type\":\"ready\"}\n");
  wait_for("\"type\":\"activate\"");
  stamp(stamp_activated, now_ns());

  if (fail_ms != 0) {
    if (generation % 2 == 0) tick_until_it_fails(fail_ms);
  } else if (generation > 1) {
    say("{\"type\":\"healthy\"}\n");
    wait_for("\"type\":\"committed\"");
  }
  if (generation <= (fail_ms == 0 ? handovers : 2 * handovers)) {
    pass_ms(setting(STAMP_WORK_MS));
    ask_for_upgrade(path);
  } else if (setting(STAMP_STAYS) == 0) {
    return;
  }
  if (setting(STAMP_TICKS) != 0) {
    tick_until_told_to_stop();
  } else {
    wait_for("\"type\":\"stop\"");
  }
  say("{\"type\":\"stopped\"}\n");
}

static void work_alone(unsigned long handovers) {
  const int ready = (int)setting(STAMP_READY_FD);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (generation > 1) pass_ms(setting(STAMP_START_MS));
  stamp(stamp_activated, now_ns());
  if (ready != 0 && write(ready, "\n", 1) != 1) _exit(exit_failure);
  if (generation <= handovers) {
    pass_ms(setting(STAMP_WORK_MS));
  } else if (setting(STAMP_STAYS) != 0) {
    pause();
  }
}

int main(int argc, char** argv) {
  const int64_t started = now_ns();
  if (argc < 1) return exit_failure;
  map_page();
  stamp(stamp_started, started);
  const unsigned long handovers = setting(STAMP_HANDOVERS);
  if (setting(STAMP_ALONE) != 0) {
    work_alone(handovers);
  } else {
    work_under_upgrader(handovers, argv[0]);
  }
  stamp(stamp_exiting, now_ns());
  _exit(0);
}
