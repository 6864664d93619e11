// A file that is to be published: written under a temporary name in its directory, made durable,
// and then renamed, so that under its own name it is whole or absent.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "agent-releases/result.h"
#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {

class Outgoing {
 public:
  // Refused while another process writes the same file. A temporary file that a killed process has
  // left is written anew. `directory` outlives this object.
  [[nodiscard]] static Result<Outgoing> open(const Directory& directory, const std::string& name);
  Outgoing(Outgoing&& other) noexcept = default;
  Outgoing& operator=(Outgoing&& other) noexcept = default;

  // Removes the temporary file, unless it has been renamed.
  ~Outgoing();

  [[nodiscard]] int descriptor() const { return file_.get(); }
  [[nodiscard]] std::string path() const { return directory_->path_of(name_); }
  [[nodiscard]] Outcome write(std::string_view bytes);

  // Afterwards the bytes survive a power cut; everybody may read them, and execute them if wanted.
  [[nodiscard]] Outcome finish(mode_t mode);

  // Puts the file in the place of what has its name. The directory is synced by the caller.
  [[nodiscard]] Outcome publish();

 private:
  Outgoing(const Directory& directory, std::string name, upgrader::OwnedFd file);

  const Directory* directory_;
  std::string name_;
  upgrader::OwnedFd file_;
};

}  // namespace agent_releases
