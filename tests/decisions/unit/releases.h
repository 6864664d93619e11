// A fixture for tests in which system calls on a link fail. It has two programs, and the links that
// name these programs.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include "tests/decisions/unit/processes.h"
#include "tests/support/temporary_directory.h"
#include "upgrader/shell/relink.h"

// Two programs, the link `current` to the first of them, and optionally the link `previous` to an
// earlier program.
struct Releases {
  explicit Releases(const std::string& before = "") {
    if (!before.empty()) directory.link("previous", before);
  }
  // Opens the link `current` as an upgrader without --previous does: a commit changes only this
  // link.
  [[nodiscard]] upgrader::Link link() const {
    return std::move(upgrader::Link::open(path).value());
  }
  // Opens the link `current` as an upgrader with --previous does: a commit also makes the link
  // `previous` name the old program.
  [[nodiscard]] upgrader::Link link_with_previous() const {
    return std::move(upgrader::Link::open(path, previous).value());
  }
  [[nodiscard]] std::string target() const { return target_of(path); }
  // Returns the target of a link, or "" if there is no link.
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

// A `before_sync`, the function that the tested code calls before each sync. It does nothing.
inline const upgrader::BeforeSync nothing = [] {};
