// A fixture for the tests of --relink: a directory of releases, and an upgrader whose AGENT is the
// link `current` in this directory.
#pragma once

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/together/integration/world.h"

namespace integration {

inline std::string target_of(const std::string& link) {
  std::error_code missing;
  return std::filesystem::read_symlink(link, missing);
}

// Two installed agents, `one` and `two`, a link `current` to `one`, and an upgrader whose AGENT is
// the link `current`. Upgrades have no trial unless the options set one.
struct Releases {
  explicit Releases(World& world, const Texts& options = {}, bool relative = true,
                    std::function<void()> before_exec = {}) {
    REQUIRE(mkdir(world.path("releases").c_str(), 0755) == 0);
    one = world.install("releases/one");
    two = world.install("releases/two");
    link = world.path("releases/current");
    REQUIRE(symlink(relative ? "one" : one.c_str(), link.c_str()) == 0);
    Start start{.options = {"--relink"}, .agent = link, .before_exec = before_exec};
    start.options.insert(start.options.end(), options.begin(), options.end());
    const bool has_trial = std::any_of(options.begin(), options.end(), [](const auto& option) {
      return option.starts_with("--trial=");
    });
    if (!has_trial) start.options.emplace_back("--trial=0");
    world.start(start);
  }

  void point_at(const std::string& target) const {
    unlink(link.c_str());
    REQUIRE(symlink(target.c_str(), link.c_str()) == 0);
  }

  std::string one;
  std::string two;
  std::string link;
};

inline Puppet begin_upgrade_to(World& world, Puppet active, const std::string& executable) {
  active.request_upgrade("u1", "", executable);
  active.expect("accepted");
  return world.candidate();
}

// Points the link `current` at the agent `two`, and requests an upgrade by SIGUSR2. Returns the
// candidate.
inline Puppet begin_upgrade_by_signal(World& world, const Releases& releases) {
  releases.point_at("two");
  world.signal(SIGUSR2);
  return world.candidate();
}

}  // namespace integration
