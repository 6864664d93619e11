#include "tests/support/scenario.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string_view>
#include <utility>

#include "tests/support/bench.h"
#include "tests/support/every_event.h"
#include "tests/support/source_directory.h"
#include "upgrader/core/options.h"

namespace upgrader::test {
namespace {

using namespace agent_protocol;
using Words = std::vector<std::string>;

Words words_of(const std::string& line) {
  std::istringstream stream(line);
  Words words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  return words;
}

std::string rest_of(const Words& words, std::size_t from) {
  std::string text;
  for (std::size_t i = from; i < words.size(); ++i)
    text += (i > from ? " " : "") + words[i];
  return text;
}

std::optional<std::string> optional_rest(const Words& words, std::size_t from) {
  if (words.size() <= from) return std::nullopt;
  return rest_of(words, from);
}

// Parses a line such as "options --trial=0 --relink". The options are those of the upgrader's
// command line.
std::optional<Policy> policy_of(const Words& words) {
  std::vector<const char*> argv{"upgrader"};
  for (std::size_t i = 1; i < words.size(); ++i)
    argv.push_back(words[i].c_str());
  argv.push_back("agent");
  const CommandLine line = parse_command_line(static_cast<int>(argv.size()), argv.data());
  const auto* options = std::get_if<Options>(&line);
  if (options == nullptr) return std::nullopt;
  return policy_of(*options, Duration::zero());
}

// Parses the words of a request for an upgrade, such as "1 upgrade u1 sequential confirm healthy
// continue trial=0 start=5000 stop=100 gate=100".
Upgrade upgrade_of(const Words& words) {
  Upgrade upgrade{.id = words.size() > 2 ? words[2] : "u1", .executable = "/opt/agent-v2"};
  for (std::size_t i = 3; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto number = [&] { return std::stoll(word.substr(word.find('=') + 1)); };
    if (word == "parallel") upgrade.mode = Mode::parallel;
    if (word == "sequential") upgrade.mode = Mode::sequential;
    if (word == "confirm") upgrade.gate = Gate::confirm;
    if (word == "healthy") upgrade.commit = CommitRule::healthy;
    if (word == "fallback") upgrade.on_unclean_stop = UncleanStop::fall_back;
    if (word == "cold") upgrade.fallback = FallbackMode::cold;
    if (word == "warm") upgrade.fallback = FallbackMode::warm;
    if (word == "continue") upgrade.on_unclean_stop = UncleanStop::carry_on;
    if (word.rfind("trial=", 0) == 0) upgrade.trial_ms = number();
    if (word.rfind("start=", 0) == 0) upgrade.start_timeout_ms = number();
    if (word.rfind("stop=", 0) == 0) upgrade.stop_timeout_ms = number();
    if (word.rfind("gate=", 0) == 0) upgrade.confirm_timeout_ms = number();
  }
  return upgrade;
}

// Parses an operator's request, such as "control upgrade u1 agent", "control cancel u1 why not" or
// "control shutdown".
std::optional<Event> control_event_of(const Words& words) {
  if (words.size() < 2) return std::nullopt;
  for (const Deed deed :
       {Deed::upgrade, Deed::confirm, Deed::cancel, Deed::commit, Deed::rollback, Deed::shutdown}) {
    if (name_of(deed) != words[1]) continue;
    ControlRequest request{.deed = deed, .name = "r1", .upgrade = {}, .reason = {}};
    if (deed == Deed::upgrade) {
      request.upgrade = upgrade_of(words);
      if (words.size() > 3 && words[3] == "agent") request.upgrade.executable.clear();
    } else if (words.size() > 2) {
      request.upgrade.id = words[2];
      request.reason = optional_rest(words, 3);
    }
    return ControlRequested{std::move(request)};
  }
  return std::nullopt;
}

std::optional<AgentMessage> message_of(const Words& words) {
  const std::string& type = words[1];
  if (type == "hello") return Hello{protocol_version, optional_rest(words, 2), {}};
  if (type == "hello-readiness") {
    return Hello{protocol_version, optional_rest(words, 2), {"readiness"}};
  }
  if (type == "ready") return Ready{};
  if (type == "unfit") return Unfit{rest_of(words, 2)};
  if (type == "upgrade") return upgrade_of(words);
  if (type == "confirm") return Confirm{rest_of(words, 2)};
  if (type == "cancel") return Cancel{rest_of(words, 2), std::nullopt};
  if (type == "stopped") return Stopped{optional_rest(words, 2)};
  if (type == "healthy") return Healthy{};
  if (type == "extend") return Extend{std::stoll(rest_of(words, 2))};
  if (type == "heartbeat") return Heartbeat{};
  if (type == "status") return Status{rest_of(words, 2)};
  return std::nullopt;
}

std::optional<Event> event_of(const Words& words) {
  const Generation generation = std::atoll(words[0].c_str());
  const std::string deed = rest_of(words, 1);
  if (words.size() == 4 && words[1] == "exits" && words[2] == "signal") {
    return ProcessExited{generation, {Ending::How::signalled, std::stoi(words[3])}};
  }
  if (words.size() == 3 && words[1] == "exits") {
    return ProcessExited{generation, {Ending::How::exited, std::stoi(words[2])}};
  }
  if (deed == "closes output") return OutputClosed{generation};
  if (deed == "closes input") return InputClosed{generation};
  if (deed == "takes activate") return ActivateWritten{generation};
  if (words[1] == "stray") return StrayReceived{generation, rest_of(words, 2)};
  if (words[1] == "unknown") return MessageRefused{generation, Unknown{rest_of(words, 2)}};
  if (words[1] == "malformed" && words.size() > 2) {
    return MessageRefused{generation, Malformed{words[2], "malformed", optional_rest(words, 3)}};
  }
  const bool last = words[1] == "last-word" && words.size() > 2;
  const Words spoken = last ? Words(words.begin() + 1, words.end()) : words;
  if (auto message = message_of(spoken)) return MessageReceived{generation, *message, last};
  return std::nullopt;
}

Duration duration_of(const std::string& text) {
  const long long number = std::stoll(text);
  if (text.ends_with("ms")) return Duration(number);
  if (text.ends_with("m")) return std::chrono::minutes(number);
  return std::chrono::seconds(number);
}

constexpr std::string_view heading = "## ";

// The parts of a file of scenarios: the text at its head, and then its scenarios, in the order of
// the file.
struct Parts {
  std::string head;  // the text before the first scenario
  std::vector<std::pair<std::string, std::string>> scenarios;
};

Parts read_parts(const std::filesystem::path& path) {
  Parts parts;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(heading)) {
      parts.scenarios.emplace_back(line.substr(heading.size()), "");
    } else {
      (parts.scenarios.empty() ? parts.head : parts.scenarios.back().second) += line + "\n";
    }
  }
  return parts;
}

