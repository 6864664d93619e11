// The measurements: hand-overs, start-ups and memory of the compared programs. `make bench` prints
// each measurement as a section: a function `measure_...()` prints a table, and returns a sentence
// that sums the table up. `make size` compares single figures with their bars, the values that they
// must not exceed.
#pragma once

#include <string>
#include <vector>

#include "tests/benchmark/contender.h"

namespace benchmark {

// ---- hand-overs

// The hand-overs of two programs that are measured in turn: the upgrader, and the minimal program
// `minimal.c`. Under both programs, the next agent begins to work only after the old agent's exit.
struct HandOvers {
  std::vector<Milliseconds> upgrader = {};
  std::vector<Milliseconds> minimal = {};
  // For each pair of runs, the median time under the upgrader, divided by the median time under the
  // minimal program.
  std::vector<double> ratios = {};
};

// Measures the upgrader's own share of a hand-over: the time from the old agent's exit until the
// next agent has read `activate`, the message that gives it the work. Each hand-over begins as soon
// as the previous one has ended.
[[nodiscard]] HandOvers shares_in_pairs(const Place& place, int pairs);

// Settings for measuring gaps in the work: the time that each agent takes to start, and the number
// of hand-overs in a run. While an agent works, it records the time again and again. A gap is the
// time from the old agent's last record to the next agent's first record.
struct Gap {
  int start_ms = 0;
  int handovers = 0;
  // True if the upgrader is started with --relink, --lock, --control and --previous, as our service
  // files start it. It then writes status.json, too.
  bool as_service = false;
};
[[nodiscard]] HandOvers gaps_in_pairs(const Place& place, const Gap& gap, int pairs);

// Measures the upgrader's share of a hand-over: the time from the end of one agent until the next
// agent begins to work, while the machine does nothing else.
[[nodiscard]] std::string measure_hand_over(const Place& place);

// Measures how long no agent works during a replacement, for new versions that take different times
// to start.
[[nodiscard]] std::string measure_replacement(const Place& place);

// Measures how long no agent works if a version fails on its trial.
[[nodiscard]] std::string measure_fall_back(const Place& place);

// ---- start-ups

// Two times for each start: from the fork to the agent's `main()` (`to_start`), and from the fork
// until the agent may work (`to_work`).
struct StartUps {
  Contender contender;
  std::vector<Milliseconds> to_start = {};
  std::vector<Milliseconds> to_work = {};
};

// Measures starts in `rounds` rounds. In every round, starts the agent once under each of the
// contenders (the compared programs). Returns the times of each contender, in their order.
[[nodiscard]] std::vector<StartUps> start_in_turn(const Place& place,
                                                  const std::vector<Contender>& contenders,
                                                  int rounds);

// Measures how long it takes from the start of a program to the start of its agent, and to the
// beginning of the agent's work.
[[nodiscard]] std::string measure_start_up(const Place& place);

// ---- memory

// The memory of a program with one agent at rest, as the kernel counts it.
struct Memory {
  double pss_kb = 0;
  double private_kb = 0;
};

[[nodiscard]] Memory memory_with_one_agent(const Place& place, const Contender& contender);

// Measures the upgrader's memory while a candidate starts slowly beside the active agent.
[[nodiscard]] Memory memory_with_two_agents(const Place& place);

// Measures the memory of an upgrader with one agent at rest.
[[nodiscard]] std::string measure_memory(const Place& place);

}  // namespace benchmark
