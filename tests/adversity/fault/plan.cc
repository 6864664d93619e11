#include "tests/adversity/fault/plan.h"

#include <sys/wait.h>

#include <algorithm>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>

namespace fault {
namespace {

std::string first_difference(const std::vector<Call>& one, const std::vector<Call>& other) {
  const auto text = [](const Call& call) {
    return call.who + " " + call.name + " #" + std::to_string(call.k) + " in phase " +
           phase_names[static_cast<int>(call.phase)];
  };
  const auto missing = [](const std::vector<Call>& calls, const Call& call) {
    return std::find(calls.begin(), calls.end(), call) == calls.end();
  };
  for (const Call& call : one) {
    if (missing(other, call)) return text(call);
  }
  for (const Call& call : other) {
    if (missing(one, call)) return text(call);
  }
  return "";
}

bool always_in_every_play(const std::string& call) {
  for (const char* name : {"read.", "write.", "fsync.", "renameat", "clone", "pipe2", "epoll_",
                           "signalfd4", "eventfd2", "sendto.log"}) {
    if (call.starts_with(name)) return true;
  }
  return false;
}

}  // namespace

Report run_baseline(const Setting& setting, const Play& play) {
  Run run(setting, play, std::nullopt);
  Report report = run.perform();
  if (!report.violations.empty()) {
    throw std::runtime_error(play.name + ", without a fault: " + report.violations[0]);
  }
  return report;
}

Baselines run_baselines(const Setting& setting) {
  Baselines baselines;
  for (const Play& play : plays()) {
    Report report = run_baseline(setting, play);
    if (report.at_end != play.story) {
      throw std::runtime_error(play.name + " goes another way: " + report.at_end);
    }
    const Report again = run_baseline(setting, play);
    const std::string difference = first_difference(report.calls, again.calls);
    if (!difference.empty()) throw std::runtime_error(play.name + " differs: " + difference);
    baselines.emplace(play.name, std::move(report));
  }
  return baselines;
}

std::vector<Planned> all_faults(const Baselines& baselines, const Expectations& expectations) {
  std::vector<Planned> all;
  for (const Play& play : plays()) {
    long memory_end = 0;
    for (const Call& call : baselines.at(play.name).calls) {
      if (call.name == "brk") {
        const bool gives_back = call.result < std::exchange(memory_end, call.result);
        if (gives_back) continue;  // a brk() that gives memory back to the kernel never fails
      }
      for (const std::string& what : expectations.errors_of(call)) {
        all.push_back(
            {.fault = {play.name, call.who, call.name, what, call.k}, .phase = call.phase});
      }
    }
  }
  return all;
}

std::vector<Planned> sample(const std::vector<Planned>& all, std::size_t count,
                            std::uint64_t seed) {
  std::set<std::string> seen;
  std::vector<Planned> chosen;
  std::vector<Planned> others;
  for (const Planned& planned : all) {
    const Fault& fault = planned.fault;
    std::string key = fault.who.substr(0, 5) + ":" + fault.call + ":" + fault.what + ":" +
                      phase_names[static_cast<int>(planned.phase)];
    if (always_in_every_play(fault.call)) key += ":" + fault.play;
    (seen.insert(key).second ? chosen : others).push_back(planned);
  }
  std::mt19937_64 random(seed);
  std::shuffle(others.begin(), others.end(), random);
  for (const Planned& planned : others) {
    if (chosen.size() >= count) break;
    chosen.push_back(planned);
  }
  return chosen;
}

Fault parse_fault(const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() != 5 || std::atoi(parts[4].c_str()) < 1) {
    throw std::runtime_error(text + ": not PLAY:WHO:CALL:ERROR:K");
  }
  Fault fault{parts[0], parts[1], parts[2], parts[3], std::atoi(parts[4].c_str())};
  if (!fault.kills() && fault.error() == 0) throw std::runtime_error(text + ": no such error");
  return fault;
}

}  // namespace fault
