// Gives names to the rollouts that the release watcher begins: see watch_rollout_id() in
// release_watcher.h.
#include <cstdint>

#include "fleet/model/releases/release_watcher.h"
#include "fleet/model/rollouts/rollout_decision.h"
#include "fleet/model/rollouts/rollout_draft.h"

namespace fleet {
namespace {

// Returns the 32-bit FNV-1a hash of a string, in hexadecimal. watch_rollout_id() appends the hash
// of the original name to a name that it has changed.
std::string digits_of(std::string_view text) {
  std::uint32_t sum = 2'166'136'261U;
  for (const char c : text)
    sum = (sum ^ static_cast<unsigned char>(c)) * 16'777'619U;
  std::string digits;
  for (int shift = 28; shift >= 0; shift -= 4)
    digits += "0123456789abcdef"[(sum >> shift) & 0xfU];
  return digits;
}

}  // namespace

std::string watch_rollout_id(std::string_view component, std::string_view version) {
  const std::string whole = "watch-" + std::string(component) + "-" + std::string(version);
  std::string id;
  for (char c : whole) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool may = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
    id += may ? c : '-';
  }
  if (id == whole && is_rollout_id(id)) return id;
  const std::string digits = "-" + digits_of(whole);
  return id.substr(0, rollout_id_bytes_max - digits.size()) + digits;
}

}  // namespace fleet
