// How far an upgrade is at a step, and how it may end if a party of it is killed there: written
// from agent-protocol(7), by what agents and the upgrader have written and read. Knows no code of
// what is tested.
//
// Between the step that makes a change inevitable and the step that tells it, only the upgrader
// knows what it has seen first: there both endings are allowed. So they are where agents go first
// and the candidate can say `ready` before the upgrader looks for what has ended.
#pragma once

#include <set>

#include "tests/adversity/kill/step.h"
#include "tests/adversity/kill/story.h"

namespace kill_points {

struct Allowed {
  End end;
  int exit_status = -1;  // restarted: as from waitpid, what the first upgrader ends with
  auto operator<=>(const Allowed&) const = default;
};

class Moment {
 public:
  explicit Moment(const Setting& setting);

  void pass(const Step& step);

  // The story has begun: the active agent is about to ask.
  [[nodiscard]] bool begun() const { return begun_; }

  // All that may follow if this party is ended by the signal now.
  [[nodiscard]] std::set<Allowed> after_end_of(int generation, int signal) const;

  // The role in which this agent may be ended or frozen: "active", "candidate", "fallback", "first"
  // (of which nothing good comes), or "" if it may not.
  [[nodiscard]] std::string role_of(int generation) const;

  // Whether the link may name that the new version, and may name the old one.
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
  const int candidate_;  // the how manieth agent it is; -1: there is none
  const int fallback_;
  bool begun_;
  bool candidate_started_ = false;
  Known told_to_stop_ = Known::no;  // the old agent, for the upgrade
  Known cancelled_ = Known::no;     // by it, after that
  bool stopped_ = false;            // it has said so
  Known candidate_active_ = Known::no;
  Known committed_ = Known::no;
  Known fallback_active_ = Known::no;
};

}  // namespace kill_points
