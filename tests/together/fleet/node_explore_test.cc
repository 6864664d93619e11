// Tests every possible order of events at one node. The node gets the commands to prepare, apply
// and confirm a release, or to go back. fleet-agent may be killed between any two of its actions,
// answers of the store may get lost, the new version may die, and a person may write the record
// `stop`. The node must answer each command, carry out no command twice, and ask the store before
// it carries out a command.
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fleet/model/agent/node_commander.h"
#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "tests/together/fleet/long_run.h"
#include "tests/together/fleet/test_store.h"
#include "tests/together/fleet/walk.h"

namespace node_explore_test {

namespace {

using namespace fleet;
using namespace fleet_test;

// ---- the simulated node and its surroundings

// A bug that is injected into fleet-agent's actions. The checks of the exploration must find this
// bug.
enum class NodeSeeded { none, acts_before_save, reports_before_save, forgets_answers, no_question };

struct NodeSetup {
  std::vector<CommandAction> script = {};  // the driver's orders, in sequence
  int kills = 0;
  int unknowns = 0;  // how many answers of the store may get lost
  int stops = 0;
  bool may_fail = false;  // the new version may die during its trial
  // If true, the old version stops slowly, and the upgrade cannot be cancelled meanwhile.
  bool hands_over = false;
  // How often the driver may abort the rollout. If the driver aborts, it gives the last command of
  // the script before the node has answered `apply`.
  int aborts = 0;
  NodeSeeded seeded = NodeSeeded::none;
};

// One node and its surroundings as a single value: a disk, an upgrader, a fleet-agent, and a store
// with a driver that issues the commands of a rollout. An exploration copies this value, and makes
// one step at a time with each copy. fleet-agent may be killed between any two of its actions.
class NodeWorld {
 public:
  explicit NodeWorld(const NodeSetup& setup);

  enum class Move {
    perform,  // carries out the next action of fleet-agent
    // Commits fleet-agent's next transaction, but the store's answer is lost.
    perform_unheard,
    // Does not commit fleet-agent's next transaction, and reports its outcome as unknown.
    lose,
    // Kills fleet-agent. The remaining actions of fleet-agent are lost.
    kill,
    hand_over,  // the upgrader tells the old version to stop
    activate,   // the upgrader activates the new version
    fail,
    expire,  // the trial ends
    commit,
    go_back,
    fetched,
    stop,
    let_go,
    abort,
    time_passes,
  };
  [[nodiscard]] std::vector<Move> steps() const;
  void make(Move move);

  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  [[nodiscard]] std::string wrong_end() const;
  [[nodiscard]] std::string result() const;  // the answer to the last command
  // Returns the answer to the last command and the phase of the upgrade, as in `done, done`.
  [[nodiscard]] std::string end() const;
  [[nodiscard]] std::string words() const;

 private:
  void start();
  void tell(const NodeEvent& event);
  void drive();
  void see_command();
  void abort_rollout();
  void activate();
  void lose();
  void put_command(CommandAction action, int attempt);
  void perform(bool heard);
  void perform_store(const Transaction& transaction, bool question, bool heard);
  void end_upgrade(UpgradeEnding ending, bool expired);
  void begin_upgrade(const BeginUpgrade& wanted);
  void judge_report(const Transaction& report);
  void is_wrong(const std::string& what);
  [[nodiscard]] std::optional<Answer> answer() const;
  [[nodiscard]] UpgradePhase upgrade_phase() const;

  NodeSetup setup_;
  TestStore store_;
  NodeLedger disk_;
  std::optional<NodeCommander> agent_;
  std::vector<NodeAction> asked_;
  int instance_ = 0;
  std::size_t at_ = 0;  // the index of the current order in the script
  int attempt_ = 1;
  std::string ordered_;
  bool over_ = false;

  // The following members are the state of the simulated upgrader, which survives a kill of
  // fleet-agent. Only `fetching_` is a state of fleet-agent, and a kill clears it.
  std::map<std::string, int> done_;
  std::string on_trial_;
  bool handing_over_ = false;
  bool activated_ = false;
  bool commits_ = false;
  bool goes_back_ = false;
  std::string ended_;
  UpgradeEnding ending_ = UpgradeEnding::failed;
  bool expired_ = false;
  // The id of the command whose release fleet-agent is fetching now.
  std::string fetching_;
  Ms activated_at_ = 0;

