// An open directory of releases: its name, its keys, its contents, and its writer's lock. The
// functions of releases.h use it.
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

// The writer's lock and the open directory .staging, as begin_writing() returns them. Only the
// process that holds this lock writes into the directory of releases.
struct Writing {
  upgrader::OwnedFd lock;
  Directory staging;
};

// The right of one process to make a certain release. As long as the process holds the lock, no
// other process touches the names of this release in .staging.
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

  // Reads the keys again at each call, since they may be replaced while this process runs.
  [[nodiscard]] Result<std::vector<PublicKey>> keys() const { return read_keys_again(); }

  [[nodiscard]] Result<std::vector<Release>> list() const;
  // Returns the release of this version, or nothing if there is none.
  [[nodiscard]] Result<std::optional<Release>> find(const Version& version) const;
  [[nodiscard]] std::string name_of(const Version& version) const;

  // Returns the text of a release's manifest, or nothing if it has none.
  [[nodiscard]] Result<std::optional<std::string>> manifest_text(const Version& version) const;

  // Returns the release's manifest, if it has one. With keys, refuses unless one of them has signed
  // the manifest, and the manifest is for this release.
  [[nodiscard]] Result<std::optional<Manifest>> trusted_manifest(const Version& version) const;

  // Returns the version that the operator desires, or nothing if the newest release is wanted.
  [[nodiscard]] std::optional<Wish> wish() const;

  // Returns the version of the release to which the link `name` leads, directly or through other
  // links. Returns nothing if the link or the release does not exist.
  [[nodiscard]] Result<std::optional<Version>> version_of_link(std::string_view name) const;

  // Returns how long to wait for a lock of another process.
  [[nodiscard]] Patience patience() const { return {settings_.patience, settings_.cancelled}; }

  // Takes the writer's lock: waits, as long as patience() allows, until no other process writes.
  // Then removes the files that a crash has left. Keeps the partial download called `wanted`, or
  // all partial downloads if `wanted` is empty.
  [[nodiscard]] Result<Writing> begin_writing(const std::string& wanted = "") const;

  // Claims the names of one release in .staging, while others may write other releases. Waits, as
  // long as patience() allows, while another process makes the same release.
  [[nodiscard]] Result<Claim> claim(const Version& version, const std::string& wanted) const;
  [[nodiscard]] bool is_claimed(const Directory& staging, const Version& version) const;

  // Ends the claim, so that another process can claim these names. Must be called when the release
  // is complete, or could not be made.
  void end_claim(Claim claim, const Version& version) const;

  // Removes the files that a crash or a failed command has left, except those that another process
  // has claimed. Must be called only with the writer's lock.
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
