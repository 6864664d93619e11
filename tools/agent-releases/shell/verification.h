// Checks that a release on disk has not changed since the release was added. Checks the manifest,
// the manifest's signature if keys are set, and every byte of the release. Works in small steps, so
// that an agent can verify a release while the agent serves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "agent-releases/releases.h"
#include "agent-releases/result.h"
#include "base/owned_fd.h"
#include "base/sha256.h"
#include "tools/agent-releases/core/member.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/store.h"

namespace agent_releases {

// Checks a release that is a directory against the list of its members: the directory must have
// exactly the entries of the list, each with the kind and the mode in the list. Does not read the
// content of files.
[[nodiscard]] Outcome compare_tree(const Directory& directory, const std::vector<Listed>& list);

// One verification of a release, in steps.
class Verification {
 public:
  // Begins a verification. Refuses immediately if the manifest or the list of files shows that the
  // release has changed.
  [[nodiscard]] static Result<Verification> begin(const Store& store, const Release& release);

  // Hashes at most 1 MiB. Returns true when the release is completely verified.
  [[nodiscard]] Result<bool> step();

  // Returns the hash of the release. Must be called only after step() has returned true. For a
  // file, this is the hash of the file's bytes. For a directory, this is the hash of the archive,
  // as the manifest states it.
  [[nodiscard]] const std::string& sha256() const { return sha256_; }

 private:
  explicit Verification(Directory directory) : directory_(std::move(directory)) {}
  [[nodiscard]] Outcome begin_file(const Store& store, const Release& release);
  [[nodiscard]] Outcome begin_directory(const Store& store, const Release& release);
  [[nodiscard]] Outcome open_next();
  [[nodiscard]] Outcome close_present();

  Directory directory_;         // the directory that contains the files
  std::deque<Listed> waiting_;  // the files that have not been hashed yet
  upgrader::OwnedFd file_;      // the first file in waiting_, once it is open
  Hash hash_;
  std::string sha256_;
};

// Verifies a release completely in one call, for callers that may block. Returns the same hash as
// Verification::sha256().
[[nodiscard]] Result<std::string> verify_whole(const Store& store, const Release& release);

// Returns the SHA-256 of the rest of an open file.
[[nodiscard]] Result<std::string> hash_file(int file, const std::string& path);

// Returns the SHA-256 of a release that is a file. Does not compare it with the manifest.
[[nodiscard]] Result<std::string> hash_release(const Store& store, const Release& release);

}  // namespace agent_releases