  Ms now_ = 0;
  std::string wrong_;
};

const std::string command_key = key_of(KeyKind::node_command, {"n", "agent"});
const std::string answer_key = key_of(KeyKind::node_answer, {"n", "agent"});
const std::string upgrade_key = key_of(KeyKind::node_upgrade, {"n", "agent"});
const std::string active_key = key_of(KeyKind::node_active, {"n"});

NodeWorld::NodeWorld(const NodeSetup& setup) : setup_(setup) {
  put_command(setup.script.front(), 1);
  start();
}

// Starts fleet-agent, and tells it what the real fleet-agent reads at its start: its ledger (the
// commands that it has begun), the outcome of the last upgrade, the record `active`, and the
// current command.
void NodeWorld::start() {
  ++instance_;
  if (setup_.seeded == NodeSeeded::forgets_answers) disk_ = {};
  asked_.clear();
  fetching_.clear();
  const std::string instance = "i" + std::to_string(instance_);
  agent_.emplace(NodeIdentity{"n", "agent", instance, "boot"}, disk_);
  tell(Restarted{.under_way = on_trial_,
                 .activated_ago = activated_ ? std::optional(now_ - activated_at_) : std::nullopt,
                 .ended = ended_,
                 .ending = ending_,
                 .why = "exited with status 3",
                 .expired = expired_});
  store_.put(active_key, write_record(Active{.instance = instance}));
  tell(ActiveIs{store_.find(active_key)->modified});
  if (const KeyValue* command = store_.find(command_key)) {
    tell(CommandSeen{read_record<Command>(command->value).value(), command->modified});
  }
}

void NodeWorld::tell(const NodeEvent& event) {
  for (NodeAction& action : agent_->step(event, now_))
    asked_.push_back(std::move(action));
}

void NodeWorld::put_command(CommandAction action, int attempt) {
  const std::string id = "t." + std::string(text_of(action)) + "." + std::to_string(attempt);
  attempt_ = attempt;
  ordered_ = id;
  store_.put(command_key, write_record(Command{.id = id,
                                               .action = action,
                                               .version = "2",
                                               .digest = "d",
                                               .not_after_ms = 1'000'000,
                                               .soak_ms = 60'000,
                                               .trace = "t"}));
}

std::optional<Answer> NodeWorld::answer() const {
  const KeyValue* found = store_.find(answer_key);
  if (found == nullptr) return std::nullopt;
  const Answer read = read_record<Answer>(found->value).value();
  return read.command == ordered_ ? std::optional(read) : std::nullopt;
}

UpgradePhase NodeWorld::upgrade_phase() const {
  const KeyValue* found = store_.find(upgrade_key);
  return found == nullptr ? UpgradePhase::unknown
                          : read_record<Upgrade>(found->value).value().phase;
}

std::string NodeWorld::end() const {
  return result() + ", " + std::string(text_of(upgrade_phase()));
}

// Makes the driver give its next order, if the node has answered the previous one. Before a
// `confirm`, the driver also waits until the node reports that the new version has run long enough
// (the phase `soaked`).
void NodeWorld::drive() {
  const std::optional<Answer> last = answer();
  if (over_ || !last) return;
  if (last->result == result_interrupted && attempt_ < 3) {
    // An `apply` must always follow a `prepare`. So if an `apply` was interrupted, the driver
    // orders the `prepare` again first.
    if (setup_.script[at_] == CommandAction::apply) --at_;
    put_command(setup_.script[at_], attempt_ + 1);
  } else if (last->result == result_done && at_ + 1 < setup_.script.size()) {
    const UpgradePhase phase = upgrade_phase();
    if (setup_.script[at_ + 1] == CommandAction::confirm && phase != UpgradePhase::soaked) {
      over_ = phase == UpgradePhase::failed || phase == UpgradePhase::unconfirmed;
      return;
    }
    put_command(setup_.script[++at_], attempt_);
  } else {
    over_ = true;
    return;
  }
  see_command();
}

void NodeWorld::see_command() {
  const KeyValue* command = store_.find(command_key);
  tell(CommandSeen{read_record<Command>(command->value).value(), command->modified});
}

std::vector<NodeWorld::Move> NodeWorld::steps() const {
  std::vector<Move> some;
  if (!asked_.empty()) {
    some.push_back(Move::perform);
    const bool store = std::holds_alternative<Ask>(asked_.front()) ||
                       std::holds_alternative<Report>(asked_.front());
    if (store && setup_.unknowns > 0) {
      some.push_back(Move::perform_unheard);
      some.push_back(Move::lose);
    }
  }
  if (setup_.kills > 0) some.push_back(Move::kill);
  if (!fetching_.empty()) some.push_back(Move::fetched);
  if (!on_trial_.empty() && !activated_) {
    const bool may_work = !setup_.hands_over || handing_over_;
    some.push_back(may_work ? Move::activate : Move::hand_over);
    const bool applies = ordered_.starts_with("t.apply") && !answer();
    if (setup_.aborts > 0 && applies) some.push_back(Move::abort);
  }
  if (!on_trial_.empty() && setup_.may_fail) some.push_back(Move::fail);
  if (commits_) some.push_back(Move::commit);
  if (goes_back_) some.push_back(Move::go_back);
  const bool stopped = store_.find(key_of(KeyKind::stop)) != nullptr;
  if (setup_.stops > 0 && !stopped) some.push_back(Move::stop);
  if (stopped) some.push_back(Move::let_go);
  const bool rests = some.empty() || (some.size() == 1 && some[0] == Move::kill);
  if (rests && agent_->next_deadline()) some.push_back(Move::time_passes);
  return some;
}

void NodeWorld::make(Move move) {
  switch (move) {
    case Move::perform:
      perform(true);
      break;
    case Move::perform_unheard:
      --setup_.unknowns;
      perform(false);
      break;
    case Move::lose:
      lose();
      break;
    case Move::kill:
      --setup_.kills;
      start();
      break;
    case Move::hand_over:
      handing_over_ = true;
      goes_back_ = false;
      break;
    case Move::abort:
      abort_rollout();
      break;
    case Move::activate:
      activate();
      break;
    case Move::fail:
      end_upgrade(UpgradeEnding::failed, false);
      break;
    case Move::expire:
      end_upgrade(UpgradeEnding::rolled_back, true);
      break;
    case Move::commit:
      end_upgrade(UpgradeEnding::committed, false);
      break;
    case Move::go_back:
      end_upgrade(UpgradeEnding::rolled_back, false);
      break;
    case Move::fetched: {
      const std::string id = std::exchange(fetching_, "");
      tell(PrepareEnded{id, ""});
      break;
    }
    case Move::stop:
      --setup_.stops;
      store_.put(key_of(KeyKind::stop), "{}");
      break;
    case Move::let_go:
      store_.erase(key_of(KeyKind::stop));
      tell(StopIsGone{});
      break;
    case Move::time_passes:
      now_ = *agent_->next_deadline();
      tell(NodeTimePassed{});
      break;
  }
  drive();
}

void NodeWorld::abort_rollout() {
  --setup_.aborts;
  at_ = setup_.script.size() - 1;
  put_command(setup_.script[at_], 1);
  see_command();
}

void NodeWorld::activate() {
  activated_ = true;
  activated_at_ = now_;
  tell(UpgradeActivated{on_trial_});
}

void NodeWorld::lose() {
  --setup_.unknowns;
  const bool question = std::holds_alternative<Ask>(asked_.front());
  asked_.erase(asked_.begin());
  question ? tell(AskEnded{Unknown{"lost"}}) : tell(ReportEnded{Unknown{"lost"}});
}

void NodeWorld::perform(bool heard) {
  const NodeAction action = asked_.front();
  asked_.erase(asked_.begin());
  if (const auto* save = std::get_if<Save>(&action)) {
    const bool answers = save->ledger.answers.size() != disk_.answers.size();
    if (setup_.seeded != NodeSeeded::acts_before_save &&
        (setup_.seeded != NodeSeeded::reports_before_save || !answers)) {
      disk_ = save->ledger;
    }
    tell(Saved{});
  } else if (const auto* ask = std::get_if<Ask>(&action)) {
    perform_store(ask->question, true, heard);
  } else if (const auto* report = std::get_if<Report>(&action)) {
    judge_report(report->transaction);
    perform_store(report->transaction, false, heard);
  } else if (const auto* prepare = std::get_if<DoPrepare>(&action)) {
    if (++done_["prepare " + prepare->command.id] > 1) is_wrong("prepared twice");
    fetching_ = prepare->command.id;
  } else if (const auto* begin = std::get_if<BeginUpgrade>(&action)) {
    begin_upgrade(*begin);
  } else if (const auto* commit = std::get_if<SendCommit>(&action)) {
    if (!ordered_.starts_with("t.confirm")) is_wrong("committed without an order");
    if (commit->upgrade == on_trial_) commits_ = true;
  } else if (const auto* back = std::get_if<GoBack>(&action)) {
    const bool is_refused = handing_over_ && !activated_;
    if (back->upgrade == on_trial_ && !is_refused) goes_back_ = true;
  }
}

void NodeWorld::perform_store(const Transaction& transaction, bool question, bool heard) {
  Transaction performed = transaction;
  if (question && setup_.seeded == NodeSeeded::no_question) performed.compares.clear();
  const Outcome outcome = store_.commit(performed);
  if (std::holds_alternative<Denied>(outcome)) is_wrong("denied: " + fleet::words(outcome));
  const bool begins = ordered_.starts_with("t.prepare") || ordered_.starts_with("t.apply");
  const bool stopped = store_.find(key_of(KeyKind::stop)) != nullptr;
  if (question && begins && stopped && std::holds_alternative<Committed>(outcome)) {
    is_wrong(ordered_ + " may begin although there is a stop");
  }
  const Outcome known = heard ? outcome : Outcome{Unknown{"lost"}};
  question ? tell(AskEnded{known}) : tell(ReportEnded{known});
}

void NodeWorld::begin_upgrade(const BeginUpgrade& wanted) {
  const std::string& id = wanted.command.id;
  if (++done_["begin " + id] > 1) is_wrong(id + " was begun twice");
  if (disk_.begun.id != id) is_wrong(id + " was begun before it was on the disk");
  if (wanted.trial_ms != 300'000) is_wrong("a soak of a minute is confirmed within five");
  on_trial_ = id;
  handing_over_ = activated_ = commits_ = goes_back_ = false;
  ended_.clear();
}

void NodeWorld::end_upgrade(UpgradeEnding ending, bool expired) {
  ended_ = std::exchange(on_trial_, "");
  ending_ = ending;
  expired_ = expired;
  handing_over_ = activated_ = commits_ = goes_back_ = false;
  tell(UpgradeEnded{ended_, ending, "exited with status 3", expired});
}

void NodeWorld::judge_report(const Transaction& report) {
  for (const Put& put : report.puts) {
    if (put.key != answer_key) continue;
    const Answer said = read_record<Answer>(put.value).value();
    if (disk_.answer_to(said.command) == nullptr) is_wrong("reported before it was on the disk");
    const bool done = said.result == result_done;
    if (done && said.command.starts_with("t.apply") && !done_.contains("begin " + said.command)) {
      is_wrong("answered done to an apply that was never begun");
    }
    if (done && said.command.starts_with("t.confirm") && ending_ != UpgradeEnding::committed) {
      is_wrong("answered done to a confirm, and nothing was committed");
    }
  }
}

void NodeWorld::is_wrong(const std::string& what) {
  if (wrong_.empty()) wrong_ = what;
}

std::string NodeWorld::result() const {
  const std::optional<Answer> last = answer();
  return last ? last->result : "";
}

std::string NodeWorld::wrong_end() const {
  if (!answer()) return ordered_ + " is never answered";
  if (!over_) return "the driver waits for ever behind " + ordered_;
  if (!on_trial_.empty()) return "an upgrade stays on trial";
  const KeyValue* upgrade = store_.find(upgrade_key);
  const UpgradePhase phase = upgrade == nullptr
                                 ? UpgradePhase::unknown
                                 : read_record<Upgrade>(upgrade->value).value().phase;
  const bool committed = !ended_.empty() && ending_ == UpgradeEnding::committed;
  if (committed != (phase == UpgradePhase::done)) return "what is reported is not so";
  if (committed && ordered_.starts_with("t.rollback") && result() != result_committed) {
    return "a roll-back of what is committed is answered " + result();
  }
  return "";
}

std::string NodeWorld::words() const {
  std::string text;
  for (const auto& [key, record] : store_.all()) {
    text += key + "@" + std::to_string(record.modified) + "=" + record.value + "\n";
  }
  for (const auto& [what, times] : done_)
    text += what + std::to_string(times) + "\n";
  for (const NodeAction& action : asked_) {
    text += "asked " + std::to_string(action.index());
    if (const auto* ask = std::get_if<Ask>(&action)) text += fleet::words(ask->question);
    if (const auto* report = std::get_if<Report>(&action))
      text += fleet::words(report->transaction);
    text += "\n";
  }
  text += "disk " + disk_.begun.id + " " + disk_.upgrade.id + " " + disk_.prepared + " " +
          std::string(text_of(disk_.progress.phase));
  for (const Answer& one : disk_.answers)
    text += " " + one.command + "=" + one.result;
  text += "\nupgrader " + on_trial_ + (handing_over_ ? " hands over" : "") +
          (activated_ ? " active " : " ") +
          (activated_ ? std::to_string(now_ - activated_at_) : "") + (commits_ ? " commits" : "") +
          (goes_back_ ? " back" : "") + " ended " + ended_ + std::to_string(int(ending_)) +
          (expired_ ? " expired" : "") + " fetching " + fetching_ + "\n";
  text += std::to_string(setup_.kills) + std::to_string(setup_.unknowns) +
          std::to_string(setup_.stops) + std::to_string(setup_.aborts) + " at " +
          std::to_string(at_) + "." + std::to_string(attempt_) + (over_ ? " over" : "") + "\n";
  return by_rank(text + agent_->words(now_));
}

// ---- the explorations

using enum CommandAction;

TEST_CASE("a node killed at any step executes each command at most once, and answers it") {
  const Walk all = walk(NodeWorld({.script = {prepare, apply, confirm}, .kills = 2}));
  CHECK(all.wrong == "");
  CHECK(all.states > 300);
  CHECK(all.ends.contains("done, done"));
}

// `all.ends` has a name for the end of each course of events, of the form "ANSWER, PHASE": the
// answer to the last command, and the phase of the upgrade. The only command in this test is to
// prepare a release. No upgrade begins, so the phase is always `unknown`.
//
// Requirements (tests/judging/rows): A-18
TEST_CASE(
    "a node killed at any step of a prepare keeps its version, and ends the prepare at last") {
  const Walk all = walk(NodeWorld({.script = {prepare}, .kills = 3, .unknowns = 1}));
  CHECK(all.wrong == "");
  for (const auto& [end, times] : all.ends) {
    INFO(end);
    CHECK(end.ends_with(", unknown"));
  }
  CHECK(all.ends.contains("done, unknown"));
  // If the third try of the command was interrupted, too, the driver makes no further try.
  CHECK(all.ends.contains("interrupted, unknown"));
}

TEST_CASE("lost answers of the store cost only time") {
  const Walk all =
      walk(NodeWorld({.script = {prepare, apply, confirm}, .kills = 1, .unknowns = 2}));
  CHECK(all.wrong == "");
  CHECK(all.ends.contains("done, done"));
}

TEST_CASE("a version that dies at any moment of its trial is reported as failed") {
  const Walk all =
      walk(NodeWorld({.script = {prepare, apply, confirm}, .kills = 1, .may_fail = true}));
  CHECK(all.wrong == "");
  CHECK(all.ends.contains("exited with status 3, failed"));
  CHECK(all.ends.contains("done, failed"));
}

TEST_CASE("a node that is told to go back does so once, unless it is committed") {
  const Walk all = walk(NodeWorld({.script = {prepare, apply, rollback}, .kills = 2}));
  CHECK(all.wrong == "");
  const Walk late = walk(NodeWorld({.script = {prepare, apply, confirm, rollback}, .kills = 1}));
  CHECK(late.wrong == "");
  CHECK(late.ends.contains("committed, done"));
}

TEST_CASE("a roll-back ordered while the old version stops is carried out, killed or not") {
  const Walk all = walk(NodeWorld(
      {.script = {prepare, apply, rollback}, .kills = 1, .hands_over = true, .aborts = 1}));
  CHECK(all.outcome() == "done, rolled-back");
}

TEST_CASE("a node that is never told to confirm goes back by itself, killed or not") {
  const Walk all = walk(NodeWorld({.script = {prepare, apply}, .kills = 2}));
  CHECK(all.outcome() == "done, unconfirmed");
}

TEST_CASE("a stop at any step holds back commands that begin something") {
  const Walk all =
      walk(NodeWorld({.script = {prepare, apply, confirm}, .kills = 1, .unknowns = 1, .stops = 1}));
  CHECK(all.wrong == "");
  CHECK(all.ends.contains("done, done"));
}

TEST_CASE("canaries: an error seeded in fleet-agent is found") {
  const NodeSeeded seeded = GENERATE(NodeSeeded::acts_before_save, NodeSeeded::reports_before_save,
                                     NodeSeeded::forgets_answers, NodeSeeded::no_question);
  const Walk all = walk(NodeWorld({.script = {prepare, apply, confirm},
                                   .kills = 1,
                                   .unknowns = 1,
                                   .stops = 1,
                                   .seeded = seeded}));
  CHECK(all.wrong != "");
  CHECK(all.wrong != "it may go round for ever");
}

TEST_CASE("the states of nodes that were walked are reported") {
  // If no other test of this program was run, there are no figures to report.
  if (states_walked == 0) return;
  report("make explore-fleet", std::to_string(states_walked) + " states of nodes",
         "every order of events, to a fixpoint, nothing wrong");
}

}  // namespace

}  // namespace node_explore_test
