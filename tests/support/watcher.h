// Watches a supervisor from outside, and reports broken rules. The watcher sees only the events
// that go into the supervisor and the actions that come out, never the supervisor's state. From
// these it derives which agents live, which agent is active, and which upgrade is under way. The
// rules are S1 to S9, S1b and Answers of tests/INVARIANTS.md.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "upgrader/core/action.h"
#include "upgrader/core/event.h"
#include "upgrader/core/supervisor.h"

namespace upgrader::test {

class Watcher {
 public:
  explicit Watcher(Duration exit_grace) : exit_grace_(exit_grace) {}

  // Checks one step of the supervisor. Must be called once for each step. After that, violations()
  // has every rule that was broken so far.
  void see(const Event& event, const Actions& actions, Time now);

  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

  // Returns whether an agent is active: its `activate` has been fully written, and it has not
  // exited.
  [[nodiscard]] bool anyone_active() const { return active() != 0; }

  // Moves the watcher's clock to a moment at which the deadlines of this agent have passed, and
  // those of other agents have not. If `generation` is 0, no agent's deadlines have passed at that
  // moment.
  void let_time_pass(Generation generation);

  // Replaces the number of every generation that the watcher knows by a new number from `ranks`.
  // This keeps the order of the generations: see ranks_of() in tests/decisions/explore/canonical.h.
  void renumber(const std::map<Generation, Generation>& ranks);

  // Returns, as text, everything that the watcher knows. Two watchers that know the same return the
  // same text.
  [[nodiscard]] std::string print() const;
  bool operator==(const Watcher&) const = default;

 private:
  struct Process {
    bool greeted = false;
    bool ready = false;
    bool promised = false;   // `activate` was sent, and is not fully written yet
    bool activated = false;  // `activate` has been fully written
    bool on_trial = false;
    bool promises_word = false;  // the message `hello` names the feature `readiness`
    bool owes_word = false;  // true if an active first agent or fallback must still say `healthy`
    bool fallback = false;
    // The id of the failed upgrade about which the agent has been told.
    std::optional<std::string> failed_id;
    bool told = false;  // true if `stop` was sent to the agent, and was not cancelled
    bool stopped = false;
    bool killed = false;
    // True if the agent has closed one of its pipes before it was activated, or if `activate` could
    // not be written to it.
    bool failed = false;
    std::optional<std::string> state;  // the state that the agent left with `stopped`
    // The id in the `stop` that was sent to the agent, if that `stop` was for an upgrade.
    std::optional<std::string> stop_id;
    std::optional<Time> kill_from;  // the time from which even an active agent may be killed
    bool operator==(const Process&) const = default;
  };

  void see_event(const Event& event, Time now);
  void see_outcome(const Outcome& outcome);
  void note_pending(const Actions& actions);
  void see_message(Generation generation, const agent_protocol::AgentMessage& message,
                   bool posthumous, Time now);
  void see_exit(Generation generation);
  void see_action(const Action& action, Time now);
  void see_send(Generation generation, const agent_protocol::UpgraderMessage& message, Time now);
  void see_activate(Generation generation, Process& process,
                    const agent_protocol::Activate& activate);
  void see_activated(Generation generation);
  void see_not_reached(Generation generation);
  void see_stop(Generation generation, Process& process, const agent_protocol::Stop& stop,
                Time now);
  void see_kill(Generation generation, Time now);
  void see_answer(const std::string& id, const char* answer);
  void see_ending(const std::string& id, const char* ending);
  void see_acceptance(const Outcome& outcome, const Actions& actions);
  void see_record(const RecordEnding& record, const Actions& actions);
  void check_quiet(const Event& event, const Actions& actions);
  void check_standby();

  // The active agent's generation; 0 if no agent is active.
  [[nodiscard]] Generation active() const;
  [[nodiscard]] bool is_anothers(Generation generation) const;
  [[nodiscard]] bool winding_down() const { return shutdown_ || quit_ || leaving_; }
  void broken(const std::string& rule) { violations_.push_back(rule); }

  // Facts about the end of the agent that was active last.
  struct Left {
    bool clean = false;
    std::optional<std::string> state;
    bool operator==(const Left&) const = default;
  };

  // The kind of the supervisor's order whose outcome comes next, and the generation that the order
  // is about.
  Pending pending_ = Pending::nothing;
  Generation pending_of_ = 0;
  Duration exit_grace_;
  std::map<Generation, Process> alive_;
  Generation last_ = 0;
  // How the last active agent ended. The member `state` is sent to the next agent that is
  // activated.
  std::optional<Left> left_;
  std::optional<std::string> asked_;  // the id of an agent's request, which this step must answer
  // The id of the upgrade that an agent requested and that was accepted, until the upgrade ends.
  std::optional<std::string> accepted_;
  // True if an upgrade has been requested and has passed its checks, but has not been accepted yet.
  bool checked_ = false;
  // True if an agent requested the last accepted upgrade: that agent was sent `accepted`.
  bool by_agent_ = true;
  bool by_control_ = false;          // true if an operator requested the last upgrade
  bool operator_asks_ = false;       // true if this step handles an operator's request
  std::optional<std::string> owed_;  // the name of an operator's request, until it is answered
  bool recorded_ = true;             // true if the ending of the last accepted upgrade is recorded
  // The program of the supervisor's last order ProveRelink, which syncs a program to disk before
  // the link names it.
  std::optional<ProgramId> asked_proof_;
  std::optional<ProgramId> proved_;  // the program of the last ProveRelink that has succeeded
  bool shutdown_ = false;
  bool quit_ = false;
  // True if the upgrader must exit, for one of these reasons:
  // * An active agent that was neither on trial nor told to stop has exited.
  // * Such an agent has been killed because it had not sent `healthy`.
  // * The recorded ending of an upgrade is `ended`.
  bool leaving_ = false;
  bool served_ = false;  // true if some agent has been activated since the upgrader's start
  bool exited_ = false;
  std::vector<std::string> violations_;
};

}  // namespace upgrader::test
