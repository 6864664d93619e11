// Decides when an agent requests an upgrade, and to which release. A follower is an object in the
// agent's process that watches a directory of releases. It verifies a release that should replace
// the agent, runs its self-test, and requests the upgrade. It then records how the upgrade ended.
//
// The follower has no thread and never blocks: when its descriptor fd() is readable, dispatch()
// does the work that can be done now. It executes the program of a release directly, never through
// a shell.
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

// The exit status (EX_TEMPFAIL of sysexits.h) of a self-test that could not find out whether the
// release works. The release is then not recorded as failed, and is tested again later.
inline constexpr int self_test_could_not_tell = 75;

class Follower {
 public:
  struct Settings {
    std::string directory;
    std::string name{};  // the NAME of the releases; needed if the directory has no file .name
    std::string keys{};  // a directory of public keys; if set, releases must be signed
    Version running;     // the version of this agent
    bool self_test = true;
    // the arguments of the self-test; the follower adds --self-test at the end
    std::vector<std::string> arguments{};
    std::chrono::milliseconds self_test_limit{5'000};
    // the pause before a release is tried again, if its upgrade has failed without a fault of the
    // release
    std::chrono::milliseconds pause{10'000};
  };

  // The functions of the agent that the follower calls.
  struct Agent {
    // Requests an upgrade to `release` under the id `id`. Returns false if no upgrade can be
    // requested now.
    std::function<bool(const std::string& id, const Release& release)> ask;
    // Logs one line for people.
    std::function<void(const std::string& text)> report;
  };

  // The content of the message `upgrade_failed`.
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

  // Returns the follower's descriptor, which never changes. Whenever the descriptor is readable,
  // the agent must call dispatch().
  [[nodiscard]] int fd() const;
  void dispatch();

  // Begins to look for releases. Must not be called before the upgrade to this agent is committed.
  // If the ledger (the record of upgrades) does not have this commit yet, begin() records it.
  void begin();

  // Records that an upgrade has failed. This agent has requested the upgrade, or an earlier agent
  // has, and the upgrader has started this agent after the failure. Ignores an upgrade that no
  // follower of this directory has requested.
  void upgrade_failed(const Failure& failure);

 private:
  class Work;
  explicit Follower(std::unique_ptr<Work> work);

  std::unique_ptr<Work> work_;
};

}  // namespace agent_releases
