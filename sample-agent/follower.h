// Follows an input to which other programs append lines, and which they rotate by renaming it.
// Shows each line once, in order, across all the files. Writes nothing.
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

// Times are in microseconds since the epoch, like the times of files.
class Follower {
 public:
  // A rotated file is followed until nobody has written to it for `rotate_wait_us`, since its
  // writer may go on for a while before it opens the new file.
  explicit Follower(std::string path, std::uint64_t rotate_wait_us = 0);

  // Goes to the place that the position names, even if that file has been renamed. Returns false if
  // the file cannot be found: peek() then begins with the file that has the input's name.
  [[nodiscard]] Result<bool> resume(const Position& position);

  // Returns the next line, like Lines::peek(). Goes to the next file if all lines of the present
  // file have been taken, nobody has written to it for long enough, and the next file is not empty.
  // If the present file was cut, begins again at its start.
  [[nodiscard]] Result<std::optional<std::string_view>> peek(std::uint64_t now_us);
  void take();

  // Returns how long after the last peek() the agent may leave the present file, if nobody writes
  // to it until then. Returns nothing if peek() does not wait for that.
  [[nodiscard]] std::optional<std::uint64_t> wait_us() const { return wait_us_; }

  // Returns how many times a file was begun, or was begun again because it had been cut.
  [[nodiscard]] std::uint64_t files_begun() const { return files_begun_; }

  // Returns the file that is followed; nothing before the first file was opened.
  [[nodiscard]] std::optional<FileId> file() const;

  // Writes into the position where the next line is: input, offset and mark.
  void note_place(Position& position) const;

  // Returns reports for people about lines that may be missing, each only once.
  [[nodiscard]] std::vector<std::string> take_reports();

 private:
  // The file that was followed before, while a writer may still write to it.
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
  FileAge age_;                     // size and time of the followed file, when they were last read
  std::uint64_t age_since_us_ = 0;  // when the followed file was first seen with this size and time
  std::optional<std::uint64_t> wait_us_;
  bool was_removed_ = false;  // the followed file has been deleted
  std::vector<std::string> reports_;
};

}  // namespace sample_agent
