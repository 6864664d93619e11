// Which faults there are: every call of every play as it was listed, with every error that
// expectations.table has for it; and the sample of them that a short run takes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/adversity/fault/judge.h"

namespace fault {

using Baselines = std::map<std::string, Report>;  // of the plays without a fault, by name

// Runs every play twice without a fault. Throws if one goes wrong or another way than it is to
// show, or makes other calls the second time: then the k-th call would not be the same one in each
// run.
[[nodiscard]] Baselines run_baselines(const Setting& setting);
[[nodiscard]] Report run_baseline(const Setting& setting, const Play& play);

struct Planned {
  Fault fault;
  Phase phase = Phase::start;  // in which that call was made
};
[[nodiscard]] std::vector<Planned> all_faults(const Baselines& baselines,
                                              const Expectations& expectations);

// The first of every call, error and phase; of the calls that move bytes, processes and links, in
// every play; and as many others as make up `count`, drawn with `seed`.
[[nodiscard]] std::vector<Planned> sample(const std::vector<Planned>& all, std::size_t count,
                                          std::uint64_t seed);

// PLAY:WHO:CALL:WHAT:K
[[nodiscard]] Fault parse_fault(const std::string& text);

}  // namespace fault
