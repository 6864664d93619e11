// The names of the files in a releases directory. Checks names that come from elsewhere before
// they become part of a path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent-releases/manifest.h"
#include "agent-releases/result.h"
#include "agent-releases/version.h"

namespace agent_releases {

inline constexpr std::string_view staging_name = ".staging";
inline constexpr std::string_view lock_name = ".lock";
inline constexpr std::string_view name_name = ".name";
inline constexpr std::string_view desired_name = "desired";
inline constexpr std::string_view current_name = "current";
inline constexpr std::string_view previous_name = "previous";
inline constexpr std::string_view ledger_name = "ledger.jsonl";
inline constexpr std::string_view new_ledger_name = ".ledger.jsonl.new";

inline constexpr std::string_view signature_ending = ".json.minisig";
inline constexpr std::string_view files_ending = ".files";
inline constexpr std::string_view partial_ending = ".part";

// Names of files have 255 bytes at most, and a version and an ending must have room.
inline constexpr std::size_t name_bytes_max = 64;
inline constexpr std::size_t entry_bytes_max = 1'024;

// Of a path, as file systems have it.
inline constexpr std::size_t component_bytes_max = 255;

// Says what is wrong with it as the NAME of releases, or as the version of one.
[[nodiscard]] Outcome check_name(std::string_view name);
[[nodiscard]] Outcome check_version(const Version& version);

// Says what is wrong with a relative path that must stay below its directory: each component is a
// name, none is `.` or `..`.
[[nodiscard]] Outcome check_entry(std::string_view entry);

// The file in .staging that the maker of release NAME-v1.2.3 locks. No release is called so.
[[nodiscard]] std::string claim_name(std::string_view name, const Version& version);

// NAME-v1.2.3
[[nodiscard]] std::string release_name(std::string_view name, const Version& version);

struct Known {
  enum class Kind : std::uint8_t { release, manifest, signature, files };
  Kind kind = Kind::release;
  Version version;
};

// Tells which part of a release of that NAME an entry of its directory is. Returns nothing if the
// entry belongs to no such release.
[[nodiscard]] std::optional<Known> recognise(std::string_view entry, std::string_view name);

}  // namespace agent_releases
