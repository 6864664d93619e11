// Decides whether a release may be added now to this directory of this machine: compares its
// manifest with the directory, the machine and the clock. Other files verify its signature and its
// bytes.
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

// The version with which a new release is compared before it is added: an older release is refused.
// `which` names this version in the message, for example "the running one".
struct Present {
  Version version;
  std::string_view which;
};

// The versions that a directory and its agent have.
struct Versions {
  std::optional<Version> running;  // the version of the agent that runs, if the caller knows it
  std::optional<Version> current;  // the version to which the link `current` leads
  std::vector<Version> there;      // the versions of all releases in the directory
};

// Returns the version to compare with. It is the newer one of `running` and `current`. If neither
// is known, it is the newest version that the ledger says was committed. If the ledger has none, it
// is the newest release of the directory that is not a pre-release and whose last upgrade has not
// failed.
[[nodiscard]] std::optional<Present> present_version(const Versions& versions,
                                                     const std::vector<Entry>& ledger);

// A time that has certainly passed, and the fact that proves it, in words.
struct Passed {
  Moment when = 0;
  std::string what;
};

// A date before which this program did not exist. It is a constant and not the time of the build,
// so that the same source always makes the same bytes.
inline constexpr Moment program_date = 1'795'305'600;  // this is 2026-11-22T00:00:00Z

// Returns when a manifest was signed, from the trusted comment that minisign writes.
[[nodiscard]] std::optional<Moment> signed_at(std::string_view trusted_comment);

// Returns the latest time that has certainly passed, of these: the ledger's last entry, the
// signature of this manifest, the newest release in the directory (`added`), and the program's
// date.
[[nodiscard]] Passed last_passed(const std::vector<Entry>& ledger, std::string_view trusted_comment,
                                 std::optional<Moment> added);

struct Circumstances {
  std::string name;                // the NAME of the directory's releases
  std::string processor;           // the processor for which this program was built
  Moment now = 0;                  // the time by the system's clock, which may be wrong
  Passed passed;                   // if `now` is earlier than this time, the clock is wrong
  std::optional<Present> present;  // a release older than this version needs --older
  bool older_is_wanted = false;
};

[[nodiscard]] Outcome admit(const Manifest& manifest, const Circumstances& circumstances);

}  // namespace agent_releases
