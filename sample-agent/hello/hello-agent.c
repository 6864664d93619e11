/* Serves a counter on a TCP port: each connection gets the next number, and no number is given away
 * twice.
 *
 * usage: hello-agent PORT FILE, where FILE holds the last number that was given away. Upgrades,
 * crashes and power cuts repeat no number, since a number is on the disk before it is sent. A
 * number that was written, but not sent before a crash, is skipped. */
#include <agent-protocol/agent_protocol.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char fresh[PATH_MAX], directory[PATH_MAX];

/* Returns the last number given away: 0 if there is none yet, -1 if it cannot be read. */
static long last(const char* path) {
  FILE* file = fopen(path, "r");
  if (!file) return errno == ENOENT ? 0 : -1;
  long number = -1;
  if (fscanf(file, "%ld", &number) != 1) number = -1;
  fclose(file);
  return number;
}

/* Writes the next number to the disk, and then returns the number. Returns -1 after a failure. */
static long next(const char* path) {
  long number = last(path) + 1;
  FILE* file = number > 0 ? fopen(fresh, "w") : NULL;
  if (!file) return -1;
  int written = fprintf(file, "%ld", number) > 0 && fflush(file) == 0 && fsync(fileno(file)) == 0;
  if (fclose(file) != 0 || !written || rename(fresh, path) != 0) return -1;
  int place = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (place < 0) return -1;
  int durable = fsync(place) == 0;
  close(place);
  return durable ? number : -1;
}

static int listen_on(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(listener, (struct sockaddr*)&address, sizeof address) != 0) return -1;
  return listen(listener, SOMAXCONN) == 0 ? listener : -1;
}

static void serve(int listener, const char* path) {
  int connection = accept(listener, NULL, NULL);
  if (connection < 0) return;
  long number = next(path);
  if (number > 0) dprintf(connection, "%ld\n", number); /* the client may have gone */
  close(connection);
}

static int check_counter(void* path, char* reason, size_t size) {
  if (last(path) >= 0) return 0;
  snprintf(reason, size, "cannot read a number from %s", (const char*)path);
  return 1;
}

int main(int argc, char** argv) {
  static agent_protocol_agent* agent; /* used as long as the process lives */
  agent = agent_protocol_open("1.0"); /* must be called first */
  if (!agent || argc != 3) return 2;
  char* path = argv[2];
  snprintf(fresh, sizeof fresh, "%s.new", path);
  char copy[PATH_MAX];
  snprintf(copy, sizeof copy, "%s", path); /* dirname() changes its argument */
  snprintf(directory, sizeof directory, "%s", dirname(copy));
  agent_protocol_add_check(agent, "counter", check_counter, path);
  if (agent_protocol_ready(agent) != 0) return 1;
  for (int listener = -1, pause = -1;;) { /* pause: the time between heartbeats, in ms */
    struct pollfd watched[] = {{agent_protocol_fd(agent), POLLIN, 0}, {listener, POLLIN, 0}};
    if (poll(watched, 2, pause) > 0 && watched[1].revents) serve(listener, path);
    if (listener >= 0 && pause >= 0) agent_protocol_heartbeat(agent);
    const struct agent_protocol_event* event;
    while ((event = agent_protocol_next(agent))) {
      if (event->type == AGENT_PROTOCOL_WELCOME) {
        pause = event->watchdog_ms < 0 ? -1 : (int)event->watchdog_ms / 3;
      } else if (event->type == AGENT_PROTOCOL_ACTIVATE) {
        if ((listener = listen_on(atoi(argv[1]))) < 0) return 1;
      } else if (event->type == AGENT_PROTOCOL_STOP) {
        close(listener); /* give up the port before saying stopped */
        return agent_protocol_stopped(agent, NULL) != 0;
      }
    }
  }
}
