// Judges the end of a run: the agents see the end of their input and exit, no process is left
// behind, AGENT's link leads to a complete program file, and init can start the upgrader again. See
// run.h.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "tests/adversity/fault/run.h"
#include "tests/adversity/fuzz/second_json.h"
#include "tests/together/integration/process_table.h"
#include "tests/together/integration/puppet_rules.h"

namespace fault {
namespace {

// The time limit for waits at the end of a run, long enough even for an overloaded machine.
constexpr auto end_patience = std::chrono::seconds(30);

constexpr int news_levels_max = 32;

}  // namespace

void Run::look_at_the_end() {
  report_.status = tracer_->status();
  report_.fired = tracer_->fired();
  report_.phase = tracer_->fault_phase();
  report_.active_at_fault = tracer_->active_at_fault();
  report_.calls = tracer_->calls();
  const bool orderly = WIFEXITED(report_.status);
  if (orderly) judge_leftovers();
  while (tracer_->has_child() && std::chrono::steady_clock::now() < deadline_ + end_patience) {
    if (!tracer_->take_stops()) pump(1);
  }
  await_agents();
  report_.at_end = story();
  if (play_.log == LogKind::file) report_.log = integration::read_file(path("log"));
  judge_files();
  if (play_.has("--control=")) judge_news();
  const bool as_it_was_told = orderly && report_.end_signal != 0;
  if (!as_it_was_told) start_again();
  if (setting_.shows) printf("---- its log\n%s----\n", report_.log.c_str());
  const std::string violations = integration::read_file(path("violations"));
  if (!violations.empty()) violation("an agent says: " + violations);
  for (const pid_t child : integration::children_of(getpid())) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, __WALL);
  }
}

// Checks that the upgrader has reaped all its children before its exit.
void Run::judge_leftovers() {
  for (const pid_t child : integration::children_of(getpid())) {
    violation("process " + std::to_string(child) + " is left behind");
  }
  for (const auto& [orphan, status] : tracer_->others()) {
    violation("process " + std::to_string(orphan) + " was left behind, unreaped");
  }
}

// Waits until every agent that is still alive has seen the end of its input.
void Run::await_agents() {
  const auto deadline = std::chrono::steady_clock::now() + end_patience;
  const auto knows = [](const Agent& agent) { return agent.ended || agent.end_of_input; };
  while (!std::all_of(agents_.begin(), agents_.end(), knows)) {
    tracer_->take_stops();
    if (std::chrono::steady_clock::now() > deadline) break;
    pump(1);
  }
  for (const Agent& agent : agents_) {
    if (!knows(agent)) {
      violation("agent " + std::to_string(agent.number) + " does not see the end of its input");
    }
  }
}

// Checks that AGENT's link leads to a complete program file. If the upgrader still worked at the
// end, this must be the program that was committed last.
void Run::judge_files() {
  if (!play_.link) return;
  std::error_code error;
  const std::string target = std::filesystem::canonical(path("current"), error);
  if (error || integration::read_file(target) != integration::read_file(setting_.puppet)) {
    violation("the link leads to no whole program: " + target);
  }
  if (play_.has("--previous=")) judge_previous(target);
  if (report_.at_goal.empty()) return;
  const bool committed = report_.probed || report_.at_goal.find(" committed") != std::string::npos;
  const bool put_back = report_.log.find("cannot put the link") == std::string::npos;
  if (put_back && target != path(committed ? "two" : "one")) {
    violation("the link leads to " + target + ", which was not committed last");
  }
}

// Checks the link of --previous. The first agent runs the program `one`, and the upgrade is to
// `two`. If AGENT's link names `two`, the upgrade was committed, and the link of --previous must
// name `one`. `named` is the program that AGENT's link names.
void Run::judge_previous(const std::string& named) {
  std::error_code error;
  const std::string target = std::filesystem::canonical(path("previous"), error);
  // If the first agent was never active, the link of --previous must be unchanged: only an upgrade
  // moves this link, and no upgrade begins before the first agent is active.
  const bool moved = report_.at_end.find("first welcome activate") != std::string::npos;
  if (!play_.previous.empty() && !moved) {
    if (target != path(play_.previous)) violation("the link of --previous leads to " + target);
  } else if (named == path("two") && target != path("one")) {
    violation("two is committed, and there is no way back to one");
  } else if (!error && target != path("one")) {
    violation("the link of --previous leads to " + target + ", which was never committed");
  }
}

// Checks status.json and the answers in it. The file must be complete, must describe the upgrader's
// end correctly, and must have an answer to every request.
void Run::judge_news() {
  const std::string news = integration::read_file(path("control/status.json"));
  const bool lacks_some = report_.log.find("/status.json: ") != std::string::npos;
  const auto said = fuzz::read_json(news, news_levels_max);
  if (!news.empty() && !said) return violation("status.json is not whole: " + news);
  if (!WIFEXITED(report_.status) || lacks_some || news.empty()) return;
  if (news.find("\"ended\":{\"exit_status\"") == std::string::npos) {
    violation("status.json does not say that it has ended: " + news);
  }
  if (report_.at_goal.empty() || report_.deaf || !play_.requests) return;
  for (int count = 1; count <= static_cast<int>(asked_); ++count) {
    const std::string answer = "{\"request\":\"r" + std::to_string(count) + "\"";
    if (news.find(answer) == std::string::npos) violation("no answer stands for " + answer);
  }
}

// Starts the upgrader again, as init would. With --lock, the new upgrader is started immediately,
// and must wait as long as an old agent holds the lock. Without --lock, the agents of the old
// upgrader could still be active beside the new agents, so the test ends the old agents first.
void Run::start_again() {
  const bool locked = play_.has("--lock=");
  const std::string log = path("log.again");
  const auto deadline = std::chrono::steady_clock::now() + end_patience;
  const auto some_live = [&] {
    return std::any_of(agents_.begin(), agents_.end(), [](const Agent& one) { return !one.ended; });
  };
  pid_t upgrader = -1;
  if (locked) {
    upgrader = start_upgrader(false, log);
    while (some_live() && std::chrono::steady_clock::now() < deadline &&
           integration::read_file(log).find("waiting for") == std::string::npos) {
      tracer_->take_stops();
      pump(1);
    }
  }
  for (Agent& agent : agents_) {
    if (!agent.ended) end_agent(agent, "exit 0");
  }
  tracer_->take_stops();
  if (!locked) upgrader = start_upgrader(false, log);
  play_again(upgrader, log);
}

// Checks that the upgrader that was started again activates an agent, and ends on SIGTERM.
void Run::play_again(pid_t upgrader, const std::string& log) {
  const std::size_t before = agents_.size();
  const auto deadline = std::chrono::steady_clock::now() + end_patience;
  bool told = false;
  for (; !tracer_->others().contains(upgrader); tracer_->take_stops()) {
    if (std::chrono::steady_clock::now() > deadline) kill(upgrader, SIGKILL);
    pump(1);
    for (std::size_t index = before; index < agents_.size(); ++index) {
      Agent& agent = agents_[index];
      if (agent.ended) continue;
      if (!agent.steps.empty()) take_step(agent);
      if (agent.lines.empty()) continue;
      const std::string type(puppet::type_of(agent.lines.front()));
      agent.lines.pop_front();
      react_well(agent, type);
      if (type == "activate") told = kill(upgrader, SIGTERM) == 0;
    }
  }
  const int status = tracer_->others().at(upgrader);
  if (told && WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  violation("started again, the upgrader does not serve: status " + std::to_string(status) + ": " +
            integration::read_file(log));
}

}  // namespace fault
