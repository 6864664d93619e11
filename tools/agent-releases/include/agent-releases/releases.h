// A directory of releases: versions of one program, each complete or not there, whatever was cut
// off, and when. agent-releases(1) says what its files are called and what they promise; this is
// the same for programs in C++20.
//
// Nothing here throws, and nothing starts a thread or a process. The functions that add and remove
// releases wait for disks and networks, so an agent that serves must not call them.
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
  std::string path;          // absolute: NAME-v1.2.3, a file or a directory
  std::string executable{};  // absolute: what to start
  std::string sha256{};      // of what was fetched; empty where there is no manifest
  std::int64_t bytes = 0;    // on disk
  std::int64_t added = 0;    // seconds since 1970
  bool is_directory = false;
  std::string writing{};  // another whenever other bytes may stand in its place
};

// The progress of a fetch.
struct Progress {
  std::string what;  // the file's name
  std::int64_t bytes = 0;
  std::int64_t of = 0;    // the file's size, or 0 if it is not known
  std::int64_t from = 0;  // so many were there from an earlier, interrupted fetch
};

class Releases {
 public:
  struct Settings {
    std::string directory;
    std::string name{};  // needed where the directory does not say what it is for
    std::string keys{};  // a directory of minisign's public keys; empty: nothing is verified
    bool make = false;   // make the directory if it does not exist
    std::vector<std::string> controls{};  // control directories of upgraders, beside those below
                                          // /run/upgrader
    std::chrono::milliseconds patience{30'000};  // for locks that other processes hold
    std::function<bool()> cancelled{};  // asked while `add` and the others wait; true ends them
  };
  [[nodiscard]] static Result<Releases> open(const Settings& settings);

  [[nodiscard]] const std::string& directory() const;
  [[nodiscard]] const std::string& name() const;

  // In order of version.
  [[nodiscard]] Result<std::vector<Release>> list() const;
  [[nodiscard]] Result<Release> find(const Version& version) const;

  // The version that the file `desired` names, or nothing if the newest is desired.
  [[nodiscard]] std::optional<Version> desired() const;
  [[nodiscard]] std::optional<Version> current() const;
  [[nodiscard]] std::optional<Version> previous() const;

  struct Adding {
    std::string source;       // a URL (http, https, file) or a path of a manifest
    std::string sha256{};     // what the release's bytes must be
    bool allow_files = true;  // false: http and https alone, as for a source that others name
    bool unsigned_is_wanted = false;
    bool older_is_wanted = false;
    std::optional<Version> running{};  // what the agent is; an older release is refused
    std::int64_t now = 0;              // seconds since 1970, as the clock has it
    std::function<void(const Progress&)> progress{};
  };
  struct Added {
    Release release;
    bool was_there = false;
    std::string trusted_comment{};  // of the signature, where there was one
  };
  // Fetches, verifies, makes durable. Leaves the directory as it was but for .staging if anything
  // fails.
  [[nodiscard]] Result<Added> add(const Adding& adding);

  // Makes a release of the plain file that a path names, and a link of the path.
  [[nodiscard]] Result<Release> adopt(const std::string& link, const Version& version);

  // Sets the version that should run: one of this directory, or nothing for the newest.
  [[nodiscard]] Outcome desire(const std::optional<Version>& version);

  // The same for what runs, whether its release is here or not, unless `desired` is there already:
  // whoever follows the directory stays at that version, and does not take what is added next.
  [[nodiscard]] Outcome hold(const Version& running);

  // Lets a release that has failed be tried again.
  [[nodiscard]] Outcome forget(const Version& version, std::int64_t now);

  // Why a release may not be removed: what needs it. Nothing if nobody does.
  [[nodiscard]] Result<std::optional<std::string>> needed_for(const Version& version) const;
  [[nodiscard]] Outcome remove(const Version& version);

  // Removes all but the newest `keep`, and what is needed or was added at `before` or later. Gives
  // what was removed.
  [[nodiscard]] Result<std::vector<Version>> prune(std::size_t keep,
                                                   std::optional<std::int64_t> before);

  // Says whether the bytes on disk are those that were added, and with keys, whether their manifest
  // is signed. Reads all of them.
  [[nodiscard]] Outcome verify(const Release& release) const;

  // For what is built on this one.
  [[nodiscard]] const Store& store() const { return *store_; }

 private:
  explicit Releases(std::shared_ptr<Store> store) : store_(std::move(store)) {}

  std::shared_ptr<Store> store_;
};

}  // namespace agent_releases
