// Two releases and the links that name them, for tests of the link where calls fail.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include "tests/decisions/unit/program_of.h"
#include "tests/decisions/unit/temporary_directory.h"
#include "upgrader/shell/relink.h"

// Two programs, the link `current` to the first, and perhaps the link `previous` to what was
// committed before that.
struct Releases {
  explicit Releases(const std::string& before = "") {
    if (!before.empty()) directory.link("previous", before);
  }
  // The link `current`, which keeps no other.
  [[nodiscard]] upgrader::Link link() const {
    return std::move(upgrader::Link::open(path).value());
  }
  // The same, which keeps what it named before in `previous`.
  [[nodiscard]] upgrader::Link link_with_previous() const {
    upgrader::Link opened = link();
    REQUIRE_FALSE(opened.keep_previous(previous));
    return opened;
  }
  [[nodiscard]] std::string target() const { return target_of(path); }
  // What a link names; empty where there is none.
  [[nodiscard]] static std::string target_of(const std::string& link) {
    std::error_code ignored;
    return std::filesystem::read_symlink(link, ignored).string();
  }

  TemporaryDirectory directory;
  std::string one = directory.write("one", "#!/bin/true\n");
  std::string two = directory.write("two", "#!/bin/true\n");
  std::string path = directory.link("current", "one");
  std::string previous = directory / "previous";
};

// For calls that tell before each sync: nobody listens.
inline const upgrader::BeforeSync nothing = [] {};
