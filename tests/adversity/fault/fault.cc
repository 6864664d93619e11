// `make fault` makes the system calls of the real upgrader fail, one in each run, and judges the
// outcome. tracer.h makes the calls fail, plays.cc has the runs, and expectations.table has the
// expected outcomes.
//
// usage: fault, with these variables:
//     UPGRADER, PUPPET, BROKEN   the programs
//     TABLE=FILE                 expectations.table
//     LONG=1                     tries every fault, not only a sample
//     SAMPLE=N, SEED=N           the size of the sample, and the seed with which it is drawn
//     PLAY=NAME                  tries only the faults of this play (scripted run)
//     JOBS=N                     the number of processes that work at a time
//     ONLY=PLAY:WHO:CALL:ERROR:K tries only this fault, and prints its trace
//     OUTCOMES=1                 prints the faults by their outcomes
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/adversity/fault/plan.h"
#include "tests/support/figures.h"

namespace fault {
namespace {

using upgrader::test::with_commas;

constexpr std::size_t short_sample = 3'000;

// A progress line is printed each time this number of faults has been injected.
constexpr std::size_t progress_interval = 1'000;

std::string setting_of(const char* name, const char* otherwise = "") {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

// ---- the judging of faults: many at the same time, each in a worker process, since one process
// can trace only one run and reap the processes of that run

struct Judged {
  std::size_t index = 0;  // the index of the fault in the list of all faults
  bool fired = false;
  std::string outcome;
  Phase phase = Phase::start;
  std::string wrong;  // the broken rules in words; empty if none was broken
};

constexpr int attempts_max = 3;

// Runs the upgrader with the fault, and judges the run. On a busy machine, a run may make other
// system calls than usual, so that the fault does not strike. In this case, repeats the run, up to
// `attempts_max` runs in all.
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

// The packet in which a worker process sends its result. The text at the packet's end is truncated
// if it is too long.
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

// Judges all faults, and calls `take` with each result as it arrives. Throws if a worker process
// has died.
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

// ---- counting the outcomes of all faults, and showing the run with one fault

// The numbers of the run that are printed for the table of results.
struct Figures {
  std::size_t injected = 0;
  std::size_t fired = 0;
  std::size_t violations = 0;
  std::map<std::string, std::size_t> groups;
  std::map<std::string, std::size_t> details;
};

std::string group_of(const Judged& judged) {
  if (judged.outcome == "usual") return "went as without it";
  if (judged.outcome.starts_with("kept")) return "failed cleanly with the agent serving on";
  if (judged.outcome.starts_with("back")) return "fell back";
  if (judged.outcome == "deaf") return "served on and took no requests";
  if (judged.outcome == "moved") return "committed on another road";
  if (judged.outcome.starts_with("exit")) return "exited with a documented status";
  if (judged.outcome == "abort") return "aborted with S1 kept";
  if (judged.outcome == "killed") return "upgrader killed with S1 kept";
  return judged.outcome;
}

void note(Figures& figures, const Fault& fault, const Judged& judged) {
  ++figures.injected;
  if (judged.fired) ++figures.fired;
  if (figures.injected % progress_interval == 0) {
    printf("%s done\n", with_commas(figures.injected).c_str());
    fflush(stdout);
  }
  const std::string who = fault.who.substr(0, fault.who.find_first_of("0123456789"));
  ++figures.details[who + " | " + fault.call + " | " + fault.what + " | " +
                    phase_names[static_cast<int>(judged.phase)] + " | " + judged.outcome];
  if (judged.wrong.empty()) {
    ++figures.groups[group_of(judged)];
    return;
  }
  if (judged.fired) ++figures.violations;
  printf("VIOLATION: %s: %s\n  make fault ONLY=%s\n", fault.text().c_str(), judged.wrong.c_str(),
         fault.text().c_str());
  fflush(stdout);
}

int show_one(Setting setting, const std::string& text, const Expectations& expectations) {
  const Fault fault = parse_fault(text);
  const Play& play = play_named(fault.play);
  printf("%s: %s\n", play.name.c_str(), play.about.c_str());
  const Report baseline = run_baseline(setting, play);
  setting.shows = true;
  Run run(setting, play, fault);
  const Report report = run.perform();
  const std::vector<std::string> wrongs = wrongs_of(fault, report, baseline, expectations);
  printf("without the fault: %s\nwith it:           %s\n%s: %s\n", baseline.at_end.c_str(),
         report.at_end.c_str(), fault.text().c_str(),
         report.fired ? outcome_of(fault, report, baseline).c_str() : "did not fire");
  for (const std::string& wrong : wrongs)
    printf("wrong: %s\n", wrong.c_str());
  return wrongs.empty() ? 0 : 1;
}

// ---- canaries

bool tell_canary(const std::string& seeded, bool caught) {
  printf("canary: V7 | %s | %s\n", seeded.c_str(), caught ? "caught" : "MISSED");
  return caught;
}

bool judged_wrong(const Setting& setting, const std::string& text, const Report& baseline,
                  const Expectations& expectations, const std::string& about) {
  const Judged judged = judge_fault(setting, parse_fault(text), baseline, expectations);
  return judged.wrong.find(about) != std::string::npos;
}

// Runs the canaries, which show that the test notices errors. A bad upgrader that checks no result
// must be found bad. A fault that cannot fire must be reported.
bool run_canaries(const Setting& setting, const Baselines& baselines,
                  const Expectations& expectations) {
  Setting broken = setting;
  broken.upgrader = setting_of("BROKEN");
  const Report baseline = run_baseline(broken, play_named("parallel"));
  const auto breaks = [&](const char* fault, const char* about) {
    return judged_wrong(broken, fault, baseline, expectations, about);
  };
  bool caught = tell_canary("a stand-in that activates the next whatever waitpid says (EINTR)",
                            breaks("parallel:upgrader:wait4:EINTR:1", "two agents are active"));
  caught &= tell_canary("a stand-in that exits with a status of its own making (EAGAIN on a read)",
                        breaks("parallel:upgrader:read.agent:EAGAIN:2", "exit77 in phase"));
  const auto does_not_fire = [&](const char* fault) {
    return judged_wrong(setting, fault, baselines.at("parallel"), expectations, "it did not fire");
  };
  caught &= tell_canary("a fault in a call that is never made",
                        does_not_fire("parallel:upgrader:syncfs:EIO:1"));
  caught &= tell_canary("a fault in the 9,999th write",
                        does_not_fire("parallel:upgrader:write.agent:EAGAIN:9999"));
  return caught;
}

// ---- printing the results

bool tell_result(const Figures& figures) {
  std::string text =
      with_commas(figures.injected) + " faults injected, " + with_commas(figures.fired) + " fired";
  const char* separator = ": ";
  for (const auto& [group, count] : figures.groups) {
    text += separator + with_commas(count) + " " + group;
    separator = ", ";
  }
  text += separator + with_commas(figures.violations) + " violations";
  const bool met = figures.fired == figures.injected && figures.violations == 0;
  const std::string reason = figures.fired != figures.injected ? "not met: not every fault fired"
                                                               : "not met: there are violations";
  printf("result: V7 | make fault%s | %s | every fault fired, 0 violations | %s\n",
         setting_of("LONG").empty() ? "" : " LONG=1", text.c_str(), met ? "met" : reason.c_str());
  return met;
}

int run_all(const Setting& setting, const Expectations& expectations) {
  const Baselines baselines = run_baselines(setting);
  std::vector<Planned> all = all_faults(baselines, expectations);
  if (const std::string name = setting_of("PLAY"); !name.empty()) {
    const Play& play = play_named(name);
    std::erase_if(all, [&](const auto& one) { return one.fault.play != play.name; });
  }
  const auto seed = std::strtoull(setting_of("SEED", "1").c_str(), nullptr, 10);
  const auto count = std::strtoull(
      setting_of("SAMPLE", std::to_string(short_sample).c_str()).c_str(), nullptr, 10);
  const bool whole = !setting_of("LONG").empty();
  const std::vector<Planned> chosen = whole ? all : sample(all, count, seed);
  printf("%zu plays, %s faults; %s of them, seed %llu\n", baselines.size(),
         with_commas(all.size()).c_str(), with_commas(chosen.size()).c_str(), seed);
  fflush(stdout);
  Figures figures;
  judge_all(setting, chosen, baselines, expectations, std::atoi(setting_of("JOBS", "2").c_str()),
            [&](const Judged& judged) { note(figures, chosen[judged.index].fault, judged); });
  if (!setting_of("OUTCOMES").empty()) {
    for (const auto& [detail, times] : figures.details)
      printf("%s | %zu\n", detail.c_str(), times);
  }
  const bool met = tell_result(figures);
  const bool caught = run_canaries(setting, baselines, expectations);
  return met && caught ? 0 : 1;
}

}  // namespace
}  // namespace fault

int main() {
  using namespace fault;
  try {
    Setting setting{.upgrader = setting_of("UPGRADER"), .puppet = setting_of("PUPPET")};
    const Expectations expectations(setting_of("TABLE"));
    const std::string only = setting_of("ONLY");
    return only.empty() ? run_all(setting, expectations) : show_one(setting, only, expectations);
  } catch (const std::exception& error) {
    printf("fault: %s\n", error.what());
    return 1;
  }
}
