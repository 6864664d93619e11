// Chooses, among the releases in a directory, the release that should run next, or the releases to
// remove. This file does no input or output: the caller passes the facts on which the choices
// depend.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "agent-releases/version.h"
#include "tools/agent-releases/core/ledger.h"
#include "tools/agent-releases/core/moment.h"

namespace agent_releases {

struct Candidate {
  Version version;
  std::string sha256;
};

// The operator's wish: the content of the file `desired`, in which an operator names the version
// that is to run.
struct Wish {
  std::optional<Version> version;  // the desired version; absent if the file holds no valid version
  std::string writing;             // an identifier that changes at each write of the file
};

// Returns the index of the release that should replace `running`, or nothing if `running` should
// stay. Chooses the version that the operator has named in the file `desired` (`wish`). Chooses no
// release if this file contains no valid version, because nobody knows which version the operator
// wanted. Without this file, chooses the newest release that is newer than `running` and is not a
// pre-release. Never chooses a release that has failed (has_failed() in ledger.h).
[[nodiscard]] std::optional<std::size_t> choose(const std::vector<Candidate>& releases,
                                                const std::optional<Wish>& wish,
                                                const Version& running,
                                                const std::vector<Entry>& ledger);

struct LeftOut {
  Version version;
  std::string reason;
};

// Returns the releases that choose() would accept if they had not failed, each with the reason why
// it is not tried again. Also returns the version in the file `desired` if the directory has no
// release of that version.
[[nodiscard]] std::vector<LeftOut> left_out(const std::vector<Candidate>& releases,
                                            const std::optional<Wish>& wish, const Version& running,
                                            const std::vector<Entry>& ledger);

// A release in the directory, with the facts that decide whether it may be removed.
struct Holding {
  Version version;
  Moment added = 0;
  std::optional<std::string> needed;  // why the release must be kept; absent if it may be removed
};

// The limits of the command `prune`. `prune` also keeps a release that nobody needs if one of these
// limits protects the release.
struct Bounds {
  std::size_t keep = 1;          // how many of the newest releases stay
  std::optional<Moment> before;  // releases that were added at or after this time stay
};

// Returns the versions of the releases to remove, oldest version first.
[[nodiscard]] std::vector<Version> choose_to_prune(std::vector<Holding> holdings,
                                                   const Bounds& bounds);

// Returns the versions of the releases to remove, oldest version first, so that at most `most`
// releases stay. A needed release stays in any case, so more than `most` may stay.
[[nodiscard]] std::vector<Version> choose_to_make_room(std::vector<Holding> holdings,
                                                       std::size_t most);

}  // namespace agent_releases
