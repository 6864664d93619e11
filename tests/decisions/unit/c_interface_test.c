/* Tests the C interface from a C program: the header compiles as C99, and a program without an
 * upgrader runs through all states. Exits with 0 if every check passes; otherwise prints the one
 * that failed. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent-protocol/agent_protocol.h"

static int passed = 0;
static int failed = 0;

static void expect(int holds, const char* what) {
  if (holds) {
    ++passed;
    return;
  }
  fprintf(stderr, "tests/decisions/unit/c_interface_test.c: not so: %s\n", what);
  ++failed;
}

static int count_run(void* context, char* reason, size_t size) {
  ++*(int*)context;
  snprintf(reason, size, "said by a check that is content");
  return 0;
}

int main(void) {
  struct agent_protocol_upgrade upgrade = AGENT_PROTOCOL_UPGRADE_INIT;
  const struct agent_protocol_event* event;
  agent_protocol_agent* agent;
  int runs = 0;

  unsetenv("AGENT_PROTOCOL");
  agent = agent_protocol_open("1.2");
  expect(agent != NULL, "open succeeds");
  if (agent == NULL) return 1;
  expect(agent_protocol_alone(agent) == 1, "it is alone");
  expect(agent_protocol_add_check(agent, "count", count_run, &runs) == 0, "a check is added");
  expect(agent_protocol_ready(agent) == 0, "ready is said");
  expect(runs == 1, "the check has run");

  event = agent_protocol_wait(agent, -1);
  expect(event != NULL && event->type == AGENT_PROTOCOL_ACTIVATE, "activate comes");
  expect(event != NULL && event->clean == 0 && event->state == NULL, "it has no state");
  expect(event != NULL && event->generation == -1 && event->failure == NULL, "nor anything else");
  expect(event != NULL && event->trial_ms == -1 && event->commit == NULL, "it is not on trial");

  upgrade.id = "u1";
  upgrade.executable = "/agent-2";
  expect(agent_protocol_request_upgrade(agent, &upgrade) == -1, "an upgrade is refused");
  expect(strstr(agent_protocol_error(agent), "there is no upgrader") != NULL, "with the reason");
  expect(agent_protocol_heartbeat(agent) == 0, "a heartbeat does nothing");

  raise(SIGTERM);
  event = agent_protocol_next(agent);
  expect(event != NULL && event->type == AGENT_PROTOCOL_STOP, "SIGTERM comes as stop");
  expect(event != NULL && event->stop_reason == AGENT_PROTOCOL_STOP_SIGNAL, "with its reason");
  errno = 0;
  expect(agent_protocol_stopped_with(agent, "position\0007", 10) == -1, "a state is not cut");
  expect(errno == EINVAL, "it is refused for its NUL");
  errno = 0;
  expect(agent_protocol_stopped(agent, "\xff") == -1 && errno == EILSEQ, "nor is it changed");
  expect(agent_protocol_stopped_with(agent, "position 7", 10) == 0, "stopped is taken");
  agent_protocol_close(agent);
  printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
