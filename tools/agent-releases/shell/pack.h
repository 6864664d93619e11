// Makes the files that a publisher puts on a server, from a file or a directory: the release's
// file, its manifest, and the manifest's signature.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/minisign.h"
#include "tools/agent-releases/core/packing.h"

namespace agent_releases {

struct PackOrder {
  Wanted wanted;
  std::string source;  // the file or directory to pack
  std::string out;     // the directory for published files; made if it does not exist
  std::optional<SecretKey> key;
  Moment now = 0;  // the time by the system's clock
};

struct Packed {
  std::string manifest;   // the path of the manifest
  std::string file;       // the path of the release's file
  std::string signature;  // the path of the signature; empty if there is none
  std::string arch;
  std::string sha256;
  std::string entry;  // the path of the program, if the release is a directory
  std::int64_t bytes = 0;
};

// Packs a release. Before anything is written, refuses everything that `add` would refuse. A
// failure leaves the published files unchanged. A release that is published already gets a new
// manifest, for example with a later expiry, but its bytes must be the same as before.
[[nodiscard]] Result<Packed> pack(const PackOrder& order);

// Refuses if the directory `out` lies inside the directory that is packed. Otherwise the published
// files would become part of the next release.
[[nodiscard]] Outcome check_apart(const std::string& source, const std::string& out);

}  // namespace agent_releases
