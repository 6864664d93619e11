// The work of a follower, for one release at a time. It finds a release that should replace the
// agent, verifies this release, runs its self-test, requests the upgrade, and records in the ledger
// how the upgrade ended.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent-releases/follower.h"
#include "agent-releases/result.h"
#include "agent-releases/self_test.h"
#include "base/owned_fd.h"
#include "tools/agent-releases/core/choice.h"
#include "tools/agent-releases/core/ledger.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/store.h"
#include "tools/agent-releases/shell/verification.h"

namespace agent_releases {

// Wakes a follower through a single descriptor, which the agent polls. This descriptor becomes
// readable when a timer has expired, a directory has changed, or a process has exited.
class Wakeups {
 public:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] static Result<Wakeups> make();
  [[nodiscard]] int descriptor() const { return all_.get(); }

  // Watches a directory. Returns false if the system cannot watch the directory; the caller must
  // then look for changes at intervals.
  bool watch(const std::string& directory);

  // Makes the wake-up descriptor readable whenever `descriptor` is readable, until `descriptor` is
  // closed.
  void watch(int descriptor);

  // Sets the timer to the time `when`, or stops the timer if `when` is absent.
  void set(std::optional<Clock::time_point> when);

  // Reads all waiting events, so that the descriptor is no longer readable. Returns true if the
  // directory has changed.
  bool take();

 private:
  Wakeups() = default;

  upgrader::OwnedFd all_;
  upgrader::OwnedFd timer_;
  upgrader::OwnedFd changes_;
};

// The most entries about ended upgrades that are kept in memory, because they could not be written
// into the ledger (the record of upgrades) yet. If there are more, the oldest is dropped.
inline constexpr std::size_t kept_endings_max = 64;

// Writes a follower's entries into the ledger. Never waits for the lock of the ledger file, because
// the agent's event loop must not block. An entry that says how an upgrade ended, and that cannot
// be written now, is kept in memory and written later. Until then, with_kept() returns this entry
// as if it were written.
class FollowerNotes {
 public:
  // Returns the entries of the ledger file, followed by the entries that could not be written yet
  // and are kept in memory.
  [[nodiscard]] Result<std::vector<Entry>> with_kept(const Directory& directory) const;

  // Appends the entry durably, or returns the reason why this is not possible.
  [[nodiscard]] Outcome note(const Directory& directory, const Entry& entry);

  // Keeps in memory an entry that says how an upgrade ended.
  void keep(const Entry& entry);

  // Returns when to try again to write the entries that are kept in memory, or nothing if none are
  // kept.
  [[nodiscard]] std::optional<Wakeups::Clock::time_point> next_try() const;

  // Sets the time that next_try() returns to one pause from now. Called at the beginning of each
  // try to write the kept entries, so that a pause follows even if the directory cannot be opened.
  void put_off();
  void try_again(const Directory& directory);

 private:
  std::vector<Entry> kept_;
  Wakeups::Clock::time_point next_try_{};
};

class Follower::Work {
 public:
  Work(Settings settings, Agent agent, Wakeups wakeups)
      : settings_(std::move(settings)),
        agent_(std::move(agent)),
        wakeups_(std::move(wakeups)),
        is_watched_(wakeups_.watch(settings_.directory)) {}

  [[nodiscard]] int fd() const { return wakeups_.descriptor(); }
  void begin();
  void dispatch();
  void upgrade_failed(const Failure& failure);

 private:
  void look();
  [[nodiscard]] std::optional<std::size_t> choose_among(const std::vector<Release>& releases,
                                                        const std::optional<Wish>& wish,
                                                        const std::vector<Entry>& ledger) const;
  void verify(const Store& store, Release release);
  void verify_more();
  void verified(const std::string& sha256);
  void look_at_test();
  void ask();
  void leave_alone(const std::string& why);
  [[nodiscard]] Result<std::vector<Entry>> ledger() const;
  [[nodiscard]] Entry entry(Ending ending, const std::string& stage,
                            const std::string& reason) const;
  [[nodiscard]] Result<std::optional<Entry>> entry_of(const std::string& id) const;
  [[nodiscard]] Outcome note(const Entry& entry);

  // Appends to the ledger an entry that says how an upgrade ended. If the ledger cannot be written,
  // keeps the entry in memory, and note_what_is_kept() tries again until the ledger has the entry.
  // If more than kept_endings_max entries must be kept, the oldest is dropped.
  void note_ending(const Entry& entry);
  void let_go(bool pause);
  void note_what_is_kept();
  void set_timer();
  [[nodiscard]] std::optional<Wakeups::Clock::time_point> next_work() const;
  void report_once(const std::string& text);
  [[nodiscard]] Result<std::shared_ptr<Store>> store() const;

  Settings settings_;
  Agent agent_;
  Wakeups wakeups_;
  bool is_watched_;
  bool has_begun_ = false;
  Wakeups::Clock::time_point next_look_{};
  std::optional<Wakeups::Clock::time_point> paused_until_;

  FollowerNotes notes_;

  // The release that is being verified, tested or requested now; at most one.
  std::optional<Release> chosen_;
  std::string chosen_wish_;
  std::optional<Verification> verification_;
  std::optional<SelfTest> test_;
  Wakeups::Clock::time_point test_ends_{};
  std::string id_;
  unsigned requests_ = 0;

  // For each verified release, by its path: the value of Release::writing at the verification, and
  // the SHA-256. Release::writing changes when the release's files are replaced; the SHA-256 is
  // then out of date.
  std::map<std::string, std::pair<std::string, std::string>> hashes_;
  // For each refused release, by its path: the value of Release::writing at the refusal. If
  // Release::writing differs now, the files were replaced, and the release may be tried again.
  std::map<std::string, std::string> refused_;
  std::string reported_;
};

}  // namespace agent_releases
