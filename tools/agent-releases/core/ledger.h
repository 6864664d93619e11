// The ledger is the file in which agent-releases records which releases were tried, and how each
// upgrade ended. Each entry is one line of JSON. This header declares functions that parse, make
// and search entries. ledger_file.h locks, syncs and replaces the file.
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

// The limits of the ledger. A ledger with more than ledger_entries_max entries is shortened to at
// most ledger_entries_kept entries: see shortened().
inline constexpr std::size_t ledger_entries_max = 1'000;
inline constexpr std::size_t ledger_entries_kept = 500;
inline constexpr std::size_t ledger_bytes_max = 4'194'304;
inline constexpr std::size_t ledger_reason_bytes_max = 1'024;

enum class Ending : std::uint8_t { trying, committed, failed, forgotten };

struct Entry {
  Moment when = 0;
  Version version;
  // the hash of the release's bytes; if empty, the entry applies to every release of this version
  std::string sha256;
  Ending ending = Ending::trying;
  std::string id;  // the id of the upgrade
  // where the upgrade failed, such as `start` or `self-test`; empty if the upgrade did not fail
  std::string stage;
  std::string reason;
  std::string errno_name;  // the name of the failure's errno value, such as ENOEXEC, or ""
  // identifies the write of the file `desired` (the operator's choice of a version) that led to the
  // upgrade; or ""
  std::string wish;
};

// How an upgrade failed. The upgrader sends these facts to the agent that requested the upgrade. If
// that agent has exited, the upgrader sends them to the fallback, which takes its place.
struct Failure {
  std::string id;
  std::string stage;  // the stage in the message `upgrade_failed`
  std::string reason;
  std::string errno_name;
};

[[nodiscard]] std::string_view name_of(Ending ending);

// Returns the entry as one line, with its newline.
[[nodiscard]] std::string to_line(const Entry& entry);

// Parses the text of the ledger. Skips lines that are not entries. If `sound_bytes` is not null,
// sets `*sound_bytes` to the total size of the complete lines. A last line without a newline is
// incomplete: a crash has interrupted its writing.
[[nodiscard]] std::vector<Entry> parse_ledger(std::string_view text,
                                              std::size_t* sound_bytes = nullptr);

// Returns true if a failure in this stage, with this errno value, is the fault of the release
// itself. A new try would then fail again.
[[nodiscard]] bool blames_release(std::string_view stage, std::string_view errno_name);

// Returns the newest entry about a release, or null if the ledger has no entry about it.
[[nodiscard]] const Entry* last_of(const std::vector<Entry>& ledger, const Version& version,
                                   std::string_view sha256);

// Returns true if a release must not be tried again, because of the newest entry about it in the
// ledger (the record of upgrades). There are two cases. The entry says that the upgrade has failed
// through a fault of the release itself. Or the entry says `trying` although a different version
// runs: the upgrade has ended, and its outcome was not recorded.
//
// `wish` identifies the last write of the file `desired`, if this file exists. An entry with a
// different Entry::wish is ignored, because the operator has asked for the version again since
// then.
[[nodiscard]] bool has_failed(const std::vector<Entry>& ledger, const Version& version,
                              std::string_view sha256, const std::optional<Version>& running,
                              const std::optional<std::string>& wish);

// Returns an id for an upgrade to this version. `process` and `number` make this id differ from the
// ids of all earlier upgrades to this version.
[[nodiscard]] std::string upgrade_id(const Version& version, std::int64_t process,
                                     std::int64_t number);

// Returns a new entry that records the commit of the upgrade to `running`, which must have passed
// its trial. Returns nothing if there is no commit to record, because the newest entry about
// `running` does not say `trying` or does not exist.
[[nodiscard]] std::optional<Entry> commitment_of(const std::vector<Entry>& ledger,
                                                 const Version& running, Moment when);

// Returns a new entry that records that the upgrade in the entry `tried` has failed.
[[nodiscard]] Entry failure_of(const Entry& tried, const Failure& failure, Moment when);

// Returns the newest entry about the upgrade `id`, or null if the ledger has no entry about it.
[[nodiscard]] const Entry* upgrade_of(const std::vector<Entry>& ledger, std::string_view id);

// Returns the newest entry of each release, but only the ledger_entries_kept newest of these
// entries.
[[nodiscard]] std::vector<Entry> shortened(const std::vector<Entry>& ledger);

}  // namespace agent_releases
