// Knows how far an upgrade is at a step, and how it may end if a process is killed there. Written
// from agent-protocol(7), by the messages that agents and the upgrader have written and read.
// Shares no code with the product.
//
// Two ends are allowed between the step that makes a change inevitable and the step that reports
// the change, since only the upgrader knows which of two events it has seen first. Two ends are
// also allowed if the agents run before the upgrader: the candidate may then say `ready` before the
// upgrader looks for ended processes.
#pragma once

#include <set>

#include "tests/adversity/kill/step.h"
#include "tests/adversity/kill/story.h"

namespace kill_points {

struct Allowed {
  End end;
  // Used only if the end is `restarted`: the wait status with which the first upgrader has ended.
  int exit_status = -1;
  auto operator<=>(const Allowed&) const = default;
};

class Moment {
 public:
  explicit Moment(const Setting& setting);

  void pass(const Step& step);

  // Returns true from the step on at which the active agent is about to request the upgrade.
  [[nodiscard]] bool begun() const { return begun_; }

  // Returns in which ways the upgrade may end if a process of this generation is ended by this
  // signal at the present step.
  [[nodiscard]] std::set<Allowed> after_end_of(int generation, int signal) const;

  // Returns the role that the agent of this generation has at the present step: "active",
  // "candidate" or "fallback". For generation 0 returns "upgrader". The first agent is "active",
  // too, or "first" in a story at boot, where it fails by itself.
  [[nodiscard]] std::string role_of(int generation) const;

  // These functions return whether AGENT's link may name the new version at the present step, and
  // whether it may name the old version.
  [[nodiscard]] bool may_be_committed() const { return committed_ != Known::no; }
  [[nodiscard]] bool may_be_uncommitted() const { return committed_ != Known::yes; }

 private:
  enum class Known { no, maybe, yes };

  [[nodiscard]] std::set<Allowed> after_end_of_old(int signal) const;
  [[nodiscard]] std::set<Allowed> after_end_of_candidate(int signal) const;
  [[nodiscard]] std::set<Allowed> after_end_of_fallback(int signal) const;
  void pass_stop(const Step& step);
  void pass_trial(const Step& step);

  const Setting setting_;
  const Story& story_;
  const bool boot_;
  const int candidate_;  // the candidate's generation, or -1 if there is none
  const int fallback_;
  bool begun_;
  bool candidate_started_ = false;
  Known told_to_stop_ = Known::no;  // the upgrader has told the old agent to stop
  Known cancelled_ = Known::no;     // the old agent has answered `cancel`
  bool stopped_ = false;            // the old agent has answered `stopped`
  Known candidate_active_ = Known::no;
  Known committed_ = Known::no;
  Known fallback_active_ = Known::no;
};

}  // namespace kill_points
