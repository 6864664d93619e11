// The manifest of a release: the release's name, version, processor and hash. This header declares
// the parser of manifests. A manifest may be hostile. download.h verifies the signature of a
// manifest, and decides whether its release may be added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent-releases/result.h"
#include "agent-releases/version.h"

namespace agent_releases {

// The ending of a manifest file: the manifest of the release NAME-v1.2.3 is NAME-v1.2.3.json.
inline constexpr std::string_view manifest_ending = ".json";

// The most bytes of a manifest. A larger manifest is refused; `pack` makes manifests of less than 1
// KiB.
inline constexpr std::size_t manifest_bytes_max = 65'536;

// The most bytes of a release: 64 GiB. A manifest that states a larger size is refused.
inline constexpr std::int64_t release_bytes_max = std::int64_t{1} << 36;

enum class Kind : std::uint8_t { file, tar };

struct Manifest {
  std::string name;
  Version version;
  std::string arch;
  Kind kind = Kind::file;
  std::int64_t size = 0;
  std::string sha256;  // the hash in 64 lower-case hexadecimal digits
  std::string entry;   // the program to execute, if the release is an archive
  std::int64_t min_protocol = 1;
  std::string url;
  std::optional<std::int64_t> expires;  // when the manifest expires, in seconds since 1970
  bool undo = true;                     // false: a fleet's rollout of the release cannot be undone
};

[[nodiscard]] Result<Manifest> parse_manifest(std::string_view text);

// Returns the manifest as one line, with its newline.
[[nodiscard]] std::string to_text(const Manifest& manifest);

[[nodiscard]] bool is_sha256(std::string_view text);

}  // namespace agent_releases
