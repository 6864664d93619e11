// Decides whether a release may be added here and now: compares its manifest with the directory and
// the machine. Its signature and its bytes are verified elsewhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent-releases/manifest.h"
#include "agent-releases/result.h"
#include "agent-releases/version.h"
#include "tools/agent-releases/core/ledger.h"
#include "tools/agent-releases/core/moment.h"

namespace agent_releases {

// The highest version of the agent protocol that upgraders of this release speak.
inline constexpr std::int64_t protocol_spoken = 1;

// The version that a new release is compared with before it is added. `which` says in words which
// version that is.
struct Present {
  Version version;
  std::string_view which;
};

// The versions that are known in a directory, and that of its agent.
struct Versions {
  std::optional<Version> running;  // given by the caller
  std::optional<Version> current;  // the target of the link `current`
  std::vector<Version> there;      // all releases of the directory
};

// Returns the newer one of `running` and `current`. If neither is known, returns the newest version
// that the ledger says was committed; if there is none, the newest release of the directory that is
// not a pre-release and whose last upgrade has not failed.
[[nodiscard]] std::optional<Present> present_version(const Versions& versions,
                                                     const std::vector<Entry>& ledger);

// A time that has certainly passed, and the evidence for that.
struct Passed {
  Moment when = 0;
  std::string what;
};

// The date of this program, before which nobody had it. It is a constant, so that the same source
// always makes the same bytes.
inline constexpr Moment program_date = 1'795'305'600;  // 2026-11-22T00:00:00Z

// Returns when a manifest was signed, from the trusted comment that minisign writes.
[[nodiscard]] std::optional<Moment> signed_at(std::string_view trusted_comment);

// Returns the latest time that has certainly passed: that of the ledger's last entry, of the
// signature of this manifest, of the newest release in the directory (`added`), or the program's
// date.
[[nodiscard]] Passed last_passed(const std::vector<Entry>& ledger, std::string_view trusted_comment,
                                 std::optional<Moment> added);

struct Circumstances {
  std::string name;                // the NAME of the directory's releases
  std::string processor;           // the processor for which this program was built
  Moment now = 0;                  // by the system's clock
  Passed passed;                   // a clock that shows an earlier time is wrong
  std::optional<Present> present;  // an older release is only added with --older
  bool older_is_wanted = false;
};

[[nodiscard]] Outcome admit(const Manifest& manifest, const Circumstances& circumstances);

}  // namespace agent_releases
