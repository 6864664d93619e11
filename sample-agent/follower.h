// Follows an input that other programs append to, and rotate by renaming it: shows each of its
// lines once, in order, across all its files. Writes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sample-agent/file.h"
#include "sample-agent/lines.h"
#include "sample-agent/position.h"
#include "sample-agent/rotation.h"

namespace sample_agent {

// Times are in microseconds since the epoch, like those of files.
class Follower {
 public:
  // A rotated file is followed until nobody has written to it for `rotate_wait_us`: its writer may
  // notice late that there is a new file.
  explicit Follower(std::string path, std::uint64_t rotate_wait_us = 0);

  // Goes to the place of the position, even if that file has been renamed. Returns false if the
  // file cannot be found: then peek() begins with the present file.
  [[nodiscard]] Result<bool> resume(const Position& position);

  // Returns the next line, like Lines::peek(). Goes to the next file when all of the present one
  // has been taken, the next one has bytes in it, and the present one has been quiet for long
  // enough. Begins again with a file that was cut.
  [[nodiscard]] Result<std::optional<std::string_view>> peek(std::uint64_t now_us);
  void take();

  // Returns how long after the last peek() the file will have been quiet for long enough; nothing
  // if that is not waited for.
  [[nodiscard]] std::optional<std::uint64_t> wait_us() const { return wait_us_; }

  // Returns how often a file was begun, or begun again since it was cut.
  [[nodiscard]] std::uint64_t files_begun() const { return files_begun_; }

  // Returns the followed file, or nothing before any file was opened.
  [[nodiscard]] std::optional<FileId> file() const;

  // Writes the place of the next line into the position: input, offset and mark.
  void note_place(Position& position) const;

  // Returns reports for people about lines that may be missing, each only once.
  [[nodiscard]] std::vector<std::string> take_reports();

 private:
  // The previous file, for as long as a writer may still write to it.
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
  FileAge age_;                     // the age of the followed file at its end
  std::uint64_t age_since_us_ = 0;  // the time since which it has had this age
  std::optional<std::uint64_t> wait_us_;
  bool was_removed_ = false;  // the followed file has been deleted
  std::vector<std::string> reports_;
};

}  // namespace sample_agent
