#include "fleet/model/judge_cohorts.h"

#include <algorithm>

#include "fleet/model/batch_draft.h"

namespace fleet {

Cohorts::Cohorts(double tolerate, const Evidence& evidence, std::int64_t fresh_failed,
                 std::int64_t control_failed)
    : tolerate_(tolerate),
      evidence_(evidence),
      fresh_{.nodes = fresh_failed, .failed = fresh_failed},
      control_{.nodes = control_failed, .failed = control_failed} {}

void Cohorts::enter(const std::string& node, Cohort cohort, Ms at, const FailureReport& known,
                    bool has_failed) {
  leave(node, at);
  const auto before = nodes_.find(node);
  const bool returns = before != nodes_.end() && before->second.cohort == cohort;
  Node& entered = nodes_[node];
  const bool failed = entered.failed || has_failed;
  entered = {.cohort = cohort, .last = known, .is_over = failed, .failed = failed};
  if (!failed) add(node, at, {returns ? Change::returns : Change::enters, cohort});
}

void Cohorts::leave(const std::string& node, Ms at) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end() || found->second.is_over) return;
  found->second.is_over = true;
  add(node, at, {Change::leaves, found->second.cohort});
}

void Cohorts::fail(const std::string& node, Ms at) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  const bool is_first = !found->second.is_over;
  found->second.is_over = found->second.failed = true;
  if (is_first) add(node, at, {Change::fails, found->second.cohort});
}

void Cohorts::report(const std::string& node, Ms at, const FailureReport& report) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  FailureReport& last = found->second.last;
  const bool is_same_life = last.boot == report.boot && last.instance == report.instance;
  if (is_same_life && report.sequence <= last.sequence) return;
  const bool was_reset = report.failures < last.failures;
  const bool has_more = report.failures > (was_reset ? 0 : last.failures);
  last = report;
  if (has_more) fail(node, at);
}

// Adds a change that happened at the time `at`. If look() has already counted the changes up to a
// later time, the change is counted at that later time.
void Cohorts::add(const std::string& node, Ms at, Pending what) {
  pending_.emplace(Order{std::max(at, seen_until_), place_of("tie", node), number_++}, what);
}

void Cohorts::look(Ms now) {
  const Ms until = now - judge_delay_ms;
  while (!pending_.empty() && pending_.begin()->first.at <= until) {
    const auto next = pending_.extract(pending_.begin());
    pass_until(next.key().at);
    happen(next.mapped());
  }
  pass_until(until);
}

void Cohorts::pass_until(Ms at) {
  if (at <= seen_until_) return;
  for (CohortCount* count : {&fresh_, &control_})
    count->node_ms += count->at_risk * (at - seen_until_);
  seen_until_ = at;
}

void Cohorts::happen(const Pending& what) {
  CohortCount& count = of(what.cohort);
  if (what.change == Change::enters) ++count.nodes;
  if (what.change == Change::enters || what.change == Change::returns) {
    ++count.at_risk;
    return;
  }
  if (what.change == Change::fails) {
    ++count.failed;
    evidence_.add(what.cohort == Cohort::fresh,
                  chance_of_new({fresh_.at_risk, control_.at_risk}, tolerate_));
  }
  --count.at_risk;
}

const CohortCount& Cohorts::count(Cohort cohort) const {
  return cohort == Cohort::fresh ? fresh_ : control_;
}

bool Cohorts::has_failed(const std::string& node) const {
  const auto found = nodes_.find(node);
  return found != nodes_.end() && found->second.failed;
}

}  // namespace fleet
