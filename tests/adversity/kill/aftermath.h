// The aftermath is the state after the test has sent a signal to one process of a running upgrade.
// One agent of the right version must work, one more upgrade must succeed, and an orderly shutdown
// must leave no process behind. The judgement uses the reports of agents and init, and the process
// table.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tests/adversity/kill/scene.h"
#include "tests/adversity/kill/story.h"
#include "tests/adversity/kill/tracer.h"

namespace kill_points {

class Aftermath {
 public:
  // The process to which the test has sent its signal.
  struct Party {
    int generation = -1;
    pid_t pid = 0;
    bool ended = false;  // true if the signal has ended the process, not only stopped it
  };

  // Records which processes are alive before the signal. Must be constructed before the signal is
  // sent.
  Aftermath(Scene& scene, Tracer& tracer, const Setting& setting, const Party& victim);

  // Judges the state after the signal. Returns the first violation in words, or "". `allowed` has
  // the ends that the upgrade may have. If init has restarted the upgrader, the new upgrader's
  // first agent must have one of the `versions`.
  std::string judge(const std::set<Allowed>& allowed, const std::vector<std::string>& versions);
  [[nodiscard]] End end() const { return end_; }

 private:
  std::string judge_end(const std::set<Allowed>& allowed, const std::vector<std::string>& versions);
  [[nodiscard]] std::string judge_boot(const std::set<Allowed>& allowed);
  [[nodiscard]] std::string judge_links() const;
  std::string judge_service();
  std::string judge_next_upgrade();
  std::string judge_shutdown();
  [[nodiscard]] std::string judge_orphans() const;
  [[nodiscard]] std::string judge_violations() const;
  bool rests();
  void release_candidate();
  [[nodiscard]] bool told_how_it_ended(const Agent& agent) const;
  [[nodiscard]] bool upgrader_was_ended() const { return victim_.ended && victim_.generation == 0; }

  Scene& scene_;
  Tracer& tracer_;
  const Setting setting_;
  const Party victim_;
  pid_t first_agent_ = 0;
  std::set<pid_t> upgrader_processes_;  // the upgrader, and its wrapper if it has one
  std::set<pid_t> living_;              // the agents that lived before the signal
  std::set<pid_t> playing_;             // the agents in living_ that had not been sent SIGKILL
  const Agent* active_ = nullptr;
  bool released_ = false;  // release_candidate() has made the candidate fail
  End end_{};
};

}  // namespace kill_points
