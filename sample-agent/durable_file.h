// A small file that is replaced as a whole: after a power cut it has either the old or the new
// content, never a mixture.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sample-agent/file.h"

namespace sample_agent {

class DurableFile {
 public:
  DurableFile(std::string directory, const std::string& name);

  // Returns the content of the file; no value if the file does not exist.
  [[nodiscard]] Result<std::optional<std::string>> read() const;

  // Replaces the file: writes a new file, syncs it, renames it, and syncs the directory.
  [[nodiscard]] Outcome replace(std::string_view text) const;

 private:
  std::string directory_;
  std::string path_;
};

}  // namespace sample_agent
