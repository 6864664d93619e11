#include "fleet/model/record_capsule.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/escape.h"
#include "fleet/model/record_rules.h"
#include "fleet/model/record_text.h"

namespace fleet {
namespace {

constexpr std::int64_t exit_status_max = 255;
constexpr std::int64_t signal_max = 127;
// The most memory, in KiB, that the record can have: 1 EiB.
constexpr std::int64_t peak_kib_max = 1LL << 50;
// The bytes that a text in a list needs for its quotes and the comma after it.
constexpr std::size_t list_element_bytes = 3;

// Keeps the first texts that fit into `bytes_max` bytes. The last one of these may be cut.
void keep_first(std::vector<std::string>& texts, std::size_t count_max, std::size_t bytes_max) {
  if (texts.size() > count_max) texts.resize(count_max);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    // The shortest part of a text that is kept. With fewer bytes, only its first letters would be
    // left, so the text is dropped.
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
