// Decides when an agent requests its upgrade, and to which release: watches a directory of
// releases, verifies the release that is due, runs its self-test, requests the upgrade, and records
// in the ledger how it ended.
//
// It has no thread and never waits: if the descriptor `fd` is readable, `dispatch` does the work
// that can be done now. No file of a release is ever run by a shell.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent-releases/releases.h"
#include "agent-releases/result.h"
#include "agent-releases/version.h"

namespace agent_releases {

// The exit status of a self-test that could not find out whether the release works. The release
// counts neither as good nor as failed, and is tested again later. The number is EX_TEMPFAIL of
// sysexits.h.
inline constexpr int self_test_could_not_tell = 75;

class Follower {
 public:
  struct Settings {
    std::string directory;
    std::string name{};  // the NAME in the releases' names; needed if DIRECTORY/.name is missing
    std::string keys{};  // a directory of public keys; if set, only signed releases count
    Version running;     // the version of this agent
    bool self_test = true;
    // arguments of the self-test's program, in front of --self-test
    std::vector<std::string> arguments{};
    std::chrono::milliseconds self_test_limit{5'000};
    // The pause before a release is tried again, after a failure that was not the release's fault.
    std::chrono::milliseconds pause{10'000};
  };

  // The agent's functions that the follower calls.
  struct Agent {
    // Requests an upgrade to this release, under this id. Returns false if no upgrade can be
    // requested now.
    std::function<bool(const std::string& id, const Release& release)> ask;
    // Logs one line for people.
    std::function<void(const std::string& text)> report;
  };

  // The content of the upgrader's message about a failed upgrade.
  struct Failure {
    std::string id;
    std::string stage;
    std::string reason{};
    std::string errno_name{};
  };

  [[nodiscard]] static Result<Follower> open(Settings settings, Agent agent);
  Follower(Follower&& other) noexcept;
  Follower& operator=(Follower&& other) noexcept;

  // Kills the self-test, if one is running.
  ~Follower();

  // Returns a descriptor, which is the same at each call. If it is readable, dispatch() must be
  // called.
  [[nodiscard]] int fd() const;
  void dispatch();

  // Begins to look for releases. Must not be called before this agent's upgrade is committed, since
  // it records in the ledger that this has happened.
  void begin();

  // Records that an upgrade has failed. This agent has requested the upgrade; if this agent is a
  // fallback, an earlier agent has. An upgrade that no follower of this directory has requested is
  // ignored.
  void upgrade_failed(const Failure& failure);

 private:
  class Work;
  explicit Follower(std::unique_ptr<Work> work);

  std::unique_ptr<Work> work_;
};

}  // namespace agent_releases
