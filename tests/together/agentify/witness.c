/* A daemon that records each of its starts, and whether an earlier process of the daemon still runs
 * then. The daemon has a child, which survives a stop and runs until it is killed. The child counts
 * as a process of the daemon. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static void end(int number) {
  (void)number;
  _exit(0);
}

static void say(const char* directory, const char* what) {
  char path[4096];
  char line[64];
  int file;
  snprintf(path, sizeof path, "%s/record", directory);
  file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  snprintf(line, sizeof line, "%s %d\n", what, (int)getpid());
  if (file < 0 || write(file, line, strlen(line)) < 0) _exit(9);
  close(file);
}

int main(void) {
  const char* directory = getenv("DIR");
  char path[4096];
  int held;
  if (directory == NULL) return 8;
  snprintf(path, sizeof path, "%s/witness", directory);
  held = open(path, O_WRONLY | O_CREAT, 0600);
  if (held < 0) return 9;
  say(directory, flock(held, LOCK_EX | LOCK_NB) == 0 ? "alone" : "two");
  signal(SIGTERM, end);
  if (fork() == 0) {
    signal(SIGTERM, SIG_IGN);
    for (;;)
      pause();
  }
  for (;;)
    pause();
}
