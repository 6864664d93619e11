// The chronicle keeps the history that `status.json` shows: the stages of agents and upgrades with
// their times, the endings of upgrades, and the requests with their answers. It also recognizes a
// request that has been answered before. note() must be called for every step of the supervisor.
// upgrader(8) describes status.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "upgrader/core/action.h"
#include "upgrader/core/event.h"
#include "upgrader/core/state.h"

namespace upgrader {

// How many of the latest upgrades, and of the latest requests, are kept and shown.
inline constexpr std::size_t chronicle_max = 16;

// A moment by two clocks. Durations are measured on the monotonic clock, because the wall clock may
// be set meanwhile.
struct Stamp {
  std::int64_t monotonic_us = 0;
  std::int64_t wall_ms = 0;  // the wall clock: milliseconds since 1970 in UTC
  [[nodiscard]] explicit operator bool() const { return wall_ms != 0; }
};

// An agent that runs: its process, when it was started and activated, and its latest status.
struct AgentPast {
  Generation generation = 0;
  int pid = 0;
  std::string executable;
  Stamp started, activated{};
  std::string status{};  // the latest status that the agent has sent; empty if none
};

// An upgrade that was accepted: under way, or ended.
struct UpgradePast {
  struct Side {
    std::optional<std::string> version;
    std::string executable;
  };

  std::string id;
  Origin origin = Origin::agent;
  Side from, to;
  Stamp accepted, ready, stop_sent, stopped, activated;
  // how long the parts of the upgrade took; absent if they were not measured
  std::optional<std::int64_t> start_ms, gate_ms, stop_ms, overlap_ms, gap_us, trial_ms;
  // the generation of the candidate: the upgrader numbers its agents from 1
  Generation generation = 0;
  Stamp gate_begun;
  Stamp ended;
  RecordEnding ending;
};

struct UpgraderEnd {
  int exit_status = 0;
  std::string reason;
  Stamp at;
};

// An operator's request through the control directory, and its answer.
struct PastRequest {
  std::string name;
  std::string type;
  bool ok = false;
  std::string reason;  // why the request was refused, or the state of its upgrade
};

class Chronicle {
 public:
  // Records the start of the upgrader.
  void begin(const Stamp& now) { started_ = since_ = now; }

  // Records the path of the executable that was checked. Events do not carry this path, so this
  // function must be called before note() gets the outcome of the check.
  void note_checked(std::string executable) { checked_ = std::move(executable); }
  // Records the process that was started from the checked file. Must be called before note() gets
  // the outcome of the start.
  void note_started(Generation generation, int pid, std::string executable, const Stamp& now);

  // Records a step of the supervisor: the event, the actions that followed, and the state
  // afterwards.
  void note(const Event& event, const Actions& actions, const State& after, const Stamp& now);

  void note_answer(PastRequest request);

  // Checks a request from the control directory's FIFO. Returns the event for the supervisor; an
  // upgrade request without an id is given one. Returns nothing for a request whose name has been
  // answered before. Also returns nothing for an upgrade whose id is known already, and answers
  // this request with the upgrade's state or ending.
  [[nodiscard]] std::optional<ControlRequested> judge(ControlRequest request);

  // Records why the upgrader ends, unless a reason has been recorded before, by this function or by
  // note(). An empty text is ignored.
  void note_why_it_ends(const std::string& why) {
    if (why_it_ends_.empty()) why_it_ends_ = why;
  }
  void note_end(int exit_status, const Stamp& now);

  [[nodiscard]] const AgentPast* find(Generation generation) const;
  [[nodiscard]] const std::optional<UpgradePast>& upgrade() const { return upgrade_; }
  // Returns the upgrades that have ended, the newest first.
  [[nodiscard]] const std::vector<UpgradePast>& endings() const { return endings_; }
  // Returns the requests that were answered, the newest first.
  [[nodiscard]] const std::vector<PastRequest>& requests() const { return requests_; }
  [[nodiscard]] bool has_answered(const std::string& name) const;
  // Returns how the upgrade with this id ended, or "under way"; an empty text if the id is not
  // known.
  [[nodiscard]] std::string what_became_of(const std::string& id) const;
  [[nodiscard]] const std::optional<UpgraderEnd>& end() const { return end_; }
  [[nodiscard]] const Stamp& started() const { return started_; }
  [[nodiscard]] const Stamp& since() const { return since_; }  // the beginning of the current phase
  // Returns when an agent first proved good: when it had been active for as long as a trial takes,
  // or when its upgrade was committed.
  [[nodiscard]] const Stamp& good() const { return good_; }

  // Converts a time of the supervisor, which uses the monotonic clock, to the wall clock.
  [[nodiscard]] std::int64_t on_the_wall(Time time) const { return time.count() + wall_ahead_ms_; }

 private:
  void note_exit(Generation generation, const Stamp& now);
  void note_agent(const Agent& agent, const Event& event, const Stamp& now);
  void note_upgrade(const State& after, const Stamp& now);
  void note_stop(const Agent& incumbent, const Stamp& now);
  void note_actions(const Actions& actions, const Stamp& now);
  void end_upgrade(const RecordEnding& ending, const Stamp& now);

  Stamp started_, since_, good_;
  Phase phase_ = Phase::starting;
  std::int64_t wall_ahead_ms_ = 0;  // the wall clock minus the monotonic clock, in milliseconds
  std::string checked_;
  std::vector<AgentPast> agents_;  // the agents that run
  Stamp vacant_since_;             // the time since which no agent has been active
  std::optional<UpgradePast> upgrade_;
  std::vector<UpgradePast> endings_;
  std::vector<PastRequest> requests_;
  std::int64_t unnamed_upgrades_ = 0;  // how many requests for an upgrade came without an id
  std::string why_it_ends_;
  std::optional<UpgraderEnd> end_;
};

}  // namespace upgrader
