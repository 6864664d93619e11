// Watches a supervisor from outside: keeps its own small account of the world from the events that
// go in and the actions that come out, and says which rule was broken. Never looks into the
// supervisor. The rules are S1 to S9, S1b and Answers of tests/INVARIANTS.md.
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

  // Call once a step. Afterwards violations() has what was broken, in words.
  void see(const Event& event, const Actions& actions, Time now);

  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

  // Somebody is active: its `activate` has been written whole.
  [[nodiscard]] bool anyone_active() const { return active() != 0; }

  // Makes the account one of an instant in which no deadline has passed but this agent's (0: none).
  void let_time_pass(Generation generation);

  // Gives the generations that still matter other numbers, in the same order.
  void renumber(const std::map<Generation, Generation>& ranks);

  // The whole account as text: equal for equal ones.
  [[nodiscard]] std::string print() const;
  bool operator==(const Watcher&) const = default;

 private:
  struct Process {
    bool greeted = false;
    bool ready = false;
    bool promised = false;   // `activate` was sent, and has not been written whole
    bool activated = false;  // it has been
    bool on_trial = false;
    bool promises_word = false;  // its hello has the feature readiness
    bool owes_word = false;      // a first one or a fallback, active, has not said healthy
    bool fallback = false;
    std::optional<std::string> failed_id;  // of the upgrade of whose failure it has been told
    bool told = false;                     // a stop is in force
    bool stopped = false;
    bool killed = false;
    bool failed = false;                 // it closed a pipe while held, or was not reached
    std::optional<std::string> state;    // that it left with `stopped`
    std::optional<std::string> stop_id;  // of the upgrade that the stop was for
    std::optional<Time> kill_from;       // an active one may be killed from then on
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

  [[nodiscard]] Generation active() const;  // 0 if no agent is
  [[nodiscard]] bool is_anothers(Generation generation) const;
  [[nodiscard]] bool winding_down() const { return shutdown_ || quit_ || leaving_; }
  void broken(const std::string& rule) { violations_.push_back(rule); }

  // The end of the agent that was active last.
  struct Left {
    bool clean = false;
    std::optional<std::string> state;
    bool operator==(const Left&) const = default;
  };

  // The action whose outcome is next, and the agent that it is about.
  Pending pending_ = Pending::nothing;
  Generation pending_of_ = 0;
  Duration exit_grace_;
  std::map<Generation, Process> alive_;
  Generation last_ = 0;
  std::optional<Left> left_;              // nobody has got it yet
  std::optional<std::string> asked_;      // an upgrade request that must be answered in this step
  std::optional<std::string> accepted_;   // an upgrade of an agent that has no ending yet
  bool checked_ = false;                  // an upgrade is asked for, and may yet be accepted
  bool by_agent_ = true;                  // it was accepted from an agent, who has been told so
  bool by_control_ = false;               // it is an operator's
  bool operator_asks_ = false;            // the events since then are about an operator's request
  std::optional<std::string> owed_;       // the name of a request that has had no answer yet
  bool recorded_ = true;                  // the upgrade that was accepted last has its ending
  std::optional<ProgramId> asked_proof_;  // the program that the link is to be able to name
  std::optional<ProgramId> proved_;       // and can, as the world has answered
  bool shutdown_ = false;
  bool quit_ = false;
  bool leaving_ = false;  // the active agent, or a start that must succeed, has failed
  bool served_ = false;   // an agent has been activated
  bool exited_ = false;
  std::vector<std::string> violations_;
};

}  // namespace upgrader::test
