// Checks that a release on disk is what was added: its manifest, with keys its signature, and every
// byte of it. Works in small steps, so that an agent can verify while it serves.
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
  // Begins a verification. Refuses at once if the release has obviously changed.
  [[nodiscard]] static Result<Verification> begin(const Store& store, const Release& release);

  // Hashes at most 1 MiB. Returns true when the whole release is verified.
  [[nodiscard]] Result<bool> step();

  // Returns the hash of the release's bytes, which is known only at the end. For a directory it is
  // the hash that the manifest states.
  [[nodiscard]] const std::string& sha256() const { return sha256_; }

 private:
  explicit Verification(Directory directory) : directory_(std::move(directory)) {}
  [[nodiscard]] Outcome begin_file(const Store& store, const Release& release);
  [[nodiscard]] Outcome begin_directory(const Store& store, const Release& release);
  [[nodiscard]] Outcome open_next();
  [[nodiscard]] Outcome close_present();

  Directory directory_;         // the directory with the files
  std::deque<Listed> waiting_;  // the files that are listed and not hashed yet
  upgrader::OwnedFd file_;      // the file of the first entry in `waiting_`, once it is open
  Hash hash_;
  std::string sha256_;
};

// Verifies a whole release at once, for callers that may wait for it. Returns the hash of the
// release's bytes, as `Verification::sha256` does.
[[nodiscard]] Result<std::string> verify_whole(const Store& store, const Release& release);

// Returns the SHA-256 of the rest of an open file.
[[nodiscard]] Result<std::string> hash_file(int file, const std::string& path);

// Returns the SHA-256 of a release that is a file. Does not compare it with the manifest.
[[nodiscard]] Result<std::string> hash_release(const Store& store, const Release& release);

}  // namespace agent_releases
