// Makes and recognizes the names of the files in a directory of releases. Checks names from
// manifests and command lines before they become part of a path. Recognizes, by their names, the
// files that a crash has left behind.
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

// The longest NAME of releases. A file name has at most 255 bytes, and must have room for a version
// and an ending besides NAME.
inline constexpr std::size_t name_bytes_max = 64;
inline constexpr std::size_t entry_bytes_max = 1'024;

// The longest path of a program that a message of the agent protocol can carry.
inline constexpr std::size_t executable_bytes_max = 4'095;

// The longest path component that file systems allow.
inline constexpr std::size_t component_bytes_max = 255;

// The next two functions check the NAME of releases and a release's version. If the name or the
// version is wrong, they return a refusal with the reason.
[[nodiscard]] Outcome check_name(std::string_view name);
[[nodiscard]] Outcome check_version(const Version& version);

// Checks the path of a release's program, the member `entry` of a manifest. The path must be
// relative to the release's directory and must not lead out of that directory: each component must
// be a name, not `.` or `..`. The refusal of a wrong path says what is wrong.
[[nodiscard]] Outcome check_entry(std::string_view entry);

// Checks the absolute path of a release's program. Refuses a path that a request for an upgrade
// cannot contain, because it is too long or is not UTF-8.
[[nodiscard]] Outcome check_executable(std::string_view path);

// Returns the name of a lock file in .staging, such as `lock.NAME-v1.2.3`. A process holds this
// lock while it makes the release NAME-v1.2.3. The lock file never has the name of a release's own
// file, because those names begin with `NAME-v`.
[[nodiscard]] std::string claim_name(std::string_view name, const Version& version);

// Returns the file or directory name of a release, such as `NAME-v1.2.3`.
[[nodiscard]] std::string release_name(std::string_view name, const Version& version);

struct Known {
  enum class Kind : std::uint8_t { release, manifest, signature, files };
  Kind kind = Kind::release;
  Version version;
};

// Recognizes a file in the directory of releases by its name. The file is a release, or a release's
// manifest, signature or list of files. Returns nothing for any other name.
[[nodiscard]] std::optional<Known> recognise(std::string_view entry, std::string_view name);

// Returns the names of manifests, signatures and lists of files in the directory that belong to no
// release. An interrupted command has left these files behind.
[[nodiscard]] std::vector<std::string> orphans(const std::vector<std::string>& entries,
                                               std::string_view name);

inline constexpr std::string_view no_partial = ".";

// Returns the entries of .staging that must be removed. Keeps partial downloads, which the next
// `add` can continue: all of them if `wanted` is empty, none if `wanted` is `no_partial`, otherwise
// only the one with the name `wanted`.
[[nodiscard]] std::vector<std::string> leavings(const std::vector<std::string>& entries,
                                                std::string_view wanted);

}  // namespace agent_releases
