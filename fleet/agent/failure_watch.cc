#include "fleet/agent/failure_watch.h"

#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "fleet/common/text_file.h"

namespace fleet {
namespace {

constexpr std::size_t processes_max = 64;

std::string proc(std::int64_t pid) {
  return "/proc/" + std::to_string(pid);
}

// Returns the processor time of the process and of its exited children: the sum of the fields 14 to
// 17 of /proc/PID/stat. Counts fields from the `)`, since the program's name, in parentheses, may
// contain blanks.
std::optional<std::int64_t> cpu_ms_of(std::int64_t pid) {
  const std::string text = content_of_file(proc(pid) + "/stat");
  const std::size_t end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return std::nullopt;
  std::istringstream members(text.substr(end_of_name + 1));
  std::string skipped;
  constexpr int members_between = 11;
  for (int i = 0; i < members_between; ++i)
    members >> skipped;
  std::int64_t sum = 0;
  constexpr int times = 4;
  for (int i = 0; i < times; ++i) {
    std::int64_t ticks = 0;
    if (!(members >> ticks)) return std::nullopt;
    sum += ticks;
  }
  constexpr std::int64_t ms_a_second = 1'000;
  return sum * ms_a_second / std::max<std::int64_t>(1, ::sysconf(_SC_CLK_TCK));
}

void add_children(std::int64_t pid, std::vector<std::int64_t>& pids) {
  const std::string task = "/task/" + std::to_string(pid) + "/children";
  std::istringstream children(content_of_file(proc(pid) + task));
  std::int64_t child = 0;
  while (pids.size() < processes_max && children >> child)
    pids.push_back(child);
}

void add(std::optional<std::int64_t>& sum, std::optional<std::int64_t> more) {
  if (more) sum = sum.value_or(0) + *more;
}

// Raises `value` to `other`, if `other` is larger or `value` is absent.
void raise(std::optional<std::int64_t>& value, std::optional<std::int64_t> other) {
  if (other) value = std::max(*other, value.value_or(0));
}

// Reads from /proc how much memory and processor time the process and its descendants use, at most
// 64 processes. A value is absent if /proc does not show it. For children that have exited, only
// the processor time is included.
ProcessUse use_of_process(std::int64_t pid) {
  ProcessUse use;
  if (pid <= 0) return use;
  std::vector<std::int64_t> pids{pid};
  for (std::size_t i = 0; i < pids.size(); ++i) {
    add(use.peak_kib, upgraderctl::peak_memory_kib(pids[i]));
    add(use.cpu_ms, cpu_ms_of(pids[i]));
    add_children(pids[i], pids);
  }
  return use;
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

// Returns the last lines that the component's daemon has written, which agentify saves. Returns an
// empty string if none were saved since this upgrade began.
std::string FailureWatch::last_words() const {
  const auto words = control_.last_words();
  const bool is_new = words && (!words_before_ || words->written != words_before_->written ||
                                words->text != words_before_->text);
  return is_new ? words->text : "";
}

// Returns the version and the list of files in its release. The list is empty if the release is a
// single file.
ListedVersion FailureWatch::listed(const std::string& version) const {
  const bool is_name = !version.empty() && version.find('/') == std::string::npos;
  const std::string path = places_.releases + "/" + places_.name + "-v" + version + ".files";
  return {.version = version, .files = is_name ? content_of_file(path) : ""};
}

}  // namespace fleet
