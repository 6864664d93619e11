// What should run next: the releases that are there, what is desired, what runs, and what has
// failed, in; one release or none, out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "agent-releases/version.h"
#include "tools/agent-releases/core/ledger.h"

namespace agent_releases {

struct Candidate {
  Version version;
  std::string sha256;
};

// The operator's wish, as the file `desired` has it.
struct Wish {
  std::optional<Version> version;  // none: the file says nothing that is a version
  std::string writing;             // changes whenever the file is written anew
};

// The index of the release that should take the place of `running`: the desired one, or without a
// wish the newest that is newer and no pre-release; never one that has failed. Where `desired`
// holds no version nothing is chosen: who wrote it meant something, and not the newest.
[[nodiscard]] std::optional<std::size_t> choose(const std::vector<Candidate>& releases,
                                                const std::optional<Wish>& wish,
                                                const Version& running,
                                                const std::vector<Entry>& ledger);

}  // namespace agent_releases
