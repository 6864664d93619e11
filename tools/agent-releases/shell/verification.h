// Whether a release on disk is what was added: its manifest, with keys its signature, and every
// byte of it. In steps of a bounded size, so that an agent can verify beside its work.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>

#include "agent-releases/releases.h"
#include "agent-releases/result.h"
#include "base/owned_fd.h"
#include "base/sha256.h"
#include "tools/agent-releases/shell/store.h"
#include "tools/agent-releases/shell/tree.h"

namespace agent_releases {

class Verification {
 public:
  // Refused where it is plain already that the release is not what it was.
  [[nodiscard]] static Result<Verification> begin(const Store& store, const Release& release);

  // Hashes at most 1 MiB. True when all is verified.
  [[nodiscard]] Result<bool> step();

  // Of the release's bytes; known at the end. A directory's is its manifest's.
  [[nodiscard]] const std::string& sha256() const { return sha256_; }

 private:
  explicit Verification(Directory directory) : directory_(std::move(directory)) {}
  [[nodiscard]] Outcome begin_file(const Store& store, const Release& release);
  [[nodiscard]] Outcome begin_directory(const Store& store, const Release& release);
  [[nodiscard]] Outcome open_next();
  [[nodiscard]] Outcome close_present();

  Directory directory_;         // in which the files are
  std::deque<Listed> waiting_;  // what has not been hashed; a file without a hash may have any
  upgrader::OwnedFd file_;      // of the first of these, once it is open
  Hash hash_;
  std::string sha256_;
};

// The sha256 of what is left of an open file.
[[nodiscard]] Result<std::string> hash_file(int file, const std::string& path);

// The sha256 of a release that is a file, whatever its manifest says.
[[nodiscard]] Result<std::string> hash_release(const Store& store, const Release& release);

}  // namespace agent_releases
