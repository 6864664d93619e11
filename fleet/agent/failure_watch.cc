#include "fleet/agent/failure_watch.h"

#include <algorithm>

#include "fleet/common/text_file.h"

namespace fleet {
namespace {

// Sets `value` to the larger of `value` and `other`. An absent one is ignored.
void raise(std::optional<std::int64_t>& value, std::optional<std::int64_t> other) {
  if (other) value = std::max(*other, value.value_or(0));
}

}  // namespace

void FailureWatch::begin(const std::string& from, const std::string& to) {
  from_ = from;
  to_ = to;
  if (level_ == EvidenceLevel::lines) words_before_ = control_.last_words();
  pid_ = 0;
  started_.reset();
  use_ = {};
}

void FailureWatch::see(const std::optional<upgraderctl::AgentStatus>& agent) {
  if (level_ == EvidenceLevel::none || !agent || !agent->pid) return;
  pid_ = *agent->pid;
  started_ = agent->started;
  const ProcessUse now = use_of_process(pid_);
  raise(use_.peak_kib, now.peak_kib);
  raise(use_.cpu_ms, now.cpu_ms);
}

std::vector<Capsule> FailureWatch::evidence_of(const upgraderctl::Ending& ending) const {
  if (level_ == EvidenceLevel::none || ending.outcome == "committed") return {};
  std::optional<Ms> lived;
  if (started_ && ending.ended) lived = (*ending.ended - *started_).count();
  return capsule_of({.stage = ending.stage,
                     .reason = ending.reason,
                     .exit_status = ending.exit_status,
                     .signal = ending.signal,
                     .lived = lived,
                     .peak_kib = use_.peak_kib,
                     .processor = use_.cpu_ms,
                     .last_words = level_ == EvidenceLevel::lines ? last_words() : "",
                     .differs = differences(listed(from_.empty() ? ending.from.version : from_),
                                            listed(to_.empty() ? ending.to.version : to_))},
                    level_);
}

// Returns the end of the daemon's output, if agentify has kept it since this upgrade began.
std::string FailureWatch::last_words() const {
  const auto words = control_.last_words();
  const bool is_new = words && (!words_before_ || words->written != words_before_->written ||
                                words->text != words_before_->text);
  return is_new ? words->text : "";
}

// Returns the version with the list of its files, if its release is a directory.
ListedVersion FailureWatch::listed(const std::string& version) const {
  const bool is_name = !version.empty() && version.find('/') == std::string::npos;
  const std::string path = places_.releases + "/" + places_.name + "-v" + version + ".files";
  return {.version = version, .files = is_name ? content_of_file(path) : ""};
}

}  // namespace fleet
