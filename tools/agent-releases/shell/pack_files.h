// The files of a release on the publisher's machine. This file lists what is packed: a single file,
// or every file, directory and link below a directory. It writes the bytes of the release: a copy
// of the single file, or a tar archive compressed with zstd. An unchanged directory always yields
// the same bytes, on any machine and at any time. packing.h decides which files can be packed.
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

// Returns every file, directory and link below the directory, in any order, without following
// links. Refuses if a file or directory cannot be read, or if there are more files than a release
// may have.
[[nodiscard]] Result<std::vector<Found>> look_at_tree(const Directory& tree);

// Returns the properties of an open file. `path` is its path.
[[nodiscard]] Result<Found> look_at_file(int file, const std::string& path);

// A file that is being published. It is written under a temporary name, made durable, and then
// renamed, so that a file with the final name is always complete.
class Outgoing {
 public:
  // Opens the temporary file. Refuses while a different process writes a file with the same final
  // name. Overwrites a temporary file that a killed process has left behind. `directory` must
  // outlive this object.
  [[nodiscard]] static Result<Outgoing> open(const Directory& directory, const std::string& name);
  Outgoing(Outgoing&& other) noexcept = default;
  Outgoing& operator=(Outgoing&& other) noexcept = default;

  // Removes the temporary file, unless it has been renamed.
  ~Outgoing();

  [[nodiscard]] int descriptor() const { return file_.get(); }
  [[nodiscard]] std::string path() const { return directory_->path_of(name_); }
  [[nodiscard]] Outcome write(std::string_view bytes);

  // Sets the mode of the published file, and syncs the file.
  [[nodiscard]] Outcome finish(mode_t mode);

  // Renames the file to its final name. Replaces an older file with this name. The caller must then
  // sync the directory.
  [[nodiscard]] Outcome publish();

 private:
  Outgoing(const Directory& directory, std::string name, upgrader::OwnedFd file);

  const Directory* directory_;
  std::string name_;
  upgrader::OwnedFd file_;
};

// The directory of published files. If open() has made the directory, the destructor removes it,
// unless it contains files or keep() was called.
class Out {
 public:
  static Result<Out> open(const std::string& path);
  Out(Out&& other) noexcept;
  Out& operator=(Out&&) = delete;
  ~Out();

  [[nodiscard]] const Directory& directory() const { return directory_; }
  void keep() { is_made_ = false; }

 private:
  Out(Directory directory, bool made);

  Directory directory_;
  bool is_made_;
};

// The size and the hash of the bytes that were written.
struct Written {
  std::int64_t bytes = 0;
  std::string sha256;
};

// Copies a file. Refuses if the file has changed since its properties `found` were read.
[[nodiscard]] Result<Written> copy_file(int file, const Found& found, Outgoing& into);

// Writes an archive of all files in `tree`, in the order of `tree`, which plan_tree() has sorted by
// path. Refuses if a file has changed since `tree` was read.
[[nodiscard]] Result<Written> write_archive(const Directory& directory,
                                            const std::vector<Found>& tree, Outgoing& into);

}  // namespace agent_releases
