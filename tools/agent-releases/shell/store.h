// The class Store: an open directory of releases. It knows the NAME of the releases and the public
// keys, finds the releases in the directory, and takes the writer's lock. The functions of
// releases.h use this class.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent-releases/manifest.h"
#include "agent-releases/releases.h"
#include "tools/agent-releases/core/choice.h"
#include "tools/agent-releases/core/minisign.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/lock.h"

namespace agent_releases {

// The writer's lock and the open subdirectory .staging, which begin_writing() returns. Only the
// process that holds the writer's lock may write into the directory of releases.
struct Writing {
  upgrader::OwnedFd lock;
  Directory staging;
};

// The right of one process to make one certain release. While this process holds the lock in this
// object, no other process touches the files of this release in .staging.
struct Claim {
  Directory staging;
  upgrader::OwnedFd lock;
};

class Store {
 public:
  [[nodiscard]] static Result<std::shared_ptr<Store>> open(const Releases::Settings& settings);

  [[nodiscard]] const Directory& directory() const { return directory_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool has_keys() const { return !settings_.keys.empty(); }
  [[nodiscard]] const std::vector<std::string>& controls() const { return settings_.controls; }

  // Returns the keys. Each call reads them again, since an administrator may replace keys while
  // this process runs.
  [[nodiscard]] Result<std::vector<PublicKey>> keys() const { return read_keys_again(); }

  [[nodiscard]] Result<std::vector<Release>> list() const;
  // Returns the release of this version, or nothing if there is none.
  [[nodiscard]] Result<std::optional<Release>> find(const Version& version) const;
  [[nodiscard]] std::string name_of(const Version& version) const;

  // Returns the text of a release's manifest, or nothing if it has none.
  [[nodiscard]] Result<std::optional<std::string>> manifest_text(const Version& version) const;

  // Returns a release's manifest. Refuses a manifest that is for a different release. If keys are
  // set, also refuses unless one of the keys has signed the manifest. If no keys are set and the
  // release has no manifest, returns nothing.
  [[nodiscard]] Result<std::optional<Manifest>> trusted_manifest(const Version& version) const;

  // Returns the operator's wish: the content of the file `desired` (see choice.h). Returns nothing
  // if this file does not exist; the newest release is wanted then.
  [[nodiscard]] std::optional<Wish> wish() const;

  // Returns the version of the release to which the link `name` leads, directly or through other
  // links. Returns nothing if the link or the release does not exist.
  [[nodiscard]] Result<std::optional<Version>> version_of_link(std::string_view name) const;

  // Returns how long to wait for a lock that a different process holds.
  [[nodiscard]] Patience patience() const { return {settings_.patience, settings_.cancelled}; }

  // Waits for the writer's lock, as long as patience() allows, and takes it. Then removes the files
  // that a crash has left behind. Keeps only the partial download called `wanted`; if `wanted` is
  // empty, keeps all partial downloads.
  [[nodiscard]] Result<Writing> begin_writing(const std::string& wanted = "") const;

  // Claims the file names of one release in .staging, so that only this process can make the
  // release. Other processes can make other releases at the same time. If a different process is
  // making this release, waits for that process as long as patience() allows.
  [[nodiscard]] Result<Claim> claim(const Version& version, const std::string& wanted) const;
  [[nodiscard]] bool is_claimed(const Directory& staging, const Version& version) const;

  // Ends a claim that claim() has returned, so that other processes can claim the same release.
  // Must be called when the release is complete or cannot be made.
  void end_claim(Claim claim, const Version& version) const;

  // Removes the files that a crash or a failed command has left in .staging, except files that
  // other processes have claimed. Must be called only with the writer's lock.
  [[nodiscard]] Outcome clean(const Directory& staging, const std::string& wanted) const;

 private:
  Store(Releases::Settings settings, Directory directory);
  [[nodiscard]] Outcome learn_name();
  [[nodiscard]] Outcome write_name(const Directory& staging) const;
  [[nodiscard]] Result<std::vector<PublicKey>> read_keys_again() const;

  Releases::Settings settings_;
  Directory directory_;
  std::string name_;
  bool name_is_written_ = false;
};

}  // namespace agent_releases
