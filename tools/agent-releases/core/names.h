// Makes and recognises the names of the files in a directory of releases. Checks names from other
// sources before they become part of a path. Chooses by their names the files that a crash has left
// behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// The longest NAME of releases. A name of a file has at most 255 bytes, and must hold a version and
// an ending besides NAME.
inline constexpr std::size_t name_bytes_max = 64;
inline constexpr std::size_t entry_bytes_max = 1'024;

// The longest component of a path that file systems allow.
inline constexpr std::size_t component_bytes_max = 255;

// The next two functions return what is wrong with the NAME of releases or with a release's
// version, or nothing.
[[nodiscard]] Outcome check_name(std::string_view name);
[[nodiscard]] Outcome check_version(const Version& version);

// Returns what is wrong with a relative path, or nothing. The path must stay below its directory:
// each component must be a name, and not `.` or `..`.
[[nodiscard]] Outcome check_entry(std::string_view entry);

// Returns the name of a lock in .staging. A process holds this lock while it makes the release
// NAME-v1.2.3. No release can have this name.
[[nodiscard]] std::string claim_name(std::string_view name, const Version& version);

// Returns the file name of a release, such as `NAME-v1.2.3`.
[[nodiscard]] std::string release_name(std::string_view name, const Version& version);

struct Known {
  enum class Kind : std::uint8_t { release, manifest, signature, files };
  Kind kind = Kind::release;
  Version version;
};

// Recognises which part of a release a file in the directory is, by the file's name: the release
// itself, its manifest, its signature or its list of files. Returns nothing for any other name.
[[nodiscard]] std::optional<Known> recognise(std::string_view entry, std::string_view name);

// Returns the manifests, signatures and lists of files in the directory that belong to no release.
// An interrupted command has left them behind.
[[nodiscard]] std::vector<std::string> orphans(const std::vector<std::string>& entries,
                                               std::string_view name);

inline constexpr std::string_view no_partial = ".";

// Returns the entries of .staging that must be removed. Partial downloads may stay, so that the
// next `add` of the same bytes can continue them. If `wanted` is empty, all partial downloads stay.
// If it is `no_partial`, none stays. Otherwise only the partial download with the name `wanted`
// stays.
[[nodiscard]] std::vector<std::string> leavings(const std::vector<std::string>& entries,
                                                std::string_view wanted);

}  // namespace agent_releases
