// The upgrades, called stories, that the tests interrupt by signals. For each story, this file says
// how the processes behave, how the upgrade ends without a signal, and how it may end if a process
// is killed at some step. This file was written from agent-protocol(7), and shares no code with the
// product.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tests/adversity/kill/step.h"
#include "tests/adversity/kill/tracer.h"

namespace kill_points {

// The ways in which an upgrade can end, as an observer outside the upgrader sees them.
enum class End {
  committed,  // the upgrade has succeeded: the new version works
  kept,       // the old agent is still active, in the same process
  fallback,   // the old version works again, in a new process
  restarted,  // init has started the upgrader again, and the version that the link names works
};

std::string words(End end);

struct Story {
  const char* name;
  bool sequential;
  const char* part;  // how the candidate behaves: see actor.cc
  // The upgrade's id. A word in it, such as `unclean`, tells the active agent how to stop.
  const char* id;
  const char* members;  // further members of the request message, as JSON text
  bool relink;
  bool lock_only;  // runs only with --lock: without it the story would show nothing new
  End end;         // how the upgrade ends if no signal is sent
  enum class With {
    nothing,
    way_back,  // runs with --control, --previous and --attempts
    // A boot: the upgrader starts with --control, --previous and --attempts, and AGENT's link names
    // a version that fails at once. So the upgrader starts the previous version instead. Nobody
    // requests an upgrade.
    boot,
    standby,  // the option --fallback=warm
  };
  With with = With::nothing;

  [[nodiscard]] bool gated() const;
  [[nodiscard]] bool has_way_back() const { return with == With::way_back || with == With::boot; }
};

// Returns all stories (scripted upgrades). Each story says which upgrade is made, and how that
// upgrade must end.
const std::vector<Story>& stories();

// A story (a scripted upgrade), and the variant in which it runs. `lock` says whether the upgrader
// runs with --lock. `order` says whether the agents or the upgrader run first when both could run.
struct Setting {
  const Story* story;
  bool lock;
  Order order;

  // Returns the name of this setting, such as `parallel/lock/good/upgrader-first`.
  [[nodiscard]] std::string name() const;
};

std::vector<Setting> all_settings();

// ---- the ways in which an upgrade may end after a signal

struct Allowed {
  End end;
  // The wait status of the run's first upgrader. Used only if `end` is End::restarted: init has
  // then started a second upgrader.
  int exit_status = -1;
  auto operator<=>(const Allowed&) const = default;
};

// The progress of an upgrade at a step, known from the messages that agents and the upgrader have
// written and read so far. A Moment also knows how the upgrade may end if a process is killed at
// this step.
//
// At some steps, two ends are allowed. For example, if an agent is killed just after it has written
// a message, the upgrader may first handle the message or first notice the death. Also, if the
// agents run before the upgrader, the candidate may send `ready` before the upgrader checks for
// exited processes.
class Moment {
 public:
  explicit Moment(const Setting& setting);

  void pass(const Step& step);

  // Returns whether the upgrade has begun, which is so when the active agent is about to write the
  // request for it. In the story `boot`, nobody requests an upgrade, so this function returns true
  // from the start.
  [[nodiscard]] bool begun() const { return begun_; }

  // Returns the ends that the upgrade may have if this signal ends the process of this generation
  // at the current step.
  [[nodiscard]] std::set<Allowed> after_end_of(int generation, int signal) const;

  // Returns the role of the process of this generation at the current step:
  // * "upgrader": generation 0, which is the upgrader itself.
  // * "first": the first agent in the story `boot`, in which this agent fails by itself.
  // * "active": the first agent in any other story, and a candidate or a fallback that is known to
  //   be active.
  // * "candidate": a candidate that is not yet known to be active.
  // * "fallback": a fallback that is not yet known to be active.
  [[nodiscard]] std::string role_of(int generation) const;

  // These functions return whether AGENT's link may name the new version at the current step, and
  // whether the link may name the old version.
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
