// --attempts counts, in a file, the starts in a row after which an executable did not last. Here
// the file's text is made and read, and the program to start next is chosen. upgrader(8) describes
// the option.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace upgrader {

inline constexpr std::int64_t attempts_max = 999'999;  // the limit for --attempts

struct Attempts {
  int count = 0;           // starts in a row in which no agent lasted, the present one included
  std::string executable;  // the path of AGENT's executable, without symbolic links
  std::string ending;  // how the last start ended; empty if the upgrader died before it wrote that
  bool operator==(const Attempts&) const = default;
};

// The file has three records, each at a multiple of so many bytes, which are enough for two paths.
// A new record takes the place of the oldest one, so a disk has only one sector to write. If a
// power cut tears it, the two records before it are still whole: the last one that was synced, and
// the one that an upgrader writes at its end and does not sync.
inline constexpr std::size_t attempts_record_bytes = 8'192;
inline constexpr std::size_t attempts_records = 3;
inline constexpr std::size_t attempts_file_bytes = attempts_records * attempts_record_bytes;

// `file` is what the file contains. Returns the attempts of the newest sound record, or no attempts
// if none is sound.
[[nodiscard]] Attempts read_attempts(std::string_view file);

struct NextRecord {
  std::size_t offset = 0;  // where in the file the record is to be written
  std::string text;
  std::size_t sound = 0;  // the number of sound records in the file; if 0, the file is made anew
};

// Makes a record of these attempts, newer than all records of the file.
[[nodiscard]] NextRecord next_record(std::string_view file, const Attempts& attempts);

struct NextAttempt {
  Attempts attempts;  // to be written to the file before anything is started
  // Why `executable` should not be started again; absent if it has starts left.
  std::optional<std::string> worn_out;
};

// Decides which executable to start. `before` is the content of the file, `executable` the target
// of AGENT's link, and `limit` the value of --attempts. After `limit` starts in vain, the next
// `limit` starts use the executable of --previous, then AGENT's again, and so on by turns.
// `way_back` is true if there is an executable of --previous. If there is none, the count stays at
// `limit`, so that a crash loop need not write the file at every start.
[[nodiscard]] NextAttempt next_attempt(const Attempts& before, const std::string& executable,
                                       int limit, bool way_back);

}  // namespace upgrader
