// A file to be published. It is written under a temporary name in its directory, made durable, and
// then renamed, so that under its final name it is always complete or absent.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "agent-releases/result.h"
#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {

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

  // Renames the file to its final name, which replaces an older file. The caller must then sync the
  // directory.
  [[nodiscard]] Outcome publish();

 private:
  Outgoing(const Directory& directory, std::string name, upgrader::OwnedFd file);

  const Directory* directory_;
  std::string name_;
  upgrader::OwnedFd file_;
};

}  // namespace agent_releases
