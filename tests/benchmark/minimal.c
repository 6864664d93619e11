/* The smallest program that can hand work over: fork, pipe, wait and write. It does not read
 * agents' messages but counts lines, checks nothing, has no deadline, and gives up at the first
 * failure. The upgrader is compared with it.
 *
 * minimal AGENT: starts AGENT, and a successor as often as STAMP_HANDOVERS says. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/benchmark/stamps.h"

enum { exit_failure = 1 };

struct agent {
  pid_t pid;
  int input;
  int output;
};

static struct agent start(const char* path) {
  int input[2];
  int output[2];
  struct agent started;
  if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) _exit(exit_failure);
  started.pid = fork();
  if (started.pid < 0) _exit(exit_failure);
  if (started.pid == 0) {
    dup2(input[0], STDIN_FILENO);
    dup2(output[1], STDOUT_FILENO);
    execl(path, path, (char*)NULL);
    _exit(exit_failure);
  }
  close(input[0]);
  close(output[1]);
  started.input = input[1];
  started.output = output[0];
  return started;
}

static void say(const struct agent* agent, const char* line) {
  const size_t size = strlen(line);
  if (write(agent->input, line, size) != (ssize_t)size) _exit(exit_failure);
}

static void read_line(const struct agent* agent) {
  char byte = '\0';
  while (byte != '\n') {
    if (read(agent->output, &byte, 1) != 1) _exit(exit_failure);
  }
}

static void make_ready(const struct agent* agent) {
  read_line(agent); /* hello */
  say(agent, "{\"type\":\"welcome\"}\n");
  read_line(agent); /* ready */
}

int main(int argc, char** argv) {
  const char* const handovers_text = getenv(STAMP_HANDOVERS);
  if (argc != 2 || handovers_text == NULL) return exit_failure;
  const unsigned long handovers = strtoul(handovers_text, NULL, 10);
  struct agent active = start(argv[1]);
  make_ready(&active);
  say(&active, "{\"type\":\"activate\",\"clean\":false}\n");

  for (unsigned long i = 0; i < handovers; ++i) {
    read_line(&active); /* upgrade */
    const struct agent candidate = start(argv[1]);
    make_ready(&candidate);
    say(&active, "{\"type\":\"stop\"}\n");
    if (waitpid(active.pid, NULL, 0) != active.pid) return exit_failure;
    say(&candidate, "{\"type\":\"activate\",\"clean\":true}\n");
    read_line(&candidate); /* healthy */
    say(&candidate, "{\"type\":\"committed\"}\n");
    close(active.input);
    close(active.output);
    active = candidate;
  }

  int status = 0;
  if (waitpid(active.pid, &status, 0) != active.pid) return exit_failure;
  return WIFEXITED(status) ? WEXITSTATUS(status) : exit_failure;
}
