// A fixture that passes the supervisor's events to the chronicle (the history of agents and
// upgrades), and makes status.json from the chronicle.
#pragma once

#include <string>

#include "tests/support/bench.h"
#include "upgrader/core/chronicle.h"
#include "upgrader/core/status_news.h"

class StatusBench {
 public:
  explicit StatusBench(const upgrader::Policy& policy = upgrader::test::Bench::default_policy())
      : bench_(policy) {
    chronicle_.begin(stamp());
    chronicle_.note_checked(first);
    bench_.have_watched([this](const auto& event, const auto& actions, const auto& state) {
      const auto* outcome = std::get_if<upgrader::Outcome>(&event);
      if (outcome != nullptr && !outcome->refused) note_done();
      asked_ = actions.empty() ? std::nullopt : std::optional(actions.back());
      chronicle_.note(event, actions, state, stamp());
    });
  }

  // Lets this much time pass. No deadline may lie in this time.
  void pass(upgrader::Duration time) { bench_.wait(time); }

  [[nodiscard]] std::string news() {
    facts.pid = 900;
    facts.incumbent_arguments = facts.candidate_arguments = arguments;
    return upgrader::status_news(bench_.state(), chronicle_, facts);
  }

  // Returns the current time of the fixture's clock as a wall-clock time. The clock begins at
  // 2026-11-22T10:00:00.000Z.
  [[nodiscard]] upgrader::Stamp stamp() const {
    const std::int64_t ms = bench_.now().count();
    return {ms * 1'000 + us, 1'795'341'600'000 + ms - 1'000'000};
  }

  [[nodiscard]] upgrader::test::Bench& operator*() { return bench_; }
  [[nodiscard]] upgrader::test::Bench* operator->() { return &bench_; }
  [[nodiscard]] upgrader::Chronicle& chronicle() { return chronicle_; }

  const std::vector<std::string>* arguments = nullptr;
  upgrader::StatusFacts facts;
  std::string first = "/opt/agent-v1";
  std::string candidate = "/opt/agent-v2";
  std::int64_t us = 0;  // microseconds to add to the clock, which counts milliseconds

 private:
  // Records in the chronicle (the history of agents and upgrades) that the supervisor's last order
  // has been carried out. Does nothing if this order was neither the check of a program nor the
  // start of an agent.
  void note_done() {
    if (std::holds_alternative<upgrader::Check>(*asked_)) chronicle_.note_checked(candidate);
    const auto* spawn = std::get_if<upgrader::Spawn>(&*asked_);
    if (spawn == nullptr) return;
    const auto pid = static_cast<int>(1'000 + spawn->generation);
    chronicle_.note_started(spawn->generation, pid, executable_of(spawn->generation), stamp());
  }

  [[nodiscard]] std::string executable_of(upgrader::Generation generation) const {
    return generation % 2 == 0 ? candidate : first;
  }

  upgrader::test::Bench bench_;
  std::optional<upgrader::Action> asked_;
  upgrader::Chronicle chronicle_;
};
