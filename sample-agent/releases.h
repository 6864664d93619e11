// The releases directory: immutable files agent-v1.2.3, and the operator's wish in a file
// `desired`.
//
// A release is written under another name and renamed when it is complete, so whatever bears the
// right name is complete. Only a regular file that can be executed counts.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sample-agent/file.h"
#include "sample-agent/version.h"

namespace sample_agent {

// A file as it is now: put another in its place, or change it, and it is another one.
struct FileIdentity {
  FileId id;
  std::uint64_t modified_ns = 0;
  std::uint64_t size = 0;
  bool operator==(const FileIdentity&) const = default;
};

struct Release {
  Version version;
  FileIdentity identity;
  bool operator==(const Release&) const = default;
};

class Releases {
 public:
  // `directory` is absolute: the upgrader wants absolute paths.
  explicit Releases(std::string directory);

  // In order of version.
  [[nodiscard]] std::vector<Release> list() const;

  // What the file `desired` says; nothing if there is none, or no version in it.
  [[nodiscard]] std::optional<Version> desired() const;

  [[nodiscard]] std::optional<Release> find(const Version& version) const;
  [[nodiscard]] std::string path(const Version& version) const;
  [[nodiscard]] const std::string& directory() const { return directory_; }

 private:
  std::string directory_;
};

// The release that should take the place of `present`, if any: the desired one, or else the newest
// that is newer; in both cases only one that has not failed.
[[nodiscard]] std::optional<Release> choose_release(
    const std::vector<Release>& releases, const std::optional<Version>& desired,
    const Version& present, const std::function<bool(const Release&)>& has_failed);

}  // namespace sample_agent
