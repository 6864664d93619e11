#include "tests/adversity/fault/judge.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace fault {
namespace {

constexpr std::size_t columns = 7;

std::string kind_of(const std::string& who) {
  return who.starts_with("child") ? "child" : who;
}

// Returns the stage at which an upgrade by SIGUSR2 failed. Reads the stage from the log, since no
// agent is told the stage of such an upgrade.
std::string stage_in_log(const std::string& log) {
  constexpr const char* told[][2] = {{"(upgrade) refused", "refused"},
                                     {"was refused", "request"},
                                     {"could not start its candidate", "spawn"},
                                     {"failed at its start", "start"},
                                     {"could not be committed", "commit"},
                                     {"failed on trial", "trial"},
                                     {"failed at the stop", "stop"}};
  for (const auto& [words, stage] : told) {
    if (log.find(words) != std::string::npos) return stage;
  }
  return "";
}

// Returns the stage of a failed upgrade as "(STAGE)", or as "(STAGE ERROR)" if the report or the
// log names the injected error.
std::string stage_in_words(const Fault& fault, const Report& report) {
  const std::string error = error_name(fault.error());
  std::string stage = report.stage;
  bool told = report.error == error;
  if (stage.empty()) {
    stage = stage_in_log(report.log);
    told = report.log.find("(" + error + ")") != std::string::npos;
  }
  if (stage.empty()) return "";
  if (told) stage.append(" ").append(error);
  return stage.insert(0, 1, '(') + ")";
}

std::string served_outcome(const Fault& fault, const Report& report) {
  if (report.served != 0 && report.served == report.active_at_fault) {
    const std::string stage = stage_in_words(fault, report);
    // The agent that was active when the fault struck is still active at the end. If an upgrade was
    // committed and none has failed, this agent is the new version: the fault struck after its
    // activation.
    const bool committed = report.at_goal.find(" committed") != std::string::npos;
    return stage.empty() && committed ? "moved" : "kept" + stage;
  }
  return report.served_is_fallback ? "back" + stage_in_words(fault, report) : "moved";
}

// Returns whether the outcome is one that an entry of the table expects. For example, these entries
// expect that an upgrade fails and that the same agent stays active:
// * `kept(commit)`: the upgrade fails at the stage `commit`, and the failure names the injected
//   error.
// * `kept[commit]`: the upgrade fails at this stage, and the failure names any error or none.
// * `kept`: the upgrade fails at any stage or at an unknown stage, and the failure names any error
//   or none.
// * `boot:kept`: like `kept`, but only in the play `boot`.
bool matches(std::string expected, const std::string& outcome, const Fault& fault) {
  if (const std::size_t colon = expected.find(':'); colon != std::string::npos) {
    if (expected.substr(0, colon) != fault.play) return false;
    expected.erase(0, colon + 1);
  }
  if (expected == "any-way") {
    return outcome == "usual" || outcome == "moved" || outcome == "exit125" ||
           outcome.starts_with("back");
  }
  if (expected == outcome) return true;
  const std::size_t bracket = expected.find_first_of("([");
  if (bracket == std::string::npos) return outcome.starts_with(expected + "(");
  const std::string verb = expected.substr(0, bracket);
  if (!outcome.starts_with(verb + "(")) return false;
  const std::string error = error_name(fault.error());
  const std::string stage = expected.substr(bracket + 1, expected.size() - bracket - 2);
  if (outcome == verb + "(" + stage + " " + error + ")") return true;
  // If an operator's request is refused, its answer in status.json names the reason, but no stage
  // of the upgrade. So the outcome has the word `refused` in place of a stage.
  if (outcome == verb + "(refused " + error + ")") return true;
  if (expected[bracket] == '[' && outcome.starts_with(verb + "(refused")) return true;
  return expected[bracket] == '[' && outcome.starts_with(verb + "(" + stage);
}

bool costs_a_line(const Fault& fault) {
  if (fault.kills() || fault.lasts() || fault.is_repeated()) return false;
  const bool writes = fault.call == "write.log" || fault.call == "sendto.log";
  return fault.call == "poll" || (writes && fault.what != "EINTR");
}

}  // namespace

