// Makes of a file or a directory what a publisher puts on a server: the release's file, its
// manifest, and the manifest's signature.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/minisign_secret.h"
#include "tools/agent-releases/core/packing.h"

namespace agent_releases {

struct PackOrder {
  Wanted wanted;
  std::string source;  // the file or directory
  std::string out;     // the directory of what is published; made if it does not exist
  std::optional<SecretKey> key;
  Moment now = 0;  // what the clock says
};

struct Packed {
  std::string manifest;   // its path
  std::string file;       // the path of the release's file
  std::string signature;  // its path; empty: it is not signed
  std::string arch;
  std::string sha256;
  std::string entry;  // of a tree
  std::int64_t bytes = 0;
};

// Refuses anything that `add` would refuse, before it writes. After a failure the published files
// are as they were. If the release is published already with the same bytes, it gets a new
// manifest, which may expire later; with other bytes it is refused.
[[nodiscard]] Result<Packed> pack(const PackOrder& order);

// Refuses a directory of what is published that lies in the directory that is packed: it would be
// packed into the next release.
[[nodiscard]] Outcome check_apart(const std::string& source, const std::string& out);

}  // namespace agent_releases
