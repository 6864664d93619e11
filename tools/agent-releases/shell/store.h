// A releases directory that is open: what it is for, whom it trusts, what is in it, and the lock of
// whoever writes. The deeds of releases.h stand on it.
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

// Held while a process writes into the directory. Files that a crash had left were removed when
// it was taken.
struct Writing {
  upgrader::OwnedFd lock;
  Directory staging;
};

// Held by whoever makes a release: the names that it has in .staging are left alone by others.
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

  // Read anew each time: they may be exchanged while we run.
  [[nodiscard]] Result<std::vector<PublicKey>> keys() const { return read_keys_again(); }

  [[nodiscard]] Result<std::vector<Release>> list() const;
  // Nothing where no such release is.
  [[nodiscard]] Result<std::optional<Release>> find(const Version& version) const;
  [[nodiscard]] std::string name_of(const Version& version) const;

  // The bytes of a release's manifest; nothing if it has none.
  [[nodiscard]] Result<std::optional<std::string>> manifest_text(const Version& version) const;

  // With keys: the manifest on disk is signed by one of them, and is of this very release. Gives
  // the manifest if there is one.
  [[nodiscard]] Result<std::optional<Manifest>> trusted_manifest(const Version& version) const;

  // The operator's wish; nothing where the newest is wanted.
  [[nodiscard]] std::optional<Wish> wish() const;

  // The version whose release the link `name` leads to, by whatever ways; nothing where there is no
  // such link or release.
  [[nodiscard]] Result<std::optional<Version>> version_of_link(std::string_view name) const;

  // For whatever another process holds.
  [[nodiscard]] Patience patience() const { return {settings_.patience, settings_.cancelled}; }

  // Waits until nobody else writes, with that patience; then removes what a crash has left, but for
  // the partial file that is called `wanted`, or, if that is empty, but for all partial files.
  [[nodiscard]] Result<Writing> begin_writing(const std::string& wanted = "") const;

  // The same for the names of one release in .staging, without keeping others from writing. Waits
  // with that patience while another process makes the same release.
  [[nodiscard]] Result<Claim> claim(const Version& version, const std::string& wanted) const;
  [[nodiscard]] bool is_claimed(const Directory& staging, const Version& version) const;

  // To be called by whoever writes, when the release is made or has failed.
  void end_claim(Claim claim, const Version& version) const;

  // Removes what a crash, or a deed that failed, has left, and leaves alone what is claimed. Only
  // for whoever writes.
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
