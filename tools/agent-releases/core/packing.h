// Plans how the command `pack` packs a file or a directory: checks that the command `add` would
// accept the release, finds out the release's processor, and chooses the names of the published
// files. The functions here read and write no files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent-releases/manifest.h"
#include "agent-releases/result.h"
#include "agent-releases/version.h"
#include "tools/agent-releases/core/moment.h"

namespace agent_releases {

// One file, directory or link, as found on disk.
struct Found {
  enum class Kind : std::uint8_t { file, directory, link, other };
  // The path relative to the packed directory. For a single packed file, the path that the user
  // gave.
  std::string path;
  Kind kind = Kind::file;
  unsigned mode = 0;  // the permission bits, with set-user-ID and set-group-ID
  std::int64_t bytes = 0;
  std::int64_t written_ns = 0;  // the time of the last change, from the file system
  std::string target{};         // the target of the link; empty if this is not a link
  std::string beginning{};      // the first `elf_header_bytes` of a file
  bool is_secret_key = false;   // a file in minisign's format for secret keys
};

// The publisher's options for the release.
struct Wanted {
  std::string name;
  Version version;
  // The processor that the publisher has named for the release. If empty, the processor of the
  // release's program is used.
  std::string arch{};
  std::string entry{};  // the path of the program in a directory; if empty, NAME or bin/NAME
  // The directory into which npm or pip has installed packages; empty if there is none. A secret
  // key in this directory is packed, too: it was published with its package, so it is not secret.
  std::string packages{};
  std::int64_t min_protocol = 1;
  std::optional<Moment> expires{};
  bool undo = true;  // false: a fleet's rollout of the release cannot be undone
};

struct Packing {
  Kind kind = Kind::file;
  std::string arch;
  std::string entry{};        // if a directory is packed: the path of its program
  std::vector<Found> tree{};  // the files in the order of packing
};

// The next two functions plan the packing of a file or of a directory. They refuse a release that
// `add` would refuse, or whose program the kernel could not execute.
[[nodiscard]] Result<Packing> plan_file(const Wanted& wanted, const Found& file);
[[nodiscard]] Result<Packing> plan_tree(const Wanted& wanted, std::vector<Found> tree);

// Checks the name, the version and the expiry in the publisher's options. `now` is the system's
// time.
[[nodiscard]] Outcome check_wanted(const Wanted& wanted, Moment now);

// Refuses the files of a directory if they have more bytes in total than `add` would unpack from an
// archive of `archive_bytes` bytes.
[[nodiscard]] Outcome check_unpacked_bytes(const std::vector<Found>& tree,
                                           std::int64_t archive_bytes);

// Returns NAME-VERSION-ARCH, the name of a release's published files without their endings.
[[nodiscard]] std::string published_name(const Wanted& wanted, const Packing& packing);

// Returns the published name, with its ending, of the file that holds the release's bytes.
[[nodiscard]] std::string published_file(const Wanted& wanted, const Packing& packing);

[[nodiscard]] Manifest manifest_of(const Wanted& wanted, const Packing& packing, std::int64_t bytes,
                                   const std::string& sha256);

}  // namespace agent_releases
