// A capsule is a short record that says why an upgrade failed on a node: see the option --evidence
// of fleet-agent(8). This file makes the capsule of a failed upgrade. Its caller has measured the
// processes, and has read the end of the daemon's output. This file also shortens capsules that
// were read from the store and are too long. It does no input or output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/records/node_records.h"
#include "fleet/model/records/time.h"

namespace fleet {

// How much a node writes into the store about a failure. Everybody who may read the store can see
// this evidence.
enum class EvidenceLevel {
  none,    // no capsule: the node reports only the error as a string
  reason,  // a capsule, but without the daemon's output
  lines,   // the capsule with the last lines of the daemon's output
};

// The facts about the failure of a new version, as the node has found them.
struct FailureSeen {
  std::string stage = {};
  std::string reason = {};
  std::optional<std::int64_t> exit_status = {};
  std::optional<std::int64_t> signal = {};
  std::optional<Ms> lived = {};  // how long the process ran
  std::optional<std::int64_t> peak_kib = {};
  std::optional<Ms> processor = {};
  // The last part of the daemon's output. May begin in the middle of a line.
  std::string last_words = {};
  std::vector<std::string> differs = {};
};

// Returns the reason of a failure, without the part that a node must not show at this level of
// evidence. agentify(1) puts the daemon's last line at the end of the reason, after `; its last
// line: `. Only the level `lines` shows this part.
[[nodiscard]] std::string reason_at(EvidenceLevel level, std::string_view reason);

// Returns the evidence of a failure: a list with one capsule, cut to the limits capsule_*_max. At
// the level `none`, returns an empty list. If `seen` has neither an exit status nor a signal, this
// function looks for both in the text of the reason: agentify itself exits cleanly, so only the
// reason says how the daemon exited.
[[nodiscard]] std::vector<Capsule> capsule_of(const FailureSeen& seen, EvidenceLevel level);

// A version of a program, and the list of its files, as agent-releases(1) keeps it. Each line of
// the list has a file's mode, hash and path. The list is empty if the release is not a directory.
struct ListedVersion {
  std::string version = {};
  std::string files = {};
};

// Returns the differences between two versions, for a capsule. The first string is `1.0 -> 1.1` if
// both versions are known. If the later version has a list of files, the next strings name the
// files that differ: `changed: NAME`, `new: NAME` or `gone: NAME`. If more files differ than a
// capsule can list, the last string is `and N more`.
[[nodiscard]] std::vector<std::string> differences(const ListedVersion& before,
                                                   const ListedVersion& after);

// The limits for the parts of a capsule (the evidence of a failed upgrade), in bytes of their JSON
// form. Even if every part is as long as its limit allows, the JSON form of the whole capsule is at
// most capsule_bytes_max bytes.
inline constexpr std::size_t capsule_stage_bytes_max = 32;
inline constexpr std::size_t capsule_reason_bytes_max = 480;
inline constexpr std::size_t capsule_lines_bytes_max = 440;
inline constexpr std::size_t capsule_differs_bytes_max = 260;
inline constexpr std::size_t capsule_lines_max = 8;
inline constexpr std::size_t capsule_differs_max = 6;

// Cuts the evidence of a failed upgrade to the limits capsule_*_max. Keeps only the first capsule.
// If the output has too many lines, or the lines are too long, keeps the newest lines. If there are
// too many differences between the releases, or they are too long, keeps the first differences.
// Replaces a number that is out of range with the number that means "unknown".
void cut_evidence(std::vector<Capsule>& evidence);

}  // namespace fleet
