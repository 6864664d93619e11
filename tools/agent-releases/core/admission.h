// May a release be added here and now: what its manifest says, held against the directory and the
// machine. Its signature and its bytes are judged elsewhere.
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

// The version that a release is compared with before it is added, and which one that is, in words.
struct Present {
  Version version;
  std::string_view which;
};

// The facts known of the versions of a directory and its agent.
struct Versions {
  std::optional<Version> running;  // as the caller says
  std::optional<Version> current;  // what `current` names
  std::vector<Version> there;      // all releases of the directory
};

// The newer one of `running` and `current`. If neither is known, the newest version that the ledger
// says was committed; and if there is none, the newest release of the directory that is no
// pre-release and whose last upgrade has not failed.
[[nodiscard]] std::optional<Present> present_version(const Versions& versions,
                                                     const std::vector<Entry>& ledger);

// A time that has passed for certain, and what says so.
struct Passed {
  Moment when = 0;
  std::string what;
};

// Before this date nobody had this program: a constant, so that the same source makes the same
// bytes.
inline constexpr Moment program_date = 1'795'305'600;  // 2026-11-22T00:00:00Z

// When a manifest was signed, as minisign writes it into the trusted comment.
[[nodiscard]] std::optional<Moment> signed_at(std::string_view trusted_comment);

// The latest of what is known to have passed: the ledger's last entry, the signature of this
// manifest, the newest file among the releases that are there (`added`), and the program's date.
[[nodiscard]] Passed last_passed(const std::vector<Entry>& ledger, std::string_view trusted_comment,
                                 std::optional<Moment> added);

struct Circumstances {
  std::string name;                // of the directory
  std::string processor;           // for which this program was built
  Moment now = 0;                  // what the clock says
  Passed passed;                   // a clock that is before this is wrong
  std::optional<Present> present;  // a release that is older than this needs --older
  bool older_is_wanted = false;
};

[[nodiscard]] Outcome admit(const Manifest& manifest, const Circumstances& circumstances);

}  // namespace agent_releases
