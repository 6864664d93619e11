// Decides when an agent asks to be replaced, and by which release: watches a directory of releases,
// verifies the one that is due, runs its self-test, asks, and remembers in the ledger how it ended.
//
// It has no thread and never waits: `fd` is readable when there is something to do, and `dispatch`
// does it, a little at a time. Nothing of a release is ever run by way of a shell.
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

// A self-test that exits with this status could not tell: nothing stands against the release, and
// it is tried again later. As in sysexits.h.
inline constexpr int self_test_could_not_tell = 75;

class Follower {
 public:
  struct Settings {
    std::string directory;
    std::string name{};  // where the directory does not say whose releases it has
    std::string keys{};  // public keys; with them only what is signed is asked for
    Version running;     // what this agent is
    bool self_test = true;
    std::vector<std::string> arguments{};  // of the self-test, before --self-test
    std::chrono::milliseconds self_test_limit{5'000};
    std::chrono::milliseconds pause{10'000};  // after a failure that is not the release's own
  };

  // The functions of the agent that a follower calls.
  struct Agent {
    // Asks the upgrader for this release, under this id. False: it cannot be asked now.
    std::function<bool(const std::string& id, const Release& release)> ask;
    // Tells people one line.
    std::function<void(const std::string& text)> report;
  };

  // The words of the upgrader's message about an upgrade that failed.
  struct Failure {
    std::string id;
    std::string stage;
    std::string reason{};
    std::string errno_name{};
  };

  [[nodiscard]] static Result<Follower> open(Settings settings, Agent agent);
  Follower(Follower&& other) noexcept;
  Follower& operator=(Follower&& other) noexcept;

  // Kills a self-test that still runs.
  ~Follower();

  // Stays the same. Poll it for reading.
  [[nodiscard]] int fd() const;
  void dispatch();

  // From now on releases are looked for. Not before this agent is committed: that is what it notes
  // in the ledger.
  void begin();

  // An upgrade has failed: that of this agent, or, told to a fallback agent, that of the one before
  // it. One that this directory's followers have not asked for is left alone.
  void upgrade_failed(const Failure& failure);

 private:
  class Work;
  explicit Follower(std::unique_ptr<Work> work);

  std::unique_ptr<Work> work_;
};

}  // namespace agent_releases
