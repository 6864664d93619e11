// A directory below TMPDIR. The destructor removes it and everything in it.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "agent-releases/result.h"
#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {

class Scratch {
 public:
  // Makes the directory. Only the caller can read it.
  [[nodiscard]] static Result<Scratch> make() {
    const char* below = std::getenv("TMPDIR");
    std::string path = std::string(below != nullptr && *below != '\0' ? below : "/tmp");
    path += "/agent-releases.XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) return refusal_from_errno("make", path);
    const std::size_t slash = path.find_last_of('/');
    auto parent = Directory::open(path.substr(0, slash + 1));
    auto directory = Directory::open(path);
    if (!parent) return parent.refusal();
    if (!directory) return directory.refusal();
    return Scratch(std::move(parent.value()), std::move(directory.value()), path.substr(slash + 1));
  }
  Scratch(Scratch&&) noexcept = default;
  Scratch& operator=(Scratch&&) noexcept = default;
  ~Scratch() {
    if (parent_.descriptor() >= 0) static_cast<void>(parent_.remove(name_));
  }

  [[nodiscard]] const Directory& directory() const { return directory_; }

 private:
  Scratch(Directory parent, Directory directory, std::string name)
      : parent_(std::move(parent)), directory_(std::move(directory)), name_(std::move(name)) {}

  Directory parent_;
  Directory directory_;
  std::string name_;
};

}  // namespace agent_releases
