// Follows an input that other programs append to and rotate by rename: shows each of its lines
// once, in order, across the files that it consists of. Writes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sample-agent/file.h"
#include "sample-agent/lines.h"
#include "sample-agent/position.h"
#include "sample-agent/rotation.h"

namespace sample_agent {

class Follower {
 public:
  explicit Follower(std::string path);

  // Goes to where the position says, also if that file has been renamed. False if it cannot be
  // found: then peek() begins with the present file.
  [[nodiscard]] Result<bool> resume(const Position& position);

  // The next line, as Lines::peek(). A file is left for the one after it when all of it has been
  // taken, and a younger one has bytes in it: a writer may have kept the older open until then.
  [[nodiscard]] Result<std::optional<std::string_view>> peek();
  void take();

  // The file to which the line that was shown last belongs; nothing before any was opened.
  [[nodiscard]] std::optional<FileId> file() const;

  // Puts the place of the next line into the position: input, offset and mark.
  [[nodiscard]] Outcome note_place(Position& position) const;

  // What people should know, once: lines that may be missing.
  [[nodiscard]] std::optional<std::string> take_report();

 private:
  [[nodiscard]] Result<bool> open_present();
  [[nodiscard]] Result<std::optional<Lines>> successor();
  [[nodiscard]] std::optional<RotatedFile> find_successor();

  std::string path_;
  std::optional<Lines> lines_;
  std::optional<std::string> report_;
};

}  // namespace sample_agent
