// Decides, for the option --attempts, which program an upgrader starts first. With this option, a
// file counts the failed starts of the upgrader in a row. A start has failed if no agent stayed
// active for the length of a trial. The functions here make and parse the text of the file;
// attempts_file.h reads and writes it. upgrader(8) describes the option.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace upgrader {

inline constexpr std::int64_t attempts_max = 999'999;  // the largest number that --attempts accepts

struct Attempts {
  int count = 0;           // the number of failed starts in a row, plus 1 for the current start
  std::string executable;  // the path of AGENT's executable, without symbolic links
  // how the last start ended; empty if the upgrader died before it recorded how
  std::string ending;
  bool operator==(const Attempts&) const = default;
};

// The size of a record in bytes, which is enough for two paths. The file of --attempts has room for
// three records, and a new record overwrites the oldest one. A power cut can destroy two records:
// the one that is being written, and the one before it, which an exiting upgrader writes without a
// sync. The third record is then still intact.
inline constexpr std::size_t attempts_record_bytes = 8'192;
inline constexpr std::size_t attempts_records = 3;
inline constexpr std::size_t attempts_file_bytes = attempts_records * attempts_record_bytes;

// Parses the content of the file of --attempts. Returns the newest undamaged record, or a count of
// 0 if there is none.
[[nodiscard]] Attempts read_attempts(std::string_view file);

struct NextRecord {
  std::size_t offset;  // where in the file the record is to be written
  std::string text;
  // the number of undamaged records in the file; if 0, the file is replaced by a new one
  std::size_t sound;
};

// Makes a record with these attempts. Its number is higher than the numbers of all records in
// `file`.
[[nodiscard]] NextRecord next_record(std::string_view file, const Attempts& attempts);

struct NextAttempt {
  Attempts attempts;  // the record to write to the file before anything is started
  // Why `executable` should not be started again; absent if it may be started.
  std::optional<std::string> attempts_exhausted;
};

// Decides which executable to start. `before` is the newest record in the file of --attempts,
// `executable` the target of AGENT's link, and `limit` the value of --attempts. With `way_back`,
// --previous names a second executable, and the two take turns: after `limit` failed starts of one,
// the next `limit` starts use the other. Without `way_back`, the count stays at `limit`, so that a
// crash loop does not write the file at every start.
[[nodiscard]] NextAttempt next_attempt(const Attempts& before, const std::string& executable,
                                       int limit, bool way_back);

}  // namespace upgrader
