#include "tests/adversity/kill/crew.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "tests/together/integration/process_table.h"

namespace kill_points {
namespace {

constexpr std::size_t packet_bytes_max = 150'000;

// The time limit for a task. A worker that takes longer is killed.
constexpr unsigned task_seconds_max = 120;

struct Worker {
  pid_t pid = 0;
  int fd = -1;
  std::size_t next = 0;
};

// Does every `step`-th task, beginning with the task `first`, and sends the packet `INDEX TEXT` for
// each. If a worker dies in a task, the next worker begins with the task after it.
[[noreturn]] void toil(int fd, std::size_t first, std::size_t count, std::size_t step,
                       const std::function<std::string(std::size_t)>& task) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (std::size_t index = first; index < count; index += step) {
    alarm(task_seconds_max);
    std::string packet = std::to_string(index) + " " + task(index);
    packet.resize(std::min(packet.size(), packet_bytes_max));
    if (send(fd, packet.data(), packet.size(), MSG_NOSIGNAL) < 0) std::exit(1);
  }
  // Exits without destructors, since the objects belong to the parent process.
  _exit(0);
}

// Ends the processes that a dead worker had started, which are now children of this process.
void end_orphans(const std::vector<Worker>& crew) {
  for (const pid_t child : integration::children_of(getpid())) {
    const bool worker = std::any_of(crew.begin(), crew.end(),
                                    [child](const Worker& one) { return one.pid == child; });
    if (worker) continue;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

}  // namespace

void work(std::size_t count, std::size_t workers,
          const std::function<std::string(std::size_t)>& task,
          const std::function<void(const Finding&)>& found) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::vector<Worker> crew;
  const auto start = [&](Worker& worker) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    worker.fd = ends[0];
    worker.pid = fork();
    if (worker.pid == 0) {
      close(ends[0]);
      toil(ends[1], worker.next, count, workers, task);
    }
    close(ends[1]);
  };
  for (std::size_t first = 0; first < workers && first < count; ++first) {
    crew.push_back({.next = first});
    start(crew.back());
  }
  static char packet[packet_bytes_max + 100];
  for (std::size_t left = crew.size(); left > 0;) {
    std::vector<pollfd> polled;
    for (const Worker& worker : crew)
      polled.push_back({worker.fd, POLLIN, 0});
    poll(polled.data(), polled.size(), -1);
    for (std::size_t index = 0; index < crew.size(); ++index) {
      Worker& worker = crew[index];
      if (polled[index].revents == 0) continue;
      const ssize_t size = recv(worker.fd, packet, sizeof packet, 0);
      if (size > 0) {
        const std::string text(packet, static_cast<std::size_t>(size));
        found({std::strtoul(text.c_str(), nullptr, 10), text.substr(text.find(' ') + 1)});
        worker.next += workers;
        continue;
      }
      close(worker.fd);
      worker.fd = -1;
      waitpid(worker.pid, nullptr, 0);
      if (worker.next >= count) {
        --left;
        continue;
      }
      end_orphans(crew);
      found({worker.next, ""});
      worker.next += workers;
      start(worker);
    }
  }
}

}  // namespace kill_points
