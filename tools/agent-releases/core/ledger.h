// The ledger, the file in which agent-releases notes which releases were tried, and how that ended.
// This file parses and makes the ledger's lines of JSON, and answers questions about them.
// ledger_file.h locks, syncs and replaces the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent-releases/version.h"
#include "tools/agent-releases/core/moment.h"

namespace agent_releases {

// The limits of the ledger. With more than ledger_entries_max entries, it is shortened to the
// newest entry of each release, and to at most ledger_entries_kept of these.
inline constexpr std::size_t ledger_entries_max = 1'000;
inline constexpr std::size_t ledger_entries_kept = 500;
inline constexpr std::size_t ledger_bytes_max = 4'194'304;
inline constexpr std::size_t ledger_reason_bytes_max = 1'024;

enum class Ending : std::uint8_t { trying, committed, failed, forgotten };

struct Entry {
  Moment when = 0;
  Version version;
  // the hash of the release's bytes; if empty, the entry is about all bytes of this version
  std::string sha256;
  Ending ending = Ending::trying;
  std::string id;     // the id of the upgrade
  std::string stage;  // the stage of the failure, as in `upgrade_failed`, or `self-test`
  std::string reason;
  std::string errno_name;  // the failure's errno value by name, such as ENOEXEC, or ""
  std::string wish;  // identifies the state of the file `desired` that led to the upgrade, or ""
};

// How an upgrade failed, as the upgrader has told the agent that requested it, or the fallback.
struct Failure {
  std::string id;
  std::string stage;  // the stage in the message `upgrade_failed`
  std::string reason;
  std::string errno_name;
};

[[nodiscard]] std::string_view name_of(Ending ending);

// Returns the entry as one line, with its newline.
[[nodiscard]] std::string to_line(const Entry& entry);

// Parses the ledger, and skips lines that are not entries. If `sound_bytes` is not null, it is set
// to the size of the complete lines. A last line without a newline was cut off by a crash.
[[nodiscard]] std::vector<Entry> parse_ledger(std::string_view text,
                                              std::size_t* sound_bytes = nullptr);

// Returns true if the release is to blame for a failure, so that trying it again is useless.
[[nodiscard]] bool blames_release(std::string_view stage, std::string_view errno_name);

// Returns the last entry of a release, or null if it has none.
[[nodiscard]] const Entry* last_of(const std::vector<Entry>& ledger, const Version& version,
                                   std::string_view sha256);

// Returns true if a release must not be tried, for one of two reasons. Either the release is to
// blame for a failure; or it was tried, the ledger does not say how that upgrade ended, and another
// version runs now. `wish` identifies the present state of the file `desired`, if that file names
// this version. A failure from before the file was last written does not count: by writing the
// file, the operator has asked for the version again.
[[nodiscard]] bool has_failed(const std::vector<Entry>& ledger, const Version& version,
                              std::string_view sha256, const std::optional<Version>& running,
                              const std::optional<std::string>& wish);

// Returns the id under which the upgrade to a version is requested. `process` and `number` make it
// different from the ids of all other requests for that version.
[[nodiscard]] std::string upgrade_id(const Version& version, std::int64_t process,
                                     std::int64_t number);

// Returns the entry that says that the upgrade to `running`, which has proved itself, is committed.
// Returns nothing unless the last entry on that version is `trying`.
[[nodiscard]] std::optional<Entry> commitment_of(const std::vector<Entry>& ledger,
                                                 const Version& running, Moment when);

// Returns the entry that says how the upgrade of the entry `tried` failed.
[[nodiscard]] Entry failure_of(const Entry& tried, const Failure& failure, Moment when);

// Returns the last entry of an upgrade, or null if the ledger does not know its id.
[[nodiscard]] const Entry* upgrade_of(const std::vector<Entry>& ledger, std::string_view id);

// Returns the last entry of each release, and of these only the newest ledger_entries_kept.
[[nodiscard]] std::vector<Entry> shortened(const std::vector<Entry>& ledger);

}  // namespace agent_releases