void add(Scenarios& scenarios, const std::string& name, const std::string& text) {
  if (scenarios.emplace(name, text).second) return;
  std::cerr << "two scenarios are called " << name << "\n";
  std::abort();
}

class Player {
 public:
  void play_line(const std::string& line) {
    const Words words = words_of(line);
    outcome_.text += line + "\n";
    if (words.empty() || line[0] == '#') return;
    if (words[0] == "options") return take_options(words);
    if (words[0] == "watchdog" && words.size() == 2) return take_watchdog(words[1]);
    if (words[0] == "next") return prepare(words);
    answer(actions_for(words, line));
  }

  ScenarioOutcome finish() {
    outcome_.phase = std::string(name_of(bench_.phase()));
    outcome_.active = bench_.active() ? std::to_string(bench_.active()) : "-";
    if (bench_.exit_status()) outcome_.active = "exit " + std::to_string(*bench_.exit_status());
    if (outcome_.told.empty()) outcome_.told = "-";
    return std::move(outcome_);
  }

 private:
  void take_options(const Words& words) {
    const std::optional<Policy> policy = policy_of(words);
    if (!policy) return outcome_.mistakes.push_back(rest_of(words, 0));
    policy_ = *policy;
    bench_ = Bench(policy_);
  }

  void take_watchdog(const std::string& time) {
    policy_.watchdog = duration_of(time);
    bench_ = Bench(policy_);
  }

  // Executes a line that determines the outcome of the next order of one kind. For example, after
  // the line "next check fails ENOENT", the next check of a program fails with ENOENT.
  void prepare(const Words& words) {
    const std::string deed = rest_of(words, 1);
    if (words.size() == 4 && words[1] == "check") return bench_.next_check_fails(words[3]);
    if (words.size() == 4 && words[1] == "spawn") return bench_.next_spawn_fails(words[3]);
    if (words.size() == 4 && words[1] == "proof") return bench_.next_proof_fails(words[3]);
    if (words.size() == 5 && deed.starts_with("link back fails "))
      return bench_.next_link_back_fails(words[4]);
    if (words.size() == 4 && words[1] == "relink") return bench_.next_relink_fails(words[3]);
    if (deed == "boot has no way back") return bench_.next_boot_has_no_way_back();
    if (deed == "way back is gone") return bench_.next_way_back_is_gone();
    if (deed == "activate waits") return bench_.next_activate(Sent::waits);
    if (deed == "activate is lost") return bench_.next_activate(Sent::lost);
    outcome_.mistakes.push_back(rest_of(words, 0));
  }

