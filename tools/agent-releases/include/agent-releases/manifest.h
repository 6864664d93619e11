// The manifest of a release: what it is called, for which machine it is, and what its bytes are.
// Its bytes are distrusted here; whether they are signed, and whether such a release may be added
// here and now, is judged where it is added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent-releases/result.h"
#include "agent-releases/version.h"

namespace agent_releases {

// Beside a release NAME-v1.2.3 lies its manifest: the same name with this ending.
inline constexpr std::string_view manifest_ending = ".json";

// A manifest that `pack` makes needs less than 1 KiB. A larger file than this is refused.
inline constexpr std::size_t manifest_bytes_max = 65'536;

// As large as a whole system; what says more is mistaken, or lies.
inline constexpr std::int64_t release_bytes_max = std::int64_t{1} << 36;

enum class Kind : std::uint8_t { file, tar };

struct Manifest {
  std::string name;
  Version version;
  std::string arch;
  Kind kind = Kind::file;
  std::int64_t size = 0;
  std::string sha256;  // 64 digits, a to f small
  std::string entry;   // of an archive: what to execute
  std::int64_t min_protocol = 1;
  std::string url;
  std::optional<std::int64_t> expires;  // seconds since 1970
};

[[nodiscard]] Result<Manifest> parse_manifest(std::string_view text);

// One line, with its newline: for releases that are made of what is installed.
[[nodiscard]] std::string to_text(const Manifest& manifest);

[[nodiscard]] bool is_sha256(std::string_view text);

}  // namespace agent_releases
