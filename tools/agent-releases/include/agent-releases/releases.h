// A directory of releases: versions of one program. Each is complete or absent, even after a crash
// or a power cut at any moment. agent-releases(1) describes its files and what it promises; this is
// the interface for programs in C++20.
//
// No function here throws, or starts a thread or a process. The functions that add and remove
// releases wait for disks and networks, so an agent must not call them while it serves.
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
  std::string sha256{};      // the hash of the fetched file; empty if there is no manifest
  // the bytes on disk; for a directory, the bytes of the archive that it was unpacked from
  std::int64_t bytes = 0;
  std::int64_t added = 0;  // when the release was added, in seconds since 1970
  bool is_directory = false;
  std::string writing{};  // identifies this state of the files; changes if they are replaced
};

// The progress of a fetch.
struct Progress {
  std::string what;  // the name of the file that is being fetched
  std::int64_t bytes = 0;
  std::int64_t of = 0;    // the size of the whole file, or 0 if it is unknown
  std::int64_t from = 0;  // the bytes that an earlier, interrupted fetch has left
};

class Releases {
 public:
  struct Settings {
    std::string directory;
    std::string name{};  // the NAME of the releases; needed if the directory has no file .name
    std::string keys{};  // a directory of minisign's public keys; if empty, nothing is verified
    bool make = false;   // true: make the directory if it does not exist
    // Control directories of upgraders, besides those below /run/upgrader. They show which releases
    // run and must not be removed.
    std::vector<std::string> controls{};
    std::chrono::milliseconds patience{30'000};  // how long to wait for locks of other processes
    // Called now and then while a function of this class waits. If it returns true, the function
    // gives up.
    std::function<bool()> cancelled{};
  };
  [[nodiscard]] static Result<Releases> open(const Settings& settings);

  [[nodiscard]] const std::string& directory() const;
  [[nodiscard]] const std::string& name() const;

  // Returns the releases in the order of versions.
  [[nodiscard]] Result<std::vector<Release>> list() const;
  [[nodiscard]] Result<Release> find(const Version& version) const;

  // The version that the file `desired` names, or nothing if the newest is desired.
  [[nodiscard]] std::optional<Version> desired() const;
  [[nodiscard]] std::optional<Version> current() const;
  [[nodiscard]] std::optional<Version> previous() const;

  struct Adding {
    std::string source;    // a URL (http, https, file) or a path of a manifest
    std::string sha256{};  // the hash that the release must have; if empty, any
    std::string cacert{};  // the file of the certificates that https trusts; if empty, the default
    bool allow_files = true;  // if false, only http and https: `source` may come from a stranger
    bool unsigned_is_wanted = false;
    bool older_is_wanted = false;
    std::optional<Version> running{};  // the agent's version; releases older than that are refused
    std::int64_t now = 0;              // the system's time, in seconds since 1970
    std::function<void(const Progress&)> progress{};
  };
  struct Added {
    Release release;
    bool was_there = false;
    std::string trusted_comment{};  // the signature's trusted comment, if there is a signature
  };
  // Fetches a release, verifies it and makes it durable. After a failure only .staging may have
  // changed.
  [[nodiscard]] Result<Added> add(const Adding& adding);

  // Makes a release of the plain file at the path `link`, and replaces the file by a link to it.
  [[nodiscard]] Result<Release> adopt(const std::string& link, const Version& version);

  // Sets the version that should run, whose release must be in this directory. Without a version,
  // the newest release should run.
  [[nodiscard]] Outcome desire(const std::optional<Version>& version);

  // Makes the running version the desired one, unless the file `desired` exists already. Agents
  // that follow the directory then stay at that version when a newer release is added. The release
  // of `running` need not be in this directory.
  [[nodiscard]] Outcome hold(const Version& running);

  // Allows another try of a release that has failed.
  [[nodiscard]] Outcome forget(const Version& version, std::int64_t now);

  // Returns the reason why a release must not be removed, or nothing if it may be.
  [[nodiscard]] Result<std::optional<std::string>> needed_for(const Version& version) const;
  [[nodiscard]] Outcome remove(const Version& version);

  // Removes all releases except the newest `keep`, those that are needed, and those that were added
  // at `before` or later. Returns what was removed.
  [[nodiscard]] Result<std::vector<Version>> prune(std::size_t keep,
                                                   std::optional<std::int64_t> before);

  // Checks that the bytes on disk are those that were added. With keys, also checks that the
  // manifest is signed. Reads all bytes of the release.
  [[nodiscard]] Outcome verify(const Release& release) const;

  // Returns the open directory, for code that extends this class.
  [[nodiscard]] const Store& store() const { return *store_; }

 private:
  explicit Releases(std::shared_ptr<Store> store) : store_(std::move(store)) {}

  std::shared_ptr<Store> store_;
};

}  // namespace agent_releases