  Actions actions_for(const Words& words, const std::string& line) {
    static const std::map<std::string, Event> plain{{"sigterm", StopRequested{}},
                                                    {"sigquit", QuitRequested{}},
                                                    {"sigusr2", UpgradeRequested{}},
                                                    {"sighup", SignalReceived{SIGHUP}},
                                                    {"sigusr1", SignalReceived{SIGUSR1}}};
    if (words[0] == "start" && words.size() > 1) {
      const std::vector<NamedEvent> starts = every_start_at_boot();
      return bench_.take(starts[words[1] == "exhausted" ? 0 : 1].event);
    }
    if (words[0] == "start") return bench_.start();
    if (words[0] == "wait" && words.size() == 2) return bench_.wait(duration_of(words[1]));
    if (words[0] == "freeze" && words.size() == 2) return bench_.freeze(duration_of(words[1]));
    if (const auto found = plain.find(words[0]); found != plain.end()) {
      return bench_.take(found->second);
    }
    if (words[0] == "control") {
      if (const std::optional<Event> event = control_event_of(words)) return bench_.take(*event);
    } else if (words.size() > 1) {
      if (const std::optional<Event> event = event_of(words)) return bench_.take(*event);
    }
    outcome_.mistakes.push_back(line);
    return {};
  }

  void answer(const Actions& actions) {
    for (const std::string& line : summary(actions))
      outcome_.text += "> " + line + "\n";
    outcome_.text += "= " + std::string(name_of(bench_.phase())) + "\n";
    for (const std::string& line : summary(actions))
      note_ending(line);
    for (const Action& action : actions)
      note_log(action);
  }

  void note_log(const Action& action) {
    static const std::string loudness[]{"error", "warning", "info", "debug"};
    static const std::string kinds[]{"stray", "status", "error", "refusal", "request"};
    if (const auto* line = std::get_if<Log>(&action)) {
      outcome_.log += loudness[static_cast<int>(line->level)] + ": " + line->text + "\n";
    } else if (const auto* notice = std::get_if<Notice>(&action)) {
      outcome_.log += kinds[static_cast<int>(notice->kind)] + " notice of " +
                      std::to_string(notice->generation) + ": " + notice->text + "\n";
    }
  }

  void note_ending(const std::string& line) {
    const Words words = words_of(line);
    if (words[0] != "send") return;
    const std::string to = " to " + words[1];
    if (words[2] == "committed") outcome_.told = "committed" + to;
    if (words[2] == "upgrade_failed") outcome_.told = "upgrade_failed " + words[4] + to;
    const auto failure = std::find(words.begin(), words.end(), "failure:");
    if (failure != words.end()) outcome_.told = "failure " + *(failure + 2) + to;
  }

  Policy policy_ = Bench::default_policy();
  Bench bench_;
  ScenarioOutcome outcome_;
};

}  // namespace

std::vector<std::filesystem::path> scenario_files() {
  std::vector<std::filesystem::path> files;
  const std::filesystem::path directory = source_directory() + "/tests/decisions/scenario";
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  return files;
}

Scenarios scenarios_in(const std::filesystem::path& file) {
  Scenarios scenarios;
  for (const auto& [name, text] : read_parts(file).scenarios)
    add(scenarios, name, text);
  return scenarios;
}

Scenarios all_scenarios() {
  Scenarios scenarios;
  for (const std::filesystem::path& file : scenario_files()) {
    for (const auto& [name, text] : scenarios_in(file))
      add(scenarios, name, text);
  }
  return scenarios;
}

void rewrite_scenarios(const std::filesystem::path& file, const Scenarios& texts) {
  const Parts parts = read_parts(file);
  std::ofstream out(file);
  out << parts.head;
  for (const auto& [name, text] : parts.scenarios)
    out << heading << name << "\n" << texts.at(name);
}

ScenarioOutcome play(const std::string& scenario) {
  Player player;
  std::istringstream lines(scenario);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("> ", 0) != 0 && line.rfind("= ", 0) != 0) player.play_line(line);
  }
  return player.finish();
}

}  // namespace upgrader::test
