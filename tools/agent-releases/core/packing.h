// Decides what `pack` makes of a file or a tree: whether `add` would accept it, for which processor
// it is, and what the published files are called. Reads and writes nothing.
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

// One file, directory or link, as it was found on disk.
struct Found {
  enum class Kind : std::uint8_t { file, directory, link, other };
  std::string path;  // below the directory that is packed; of a single file: as it was named
  Kind kind = Kind::file;
  unsigned mode = 0;  // permissions, set-user-ID and set-group-ID
  std::int64_t bytes = 0;
  std::int64_t written_ns = 0;  // when it was last written, by the file system
  std::string target{};         // of a link
  std::string beginning{};      // the first `elf_header_bytes` of a file
};

// The publisher's words.
struct Wanted {
  std::string name;
  Version version;
  std::string arch{};   // empty: taken from the program
  std::string entry{};  // of a directory; empty: NAME or bin/NAME
  std::int64_t min_protocol = 1;
  std::optional<Moment> expires{};
};

struct Packing {
  Kind kind = Kind::file;
  std::string arch;
  std::string entry{};        // of a tree
  std::vector<Found> tree{};  // in the order in which it is packed
};

// Refuses what `add` would refuse, or the kernel would not execute.
[[nodiscard]] Result<Packing> plan_file(const Wanted& wanted, const Found& file);
[[nodiscard]] Result<Packing> plan_tree(const Wanted& wanted, std::vector<Found> tree);

// The words by themselves: name, version and expiry. `now` is what the clock says.
[[nodiscard]] Outcome check_wanted(const Wanted& wanted, Moment now);

// Refuses a tree with more bytes than `add` would unpack from an archive of `archive_bytes`.
[[nodiscard]] Outcome check_unpacked_bytes(const std::vector<Found>& tree,
                                           std::int64_t archive_bytes);

// NAME-VERSION-ARCH: what a release's published files are called, but for their endings.
[[nodiscard]] std::string published_name(const Wanted& wanted, const Packing& packing);

// The same with the ending of the release's own file.
[[nodiscard]] std::string published_file(const Wanted& wanted, const Packing& packing);

[[nodiscard]] Manifest manifest_of(const Wanted& wanted, const Packing& packing, std::int64_t bytes,
                                   const std::string& sha256);

}  // namespace agent_releases
