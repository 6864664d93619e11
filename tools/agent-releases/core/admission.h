// Decides whether a release may be added to a directory on this machine now. Compares the release's
// manifest with the directory, the machine and the clock. The manifest's signature and the
// release's bytes are verified elsewhere.
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

// The versions that are known on this machine.
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

// A time that is certainly in the past, and in words the fact that proves this.
struct Passed {
  Moment when = 0;
  std::string what;
};

// A date before which this program did not exist. It is a constant and not the time of the build,
// so that the same source always makes the same bytes.
inline constexpr Moment program_date = 1'795'305'600;  // this is 2026-11-22T00:00:00Z

// Returns when a manifest was signed, from the trusted comment that minisign writes.
[[nodiscard]] std::optional<Moment> signed_at(std::string_view trusted_comment);

// Returns the latest time that is certainly in the past, of the following: the ledger's last entry,
// the signature of the manifest that is to be added, the adding of the directory's newest release
// (`added`), and program_date.
[[nodiscard]] Passed last_passed(const std::vector<Entry>& ledger, std::string_view trusted_comment,
                                 std::optional<Moment> added);

struct Circumstances {
  std::string name;                // the NAME of the directory's releases
  std::string processor;           // the processor for which this program was built
  Moment now = 0;                  // the time by the system's clock, which may be wrong
  Passed passed;                   // if `now` is earlier than this, the system's clock is wrong
  std::optional<Present> present;  // releases older than this version are refused without --older
  bool older_is_wanted = false;
};

[[nodiscard]] Outcome admit(const Manifest& manifest, const Circumstances& circumstances);

}  // namespace agent_releases
