// Writes the bytes of a release, from one file, or from a directory as a tar compressed by zstd.
// The same directory always yields the same bytes, on any machine and at any time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/packing.h"
#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {

// A file that is being published. It is written under a temporary name, made durable, and then
// renamed, so that a file with the final name is always complete.
class Outgoing {
 public:
  // Opens the temporary file. Refuses while another process writes the same file. Overwrites a
  // temporary file that a killed process has left. `directory` must outlive this object.
  [[nodiscard]] static Result<Outgoing> open(const Directory& directory, const std::string& name);
  Outgoing(Outgoing&& other) noexcept = default;
  Outgoing& operator=(Outgoing&& other) noexcept = default;

  // Removes the temporary file, unless it has been renamed.
  ~Outgoing();

  [[nodiscard]] int descriptor() const { return file_.get(); }
  [[nodiscard]] std::string path() const { return directory_->path_of(name_); }
  [[nodiscard]] Outcome write(std::string_view bytes);

  // Sets the mode that the published file has, and syncs the file.
  [[nodiscard]] Outcome finish(mode_t mode);

  // Renames the file to its final name. Replaces an older file of that name. The caller must sync
  // the directory afterwards.
  [[nodiscard]] Outcome publish();

 private:
  Outgoing(const Directory& directory, std::string name, upgrader::OwnedFd file);

  const Directory* directory_;
  std::string name_;
  upgrader::OwnedFd file_;
};

struct Written {
  std::int64_t bytes = 0;
  std::string sha256;
};

// Copies a file. Refuses if the file has changed since `found` was read.
[[nodiscard]] Result<Written> copy_file(int file, const Found& found, Outgoing& into);

// Writes an archive of all files in `tree`, in the order of their paths. Refuses if one of them has
// changed since `tree` was read.
[[nodiscard]] Result<Written> write_archive(const Directory& directory,
                                            const std::vector<Found>& tree, Outgoing& into);

}  // namespace agent_releases
