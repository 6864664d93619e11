// Follows an input file to which other programs append lines, and which is rotated: renamed, and
// replaced by a new file. Returns each line once, in order, from the old files and the new file.
// Writes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sample-agent/file.h"
#include "sample-agent/lines.h"
#include "sample-agent/position.h"

namespace sample_agent {

// ---- the files of a rotated log

// A file of a rotated log: NAME itself, or a file in the same directory that was called NAME
// before. NAME.1 is younger than NAME.2, and NAME-20240102 is younger than NAME-20240101.
struct RotatedFile {
  std::string name;
  FileId id;
  bool operator==(const RotatedFile&) const = default;
};

// Returns true if `name` shows that the file was called `base` before: `name` is `base`, a dot or a
// dash, and a number or a date. Compressed files do not count, since they do not have the bytes
// that the agent has read.
[[nodiscard]] bool is_rotated_name(std::string_view base, std::string_view name);

// Sorts the files, oldest first. Files with a date in their names count as older than files with a
// number. The file called `base` is the newest, and comes last.
void sort_by_age(std::vector<RotatedFile>& files, std::string_view base);

// Returns the files of the log at `path`, oldest first. Returns an empty list if the directory
// changes at every reading: a rotation is under way, and the order cannot be trusted.
[[nodiscard]] std::vector<RotatedFile> rotated_files(const std::string& path);

// ---- the follower

// All times are in microseconds since the epoch.
class Follower {
 public:
  // Makes a follower of the input at `path`. A rotated file is left for the next file only if
  // nobody has written to it for `rotate_wait_us`: a writer may add lines to it until it opens the
  // new file.
  explicit Follower(std::string path, std::uint64_t rotate_wait_us = 0);

  // Continues at the file and the offset in `position`, even if that file has been renamed. Returns
  // false if the file cannot be found; peek() then begins with the file that has the input's name
  // now.
  [[nodiscard]] Result<bool> resume(const Position& position);

  // Returns the next line, like Lines::peek(). At the end of the current file, goes on to the next
  // one if nobody has written to the current file for long enough, and the file with the input's
  // name is not empty. Starts again at the beginning of a truncated file.
  [[nodiscard]] Result<std::optional<std::string_view>> peek(std::uint64_t now_us);
  void take();

  // Returns how long the current file must still stay unchanged before peek() leaves it for the
  // next file. Returns nothing if peek() has found a line in the current file, or if there is no
  // next file yet.
  [[nodiscard]] std::optional<std::uint64_t> wait_us() const { return wait_us_; }

  // Returns how many times the follower has begun to read a file. A truncated file counts once
  // more.
  [[nodiscard]] std::uint64_t files_begun() const { return files_begun_; }

  // Returns the identity of the file that is followed, or nothing if no file has been opened yet.
  [[nodiscard]] std::optional<FileId> file() const;

  // Sets the members of `position` that say where the next line begins: the file, the offset and
  // the mark (a fingerprint of the bytes before the offset).
  void note_place(Position& position) const;

  // Returns the reports for people about lines that may be missing. Leaves out reports that an
  // earlier call has returned.
  [[nodiscard]] std::vector<std::string> take_reports();

 private:
  // The rotated file that was followed before the current file. It is still watched for lines that
  // come late.
  struct LeftFile {
    File file;
    std::uint64_t size;
    std::uint64_t until_us;
  };

  [[nodiscard]] Result<bool> open_present();
  [[nodiscard]] Result<std::optional<File>> successor();
  [[nodiscard]] std::optional<RotatedFile> find_successor();
  [[nodiscard]] Result<bool> is_quiet(std::uint64_t now_us);
  void begin(Lines lines);
  void begin_again();
  void leave_for(File next, std::uint64_t now_us);
  [[nodiscard]] Outcome look_at_left_file(std::uint64_t now_us);

  std::string path_;
  std::uint64_t rotate_wait_us_;
  std::optional<Lines> lines_;
  std::optional<LeftFile> left_;
  std::uint64_t files_begun_ = 0;
  FileAge age_;                     // size and time of last write of the followed file
  std::uint64_t age_since_us_ = 0;  // when the followed file was first seen with the values in age_
  std::optional<std::uint64_t> wait_us_;
  bool was_removed_ = false;  // the followed file has been deleted
  std::vector<std::string> reports_;
};

}  // namespace sample_agent
