// Decides whether a release may be added to a directory on this machine now. Compares the release's
// manifest with the directory, the machine and the clock. Other files verify the manifest's
// signature (download.h) and the release's bytes.
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

// The highest version of the agent protocol that the upgrader of this source tree speaks.
inline constexpr std::int64_t protocol_spoken = 1;

// The version with which a new release is compared before the release is added: a release older
// than this version is refused. `which` names this version in the message of the refusal, for
// example "the running one".
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

// Returns the version with which a new release is compared: the newer of `running` and `current`.
// If neither is known, returns the newest version that the ledger (the record of upgrades) lists as
// committed. If there is no such version either, returns the newest version in the directory, but
// ignores pre-releases and versions whose newest entry in the ledger is a failure.
[[nodiscard]] std::optional<Present> present_version(const Versions& versions,
                                                     const std::vector<Entry>& ledger);

// A time that is certainly in the past, and the fact, in words, that proves this.
struct Passed {
  Moment when = 0;
  std::string what;
};

// A date that is certainly in the past, because this program did not exist before it. The date is a
// constant and not the build time, so that builds of the same source yield the same bytes.
inline constexpr Moment program_date = 1'795'305'600;  // this is 2026-11-22T00:00:00Z

// Returns the time at which a manifest was signed. minisign writes this time into the trusted
// comment of a signature.
[[nodiscard]] std::optional<Moment> signed_at(std::string_view trusted_comment);

// Returns the latest of four times that are certainly in the past. They are the time of the
// ledger's last entry, the time of the manifest's signature, `added` (when the directory last got a
// release), and program_date (before which this program did not exist). The time of the signature
// is first reduced by a margin, because the publisher's clock may be fast.
[[nodiscard]] Passed last_passed(const std::vector<Entry>& ledger, std::string_view trusted_comment,
                                 std::optional<Moment> added);

struct Circumstances {
  std::string name;                // the NAME of the directory's releases
  std::string processor;           // the processor for which agent-releases was built
  Moment now = 0;                  // the time by the system's clock, which may be wrong
  Passed passed;                   // if `now` is earlier than `passed`, the system's clock is wrong
  std::optional<Present> present;  // without --older, releases older than `present` are refused
  bool older_is_wanted = false;
};

[[nodiscard]] Outcome admit(const Manifest& manifest, const Circumstances& circumstances);

}  // namespace agent_releases
