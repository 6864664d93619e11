// A directory of releases: the versions of one program. Each release is complete or absent, even
// after a crash or a power cut at any moment. agent-releases(1) describes the files in the
// directory, and the guarantees. This header is the interface for programs in C++20.
//
// No function in this header throws, or starts a thread or a process. The functions that add and
// remove releases wait for disks and networks, so an agent must not call them while it serves.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent-releases/result.h"
#include "agent-releases/version.h"

namespace agent_releases {

class Store;

struct Release {
  Version version;
  std::string path;          // the absolute path of the file or directory NAME-v1.2.3
  std::string executable{};  // the absolute path of the program to start
  std::string sha256{};      // the hash in the manifest; empty if there is no manifest
  // the size on disk; for a directory, the size of the archive that was unpacked into it
  std::int64_t bytes = 0;
  std::int64_t added = 0;  // when the release was added, in seconds since 1970
  bool is_directory = false;
  std::string writing{};  // an identifier that changes when the files are replaced
};

// The progress of a fetch.
struct Progress {
  std::string what;  // the name of the file that is being fetched
  std::int64_t bytes = 0;
  std::int64_t of = 0;    // the size of the whole file, or 0 if it is unknown
  std::int64_t from = 0;  // the size of the part that an earlier fetch has written
};

class Releases {
 public:
  struct Settings {
    std::string directory;
    std::string name{};  // the NAME of the releases; needed if the directory has no file .name
    std::string keys{};  // a directory of minisign's public keys; if empty, nothing is verified
    bool make = false;   // true: make the directory if it does not exist
    // The control directories of upgraders that are in neither /run/upgrader nor
    // $XDG_RUNTIME_DIR/upgrader. The status in a control directory shows which releases run, and
    // these releases must not be removed.
    std::vector<std::string> controls{};
    std::chrono::milliseconds patience{30'000};  // how long to wait for locks of other processes
    // A function that is called repeatedly while a function of this class waits. If it returns
    // true, the wait ends with a refusal.
    std::function<bool()> cancelled{};
  };
  [[nodiscard]] static Result<Releases> open(const Settings& settings);

  [[nodiscard]] const std::string& directory() const;
  [[nodiscard]] const std::string& name() const;

  // Returns all releases, oldest version first.
  [[nodiscard]] Result<std::vector<Release>> list() const;
  [[nodiscard]] Result<Release> find(const Version& version) const;

  // Returns the version that the file `desired` names, or nothing if the newest release is desired.
  [[nodiscard]] std::optional<Version> desired() const;
  [[nodiscard]] std::optional<Version> current() const;
  [[nodiscard]] std::optional<Version> previous() const;

  struct Adding {
    std::string source;    // the URL (http, https, file) or the path of a manifest
    std::string sha256{};  // the hash that the release must have; if empty, any hash
    std::string cacert{};  // a file of certificates that https trusts; if empty, the system's
    // false: refuse paths and file: URLs, since the caller does not trust `source`
    bool allow_files = true;
    bool unsigned_is_wanted = false;
    bool older_is_wanted = false;
    std::optional<Version> running{};  // the agent's version; older releases are refused
    std::int64_t now = 0;              // the system's time, in seconds since 1970
    std::function<void(const Progress&)> progress{};
  };
  struct Added {
    Release release;
    bool was_there = false;
    std::string trusted_comment{};  // the signature's trusted comment, if there is a signature
  };
  // Fetches a release, verifies it, and writes it durably. A failure changes nothing outside of the
  // subdirectory .staging.
  [[nodiscard]] Result<Added> add(const Adding& adding);

  // Makes a release from the plain file at the path `link`, then replaces that file by a link to
  // the release. This is how an installed program becomes the first release.
  [[nodiscard]] Result<Release> adopt(const std::string& link, const Version& version);

  // Sets the desired version, which must be the version of a release in this directory. Without a
  // version, the newest release is desired.
  [[nodiscard]] Outcome desire(const std::optional<Version>& version);

  // Sets the desired version to `running`, unless the file `desired` exists already. Agents that
  // follow the directory then keep this version even when a newer release is added. The directory
  // need not contain a release of this version.
  [[nodiscard]] Outcome hold(const Version& running);

  // Makes the release of this version eligible again, although an upgrade to it has failed: records
  // that these failures are to be ignored.
  [[nodiscard]] Outcome forget(const Version& version, std::int64_t now);

  // Returns the reason why a release must not be removed, or nothing if the release may be removed.
  [[nodiscard]] Result<std::optional<std::string>> needed_for(const Version& version) const;
  [[nodiscard]] Outcome remove(const Version& version);

  // Removes old releases, and returns their versions. Three kinds of releases stay: the newest
  // `keep` releases, releases that are still needed, and releases that were added at `before` or
  // later.
  [[nodiscard]] Result<std::vector<Version>> prune(std::size_t keep,
                                                   std::optional<std::int64_t> before);
  // Removes the oldest releases until at most `most` are left, and returns their versions. Releases
  // that are still needed stay, and so do the releases of the versions in `spared`, even if more
  // than `most` are left then.
  [[nodiscard]] Result<std::vector<Version>> make_room(std::size_t most,
                                                       const std::vector<Version>& spared);

  // Reads all bytes of the release on disk, and checks that they have not changed since the release
  // was added. If keys are set, also checks the signature of the manifest.
  [[nodiscard]] Outcome verify(const Release& release) const;

  // Returns the store, the open directory of releases, for code outside of this class.
  [[nodiscard]] const Store& store() const { return *store_; }

 private:
  explicit Releases(std::shared_ptr<Store> store) : store_(std::move(store)) {}

  std::shared_ptr<Store> store_;
};

}  // namespace agent_releases
