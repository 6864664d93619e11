// The plan lists the faults: for every system call of every play (scripted run), every error that
// expectations.table has for this call. The plan also draws the sample of faults that a short run
// uses.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/adversity/fault/judge.h"

namespace fault {

// The reports of the runs without a fault: one for each play (scripted run), by the play's name.
using Baselines = std::map<std::string, Report>;

// Runs every play (scripted run) twice without a fault. Throws if a run goes wrong, or does not
// show the event for which the play was written. Also throws if the two runs make different system
// calls: a fault strikes the k-th call of a name, and the k-th call must be the same in every run.
[[nodiscard]] Baselines run_baselines(const Setting& setting);
[[nodiscard]] Report run_baseline(const Setting& setting, const Play& play);

struct Planned {
  Fault fault;
  Phase phase = Phase::start;  // the phase in which the k-th call was made
};
[[nodiscard]] std::vector<Planned> all_faults(const Baselines& baselines,
                                              const Expectations& expectations);

// Returns a sample of the faults. It has at least one fault for every combination of caller
// (upgrader or child), system call, error and phase. For some calls, such as reads, writes, forks
// and renames, it has one for every such combination in every play. If these are fewer than `count`
// faults, more are drawn at random with `seed`.
[[nodiscard]] std::vector<Planned> sample(const std::vector<Planned>& all, std::size_t count,
                                          std::uint64_t seed);

// Parses the name of a fault, such as `parallel:upgrader:read.agent:EAGAIN:2`. The form is
// PLAY:WHO:CALL:WHAT:K, and tracer.h explains these parts, which are the members of Fault.
[[nodiscard]] Fault parse_fault(const std::string& text);

}  // namespace fault
