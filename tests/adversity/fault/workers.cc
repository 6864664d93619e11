#include "tests/adversity/fault/workers.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

#include "tests/adversity/fault/plays.h"

namespace fault {
namespace {

constexpr int attempts_max = 3;

// The packet in which a worker process sends its result. The text at the packet's end is cut to
// fit.
struct Packet {
  std::size_t index;
  int fired;
  int phase;
  char outcome[64];
  char wrong[3'500];
};
static_assert(sizeof(Packet) <= 4'096, "no more than a pipe takes at once");

[[noreturn]] void work(const Setting& setting, const std::vector<Planned>& faults,
                       const Baselines& baselines, const Expectations& expectations, int tasks,
                       int results) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::size_t index = 0;
  while (read(tasks, &index, sizeof index) == sizeof index) {
    const Fault& fault = faults[index].fault;
    const Judged judged = judge_fault(setting, fault, baselines.at(fault.play), expectations);
    Packet packet{.index = index,
                  .fired = judged.fired ? 1 : 0,
                  .phase = static_cast<int>(judged.phase),
                  .outcome = {},
                  .wrong = {}};
    strncpy(packet.outcome, judged.outcome.c_str(), sizeof packet.outcome - 1);
    strncpy(packet.wrong, judged.wrong.c_str(), sizeof packet.wrong - 1);
    if (write(results, &packet, sizeof packet) != sizeof packet) _exit(1);
  }
  _exit(0);
}

// Writes the index of every fault to a pipe, from which all worker processes read.
void hand_out(int tasks, std::size_t count) {
  for (std::size_t index = 0; index < count; ++index) {
    if (write(tasks, &index, sizeof index) != sizeof index) _exit(1);
  }
  _exit(0);
}

}  // namespace

Judged judge_fault(const Setting& setting, const Fault& fault, const Report& baseline,
                   const Expectations& expectations) {
  Judged judged;
  for (int attempt = 0; attempt < attempts_max && !judged.fired; ++attempt) {
    Run run(setting, play_named(fault.play), fault);
    const Report report = run.perform();
    judged.fired = report.fired;
    judged.phase = report.phase;
    judged.outcome = report.fired ? outcome_of(fault, report, baseline) : "not fired";
    judged.wrong = "";
    for (const std::string& wrong : wrongs_of(fault, report, baseline, expectations)) {
      judged.wrong += (judged.wrong.empty() ? "" : "; ") + wrong;
    }
  }
  return judged;
}

void judge_all(const Setting& setting, const std::vector<Planned>& faults,
               const Baselines& baselines, const Expectations& expectations, int workers,
               const std::function<void(const Judged&)>& take) {
  int tasks[2];
  int results[2];
  if (pipe2(tasks, O_CLOEXEC) != 0 || pipe2(results, O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipes");
  }
  fflush(nullptr);
  std::vector<pid_t> processes;
  for (int worker = 0; worker <= workers; ++worker) {
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("no process");
    if (pid == 0 && worker == workers) hand_out(tasks[1], faults.size());
    if (pid == 0) {
      close(tasks[1]);
      work(setting, faults, baselines, expectations, tasks[0], results[1]);
    }
    processes.push_back(pid);
  }
  close(tasks[0]);
  close(tasks[1]);
  close(results[1]);
  Packet packet{};
  std::size_t taken = 0;
  while (read(results[0], &packet, sizeof packet) == sizeof packet) {
    ++taken;
    take({.index = packet.index,
          .fired = packet.fired != 0,
          .outcome = packet.outcome,
          .phase = static_cast<Phase>(packet.phase),
          .wrong = packet.wrong});
  }
  close(results[0]);
  for (const pid_t pid : processes)
    waitpid(pid, nullptr, 0);
  if (taken != faults.size()) throw std::runtime_error("a worker ended before its work was done");
}

}  // namespace fault
