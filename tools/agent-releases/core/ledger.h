// The ledger: it records which releases have been tried, and how that ended. This file parses and
// makes its lines of JSON, and answers questions; ledger_file.h locks, syncs and replaces the file.
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

// If there are more entries, the oldest that no release needs are left out.
inline constexpr std::size_t ledger_entries_max = 1'000;
inline constexpr std::size_t ledger_entries_kept = 500;
inline constexpr std::size_t ledger_bytes_max = 4'194'304;
inline constexpr std::size_t ledger_reason_bytes_max = 1'024;

enum class Ending : std::uint8_t { trying, committed, failed, forgotten };

struct Entry {
  Moment when = 0;
  Version version;
  std::string sha256;  // empty if the entry is about the version, whatever its bytes
  Ending ending = Ending::trying;
  std::string id;     // the id of the upgrade
  std::string stage;  // the stage as in `upgrade_failed`, or `self-test`
  std::string reason;
  std::string errno_name;  // such as ENOEXEC, if there was one
  std::string wish;        // the writing of `desired` that asked for it; empty if none did
};

[[nodiscard]] std::string_view name_of(Ending ending);

// Returns the entry as one line, with its newline.
[[nodiscard]] std::string to_line(const Entry& entry);

// Parses the ledger, and skips lines that are not entries. Sets `sound_bytes`, if it is not null,
// to the end of the last whole line: any bytes after it are the beginning of a line that a crash
// has cut off.
[[nodiscard]] std::vector<Entry> parse_ledger(std::string_view text,
                                              std::size_t* sound_bytes = nullptr);

// Returns true if the release is to blame for a failure, so that trying it again is useless.
[[nodiscard]] bool blames_release(std::string_view stage, std::string_view errno_name);

// Returns the last entry of a release, or null if it has none.
[[nodiscard]] const Entry* last_of(const std::vector<Entry>& ledger, const Version& version,
                                   std::string_view sha256);

// Returns true if a release must not be tried: it is to blame for its failure, or it was tried and
// has no ending while another version runs. `wish` is the present writing of `desired`, if that
// names this version: a failure under an earlier writing does not count, since the wish has been
// renewed.
[[nodiscard]] bool has_failed(const std::vector<Entry>& ledger, const Version& version,
                              std::string_view sha256, const std::optional<Version>& running,
                              const std::optional<std::string>& wish);

// Returns fewer entries, which say the same about every release that was tried lately.
[[nodiscard]] std::vector<Entry> shortened(const std::vector<Entry>& ledger);

}  // namespace agent_releases
