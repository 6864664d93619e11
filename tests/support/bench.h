// A bench for tests of decisions: a supervisor with a simulated clock, and functions that send
// events to this supervisor. Every check, start and relink that the supervisor orders succeeds,
// unless a test says otherwise.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/watcher.h"
#include "upgrader/core/supervisor.h"

namespace upgrader::test {

[[nodiscard]] std::vector<Phase> every_phase();

class Bench {
 public:
  // Makes a bench whose upgrader has these options. The default is an upgrader without options on
  // its command line.
  explicit Bench(Policy policy = default_policy());
  [[nodiscard]] static Policy default_policy();

  // ---- events. Each function returns all actions of the supervisor to which the event leads. If
  // the outcomes of these actions lead to further actions, it returns these, too.
  Actions start();
  Actions say(Generation generation, agent_protocol::AgentMessage message);
  Actions last_word(Generation generation, agent_protocol::AgentMessage message);
  Actions exit(Generation generation, int status = 0);
  Actions die(Generation generation, int signal);
  Actions take(const Event& event);
  // Lets time pass, and delivers each deadline at its time.
  Actions wait(Duration duration);
  // Lets time pass while all processes are frozen, including the supervisor. The supervisor learns
  // only after the freeze which deadlines have passed.
  Actions freeze(Duration duration);

  // ---- functions that may cause several events each
  Actions hello(Generation generation, const std::string& version = "");
  Actions ready(Generation generation);  // lets the agent say `hello`, and then `ready`
  Actions stopped(Generation generation, std::optional<std::string> state = std::nullopt);
  Actions upgrade(const std::string& id = "u1");
  Actions upgrade(agent_protocol::Upgrade request);
  // Brings the supervisor of a new bench into this phase with as few events as possible. If the
  // phase belongs to an upgrade, the upgrade's id is u1.
  void reach(Phase phase);
  // Brings the supervisor of a new bench to the trial of the upgrade u1 with --fallback=warm. Agent
  // 2 is on trial, and agent 3 is its standby: it runs the old version, and has not said `hello`
  // yet. Returns the supervisor's actions after the exit of agent 1.
  Actions reach_warm_trial();

  // ---- outcomes. Each function sets the outcome of the next action of one kind. If
  // next_spawn_fails() is called twice, the next two starts fail. After a failed start, the
  // supervisor may order a second start.
  void next_check_fails(const std::string& errno_name) { check_failure_ = errno_name; }
  void next_spawn_fails(const std::string& errno_name) { spawn_failures_.push_back(errno_name); }
  void next_link_back_fails(const std::string& errno_name) { link_back_failure_ = errno_name; }
  void next_boot_has_no_way_back() { no_way_back_at_boot_ = true; }
  void next_proof_fails(const std::string& errno_name) { proof_failure_ = errno_name; }
  void next_relink_fails(const std::string& errno_name) { relink_failure_ = errno_name; }
  void next_way_back_is_gone() { no_way_back_ = true; }
  void next_activate(Sent sent) { activate_ = sent; }

  // The type of a function that is called after each step of the supervisor, including the steps
  // that report outcomes of orders. have_watched() sets this function.
  using Witness = std::function<void(const Event&, const Actions&, const State&)>;
  void have_watched(Witness witness) { witness_ = std::move(witness); }

  // ---- the current state
  [[nodiscard]] Phase phase() const { return supervisor_.phase(); }
  [[nodiscard]] const State& state() const { return supervisor_.state(); }
  [[nodiscard]] const Supervisor& supervisor() const { return supervisor_; }
  // The active agent's generation; 0 if no agent is active.
  [[nodiscard]] Generation active() const;
  [[nodiscard]] Generation candidate() const;  // the candidate's generation; 0 if there is none
  [[nodiscard]] std::optional<int> exit_status() const { return exit_status_; }
  [[nodiscard]] Time now() const { return now_; }
  // Returns the broken rules that the bench's watcher (watcher.h) has found so far.
  [[nodiscard]] const std::vector<std::string>& violations() const { return watcher_.violations(); }

 private:
  Event outcome_of(const Action& action);
  Actions step(const Event& event);

  Supervisor supervisor_;
  Watcher watcher_;
  Time now_{1'000'000};
  ProgramId next_program_ = 2;
  bool no_way_back_at_boot_ = false;
  std::string check_failure_, link_back_failure_, proof_failure_, relink_failure_;
  std::deque<std::string> spawn_failures_;
  bool no_way_back_ = false;
  Sent activate_ = Sent::written;
  std::optional<int> exit_status_;
  Witness witness_;
};

// ---- functions that look for messages and log lines in a list of actions

// Returns the types of the messages to an agent, in their order.
[[nodiscard]] std::vector<std::string> messages_to(const Actions& actions, Generation generation);
// Returns the first message of this type to the agent of this generation.
template <class Message>
[[nodiscard]] std::optional<Message> message_to(const Actions& actions, Generation generation) {
  for (const Action& action : actions) {
    const auto* send = std::get_if<Send>(&action);
    if (send == nullptr || send->generation != generation) continue;
    if (const auto* message = std::get_if<Message>(&send->message)) return *message;
  }
  return std::nullopt;
}
[[nodiscard]] std::vector<Generation> kills(const Actions& actions);
[[nodiscard]] std::vector<Generation> spawns(const Actions& actions);
[[nodiscard]] int restores(const Actions& actions);
// Returns all log lines as one text.
[[nodiscard]] std::string log_of(const Actions& actions);

// Returns every action that an operator or an agent would notice, each as a line such as "send 1
// stop upgrade 90000 u1 2". Log lines are left out.
[[nodiscard]] std::vector<std::string> summary(const Actions& actions);

}  // namespace upgrader::test
