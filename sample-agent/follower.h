// Follows an input that other programs append to and rotate by rename: shows each of its lines
// once, in order, across the files that it consists of. Writes nothing.
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

// Times are in microseconds since the epoch, as files have them.
class Follower {
 public:
  // A file that was rotated is followed until nobody has written to it for `rotate_wait_us`: its
  // writer may learn late that there is a new one.
  explicit Follower(std::string path, std::uint64_t rotate_wait_us = 0);

  // Goes to where the position says, also if that file has been renamed. False if it cannot be
  // found: then peek() begins with the present file.
  [[nodiscard]] Result<bool> resume(const Position& position);

  // The next line, as Lines::peek(). A file is left for the one after it when all of it has been
  // taken, a younger one has bytes in it, and it has been quiet for long enough. A file that was
  // cut is begun again.
  [[nodiscard]] Result<std::optional<std::string_view>> peek(std::uint64_t now_us);
  void take();

  // How long after the last peek() the file will have been quiet for long enough; nothing if it is
  // not that which is waited for.
  [[nodiscard]] std::optional<std::uint64_t> wait_us() const { return wait_us_; }

  // How often a file was begun, or begun again since it was cut.
  [[nodiscard]] std::uint64_t files_begun() const { return files_begun_; }

  // Nothing before any file was opened.
  [[nodiscard]] std::optional<FileId> file() const;

  // Puts the place of the next line into the position: input, offset and mark.
  void note_place(Position& position) const;

  // Reports that people should read, each of them once: of lines that may be missing.
  [[nodiscard]] std::vector<std::string> take_reports();

 private:
  // The file before the one that is followed, as long as a writer may still come back to it.
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
  FileAge age_;                     // of the file that is followed, at its end
  std::uint64_t age_since_us_ = 0;  // since when we have seen it so
  std::optional<std::uint64_t> wait_us_;
  bool was_removed_ = false;  // the file that is followed has no name any more
  std::vector<std::string> reports_;
};

}  // namespace sample_agent
