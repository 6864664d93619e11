// Makes the evidence of one failed upgrade, as fleet-agent(8) describes --evidence. Pure: the
// caller has measured the processes and read the daemon's last words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/node_records.h"
#include "fleet/model/time.h"

namespace fleet {

// How much of a failure a node tells everybody who may read the store.
enum class EvidenceLevel {
  none,    // the error in words and nothing else
  reason,  // the capsule, without anything that the daemon has written
  lines,   // the capsule with the daemon's last lines
};

// The facts that a node knows about a version that has failed.
struct FailureSeen {
  std::string stage = {};
  std::string reason = {};
  std::optional<std::int64_t> exit_status = {};
  std::optional<std::int64_t> signal = {};
  std::optional<Ms> lived = {};  // from the start of its process to its end
  std::optional<std::int64_t> peak_kib = {};
  std::optional<Ms> processor = {};
  std::string last_words = {};  // the end of the daemon's output, which may begin inside a line
  std::vector<std::string> differs = {};
};

// Returns the reason without the last line of the daemon that agentify(1) has added to it, unless
// the level is `lines`. agentify writes it behind `; its last line: `.
[[nodiscard]] std::string reason_at(EvidenceLevel level, std::string_view reason);

// Returns the capsule, or no element at the level `none`. The capsule is cut to its limits. If the
// exit status and the signal are not given, they are taken from the words of the reason: agentify
// says there how its daemon ended, while agentify itself ends cleanly.
[[nodiscard]] std::vector<Capsule> capsule_of(const FailureSeen& seen, EvidenceLevel level);

// Returns the names of the files in which two releases differ, as `changed: NAME`, `new: NAME` or
// `gone: NAME`. If there are too many for a capsule, the last text is `and N more`. `before` and
// `after` are the lists that agent-releases(1) keeps: lines of a mode, a hash and a path.
[[nodiscard]] std::vector<std::string> differing_files(std::string_view before,
                                                       std::string_view after);

}  // namespace fleet
