// The ledger: which releases have been tried, and how that ended. Lines of JSON in, answers out;
// how the file is locked, synced and replaced is ledger_file.h's affair.
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

// Beyond this number of entries, the oldest that no release needs are left out.
inline constexpr std::size_t ledger_entries_max = 1'000;
inline constexpr std::size_t ledger_entries_kept = 500;
inline constexpr std::size_t ledger_bytes_max = 4'194'304;
inline constexpr std::size_t ledger_reason_bytes_max = 1'024;

enum class Ending : std::uint8_t { trying, committed, failed, forgotten };

struct Entry {
  Moment when = 0;
  Version version;
  std::string sha256;  // empty: of the version, whatever its bytes
  Ending ending = Ending::trying;
  std::string id;     // the upgrade's
  std::string stage;  // as in `upgrade_failed`, or `self-test`
  std::string reason;
  std::string errno_name;  // where there is one, such as ENOEXEC
  std::string wish;        // which writing of `desired` asked for it; empty: none did
};

[[nodiscard]] std::string_view name_of(Ending ending);

// One line, with its newline.
[[nodiscard]] std::string to_line(const Entry& entry);

// Skips lines that are not entries. Sets `sound_bytes`, if it is not null, to the end of the last
// whole line: any bytes after it are the beginning of a line that a crash has cut off.
[[nodiscard]] std::vector<Entry> parse_ledger(std::string_view text,
                                              std::size_t* sound_bytes = nullptr);

// Whether a failure was the release's own, so that to try it again is of no use.
[[nodiscard]] bool blames_release(std::string_view stage, std::string_view errno_name);

// Returns the last entry of a release, or null if it has none.
[[nodiscard]] const Entry* last_of(const std::vector<Entry>& ledger, const Version& version,
                                   std::string_view sha256);

// Whether a release is not to be tried: it has failed by its own fault, or was tried and has no
// ending while another version runs. `wish` is the present writing of `desired`, if that names this
// version: what failed under another one is wished for anew.
[[nodiscard]] bool has_failed(const std::vector<Entry>& ledger, const Version& version,
                              std::string_view sha256, const std::optional<Version>& running,
                              const std::optional<std::string>& wish);

// Fewer entries, which say the same of every release that has been tried lately.
[[nodiscard]] std::vector<Entry> shortened(const std::vector<Entry>& ledger);

}  // namespace agent_releases