std::string outcome_of(const Fault& fault, const Report& report, const Report& baseline) {
  if (WIFSIGNALED(report.status)) {
    const int number = WTERMSIG(report.status);
    if (number == SIGABRT) return "abort";
    return number == SIGKILL && fault.kills() ? "killed" : "signal" + std::to_string(number);
  }
  const std::string exit = "exit" + std::to_string(WEXITSTATUS(report.status));
  const int wanted = report.end_signal == SIGQUIT ? 128 + SIGQUIT : 0;
  if (report.end_signal == 0 || WEXITSTATUS(report.status) != wanted) return exit;
  const bool as_usual =
      report.at_goal == baseline.at_goal && (report.probed || report.at_end == baseline.at_end);
  if (report.deaf && report.served != 0) return "deaf";
  if (as_usual) return "usual";
  if (report.at_goal == baseline.at_goal) return exit;
  return served_outcome(fault, report);
}

Expectations::Expectations(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + " cannot be read");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> cells = split(line, '|');
    if (cells.size() != columns) throw std::runtime_error(path + ": malformed: " + line);
    Row row{.who = cells[0], .call = cells[1], .errors = split(cells[2], ' '), .expected = {}};
    for (std::size_t phase = 0; phase < 4; ++phase)
      row.expected[phase] = split(cells[3 + phase], ' ');
    rows_.push_back(std::move(row));
  }
}

const Expectations::Row* Expectations::find(const std::string& who, const std::string& call,
                                            const std::string& error) const {
  for (const Row& row : rows_) {
    const bool named = row.who == kind_of(who) && (row.call == call || row.call == "*");
    if (named && std::find(row.errors.begin(), row.errors.end(), error) != row.errors.end()) {
      return &row;
    }
  }
  return nullptr;
}

std::vector<std::string> Expectations::errors_of(const Call& call) const {
  std::vector<std::string> errors;
  bool known = false;
  for (const Row& row : rows_) {
    if (row.who != kind_of(call.who) || (row.call != call.name && row.call != "*")) continue;
    known = known || row.call == call.name;
    for (const std::string& error : row.errors) {
      // ECHILD is injected only into a wait4() that has reaped a child. After ECHILD from any other
      // wait4(), the upgrader would believe that a living child is gone.
      const bool lie = call.name == "wait4" && error == "ECHILD" && call.result <= 0;
      if (error != "none" && !lie) errors.push_back(error);
    }
  }
  if (!known) throw std::runtime_error("no row for " + call.who + " " + call.name);
  return errors;
}

std::string Expectations::why_not(const Fault& fault, Phase phase,
                                  const std::string& outcome) const {
  const Row* row = find(fault.who, fault.call, fault.what);
  if (row == nullptr) return "nothing is expected of it";
  const std::vector<std::string>& expected = row->expected[static_cast<int>(phase)];
  std::string all;
  for (const std::string& one : expected) {
    if (matches(one, outcome, fault)) return "";
    all += (all.empty() ? "" : " or ") + one;
  }
  return outcome + " in phase " + phase_names[static_cast<int>(phase)] + ", where " + all +
         " is expected";
}

std::vector<std::string> wrongs_of(const Fault& fault, const Report& report, const Report& baseline,
                                   const Expectations& expectations) {
  if (!report.fired) return {"it did not fire"};
  std::vector<std::string> wrongs = report.violations;
  const std::string why =
      expectations.why_not(fault, report.phase, outcome_of(fault, report, baseline));
  if (!why.empty()) wrongs.push_back(why);
  // Some faults (costs_a_line()) make the upgrader lose a line of its log. If it committed one more
  // upgrade at the end of the run (`probed`), it could write to its log again, and must have logged
  // that one line was lost.
  const bool told = report.log.find("1 line of this log lost") != std::string::npos;
  if (report.probed && costs_a_line(fault) && !told) wrongs.push_back("the lost line is not told");
  if (report.deaf && report.log.find("no requests are taken") == std::string::npos) {
    wrongs.push_back("that no requests are taken is not told");
  }
  if (fault.call == "kill" && !fault.kills() &&
      report.log.find("cannot send it signal") == std::string::npos) {
    wrongs.push_back("the signal that was not let through is not told");
  }
  return wrongs;
}

}  // namespace fault
