#include "fleet/model/agent/capsule.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>

#include "base/escape.h"
#include "base/signals.h"
#include "fleet/model/records/record_rules.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

// The mark that agentify(1) writes between the reason of a failure and the last line of the
// daemon's output.
constexpr std::string_view last_line_mark = "; its last line: ";

// Returns the part of `text` before the first separator, or all of `text` if it has no separator.
// Removes this part and the separator from `text`.
std::string_view cut_off(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view first = text.substr(0, at);
  text.remove_prefix(at == text.npos ? text.size() : at + 1);
  return first;
}

// Returns the last non-empty lines of the text, at most capsule_lines_max.
std::vector<std::string> last_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::string_view line = cut_off(text, '\n');
    if (!line.empty()) lines.emplace_back(line);
  }
  if (lines.size() > capsule_lines_max) {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(capsule_lines_max));
  }
  return lines;
}

// Returns the files in the list of a release: for each path its mode and its hash.
std::map<std::string_view, std::string_view> files_in(std::string_view list) {
  std::map<std::string_view, std::string_view> files;
  while (!list.empty()) {
    const std::string_view line = cut_off(list, '\n');
    const std::size_t first = line.find(' ');
    const std::size_t second = first == line.npos ? first : line.find(' ', first + 1);
    if (second != line.npos) files[line.substr(second + 1)] = line.substr(0, second);
  }
  return files;
}

// Returns the part of a failure's reason that comes after `words`, or an empty string if the reason
// does not contain `words`.
std::string_view behind(std::string_view reason, std::string_view words) {
  const std::size_t at = reason.find(words);
  return at == reason.npos ? std::string_view{} : reason.substr(at + words.size());
}

std::optional<std::int64_t> status_in(std::string_view reason) {
  const std::string_view text = behind(reason, "exited with status ");
  std::int64_t status = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), status);
  return error == std::errc{} ? std::optional(status) : std::nullopt;
}

std::optional<std::int64_t> signal_in(std::string_view reason) {
  const std::string_view text = behind(reason, "killed by ");
  return upgrader::parse_signal(text.substr(0, text.find_first_of(" ;,.)")));
}

constexpr std::int64_t exit_status_max = 255;
constexpr std::int64_t signal_max = 127;
// The most memory of a process, in KiB, that a capsule (the evidence of a failed upgrade) may
// report: 1 EiB.
constexpr std::int64_t peak_kib_max = 1LL << 50;
// The bytes that a JSON list needs for each string in addition to the string itself: two quotes and
// a comma.
constexpr std::size_t list_element_bytes = 3;

// Keeps the first strings, at most `count_max`, that fit into `bytes_max` bytes of JSON. The last
// of the kept strings may be cut.
void keep_first(std::vector<std::string>& texts, std::size_t count_max, std::size_t bytes_max) {
  if (texts.size() > count_max) texts.resize(count_max);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    // A text is dropped if fewer bytes than this are left for it: its first few letters would not
    // be useful.
    constexpr std::size_t least_bytes = 16;
    if (bytes_max < least_bytes) return texts.resize(i);
    texts[i] = brief(texts[i], bytes_max - list_element_bytes);
    bytes_max -= std::min(bytes_max, agent_protocol::escaped_bytes(texts[i]) + list_element_bytes);
  }
}

void keep_last(std::vector<std::string>& texts, std::size_t count_max, std::size_t bytes_max) {
  std::reverse(texts.begin(), texts.end());
  keep_first(texts, count_max, bytes_max);
  std::reverse(texts.begin(), texts.end());
}

std::int64_t in_range(std::int64_t number, std::int64_t most, std::int64_t otherwise) {
  return number >= 0 && number <= most ? number : otherwise;
}

}  // namespace

std::string reason_at(EvidenceLevel level, std::string_view reason) {
  if (level == EvidenceLevel::lines) return std::string(reason);
  return std::string(reason.substr(0, reason.find(last_line_mark)));
}

std::vector<Capsule> capsule_of(const FailureSeen& seen, EvidenceLevel level) {
  if (level == EvidenceLevel::none) return {};
  const bool is_told = seen.exit_status || seen.signal;
  const auto status = is_told ? seen.exit_status : status_in(seen.reason);
  const auto signal = is_told ? seen.signal : signal_in(seen.reason);
  std::vector<Capsule> evidence{{.stage = seen.stage,
                                 .reason = reason_at(level, seen.reason),
                                 .exit_status = status.value_or(-1),
                                 .signal = signal.value_or(0),
                                 .lived_ms = seen.lived.value_or(-1),
                                 .peak_kib = seen.peak_kib.value_or(-1),
                                 .cpu_ms = seen.processor.value_or(-1),
                                 .lines = level == EvidenceLevel::lines
                                              ? last_lines(seen.last_words)
                                              : std::vector<std::string>{},
                                 .differs = seen.differs}};
  cut_evidence(evidence);
  return evidence;
}

std::vector<std::string> differences(const ListedVersion& before, const ListedVersion& after) {
  std::vector<std::string> differs;
  if (!before.version.empty() && !after.version.empty())
    differs.push_back(before.version + " -> " + after.version);
  if (after.files.empty()) return differs;
  const auto old_files = files_in(before.files);
  const auto new_files = files_in(after.files);
  for (const auto& [path, content] : new_files) {
    const auto old_file = old_files.find(path);
    if (old_file == old_files.end()) {
      differs.push_back("new: " + std::string(path));
    } else if (old_file->second != content) {
      differs.push_back("changed: " + std::string(path));
    }
  }
  for (const auto& [path, content] : old_files) {
    if (!new_files.contains(path)) differs.push_back("gone: " + std::string(path));
  }
  if (differs.size() <= capsule_differs_max) return differs;
  const std::size_t more = differs.size() - (capsule_differs_max - 1);
  differs.resize(capsule_differs_max - 1);
  differs.push_back("and " + std::to_string(more) + " more");
  return differs;
}

void cut_evidence(std::vector<Capsule>& evidence) {
  if (evidence.size() > 1) evidence.resize(1);
  for (Capsule& capsule : evidence) {
    capsule.stage = brief(capsule.stage, capsule_stage_bytes_max);
    capsule.reason = brief(capsule.reason, capsule_reason_bytes_max);
    capsule.exit_status = in_range(capsule.exit_status, exit_status_max, -1);
    capsule.signal = in_range(capsule.signal, signal_max, 0);
    capsule.lived_ms = in_range(capsule.lived_ms, record_ms_max, -1);
    capsule.peak_kib = in_range(capsule.peak_kib, peak_kib_max, -1);
    capsule.cpu_ms = in_range(capsule.cpu_ms, record_ms_max, -1);
    keep_last(capsule.lines, capsule_lines_max, capsule_lines_bytes_max);
    keep_first(capsule.differs, capsule_differs_max, capsule_differs_bytes_max);
  }
}

}  // namespace fleet
