// This file searches a list of the supervisor's actions: for messages to an agent, for other orders
// such as the start of a program, and for log lines. bench.h declares the functions.
#include "agent-protocol/cpp/wire/codec.h"
#include "agent-protocol/cpp/wire/message.h"
#include "tests/support/bench.h"

namespace upgrader::test {
namespace {

using namespace agent_protocol;

std::string name_of(StopReason reason) {
  switch (reason) {
    case StopReason::upgrade:
      return "upgrade";
    case StopReason::rollback:
      return "rollback";
    case StopReason::shutdown:
      return "shutdown";
  }
  return "";
}

std::string name_of(Role role) {
  switch (role) {
    case Role::first:
      return "first";
    case Role::candidate:
      return "candidate";
    case Role::fallback:
      return "fallback";
  }
  return "";
}

std::string name_of(Stage stage) {
  switch (stage) {
    case Stage::request:
      return "request";
    case Stage::spawn:
      return "spawn";
    case Stage::start:
      return "start";
    case Stage::confirm:
      return "confirm";
    case Stage::cancel:
      return "cancel";
    case Stage::stop:
      return "stop";
    case Stage::trial:
      return "trial";
    case Stage::commit:
      return "commit";
    case Stage::shutdown:
      return "shutdown";
    case Stage::boot:
      return "boot";
  }
  return "";
}

std::string in_short(const Failure& failure) {
  std::string text = failure.id + " " + name_of(failure.stage);
  if (failure.exit_status) text += " status=" + std::to_string(*failure.exit_status);
  if (failure.signal) text += " signal=" + std::to_string(*failure.signal);
  if (failure.errno_name) text += " " + *failure.errno_name;
  return text;
}

std::string detail(const Welcome& welcome) {
  std::string text = name_of(welcome.role);
  for (const std::string& feature : welcome.features)
    text += " with " + feature;
  if (welcome.previous_version) text += " previous=" + *welcome.previous_version;
  if (welcome.watchdog_ms) text += " watchdog=" + std::to_string(*welcome.watchdog_ms);
  if (welcome.failure) text += " failure: " + in_short(welcome.failure->failure);
  return text;
}
std::string detail(const Activate& activate) {
  std::string text = activate.clean ? "clean" : "unclean";
  if (activate.state) text += " state=" + *activate.state;
  if (activate.failure) text += " failure: " + in_short(activate.failure->failure);
  if (activate.trial_ms) text += " trial=" + std::to_string(*activate.trial_ms);
  if (activate.commit) text += " commit=" + std::string(agent_protocol::name_of(*activate.commit));
  return text;
}
std::string detail(const Stop& stop) {
  std::string text = name_of(stop.reason) + " " + std::to_string(stop.deadline_ms);
  if (stop.id) text += " " + *stop.id + " " + std::to_string(*stop.generation);
  return text;
}
std::string detail(const Accepted& accepted) {
  return accepted.id + " " + std::to_string(accepted.generation);
}
std::string detail(const CandidateReady& ready) {
  return ready.id + " " + std::to_string(ready.generation);
}
std::string detail(const CandidateLost& lost) {
  return lost.id;
}
std::string detail(const UpgradeFailed& failed) {
  return in_short(failed.failure);
}
std::string detail(const Committed& committed) {
  return committed.id + " " + std::to_string(committed.generation);
}
std::string detail(const agent_protocol::Error& error) {
  return error.about.value_or("");
}

std::string line_for(const Check& check) {
  return "check " + check.executable.value_or("(command line)");
}
std::string line_for(const Spawn& spawn) {
  return "spawn " + std::to_string(spawn.generation);
}
std::string line_for(const Send& send) {
  return "send " + std::to_string(send.generation) + " " + std::string(type_name(send.message)) +
         " " + std::visit([](const auto& message) { return detail(message); }, send.message);
}
std::string line_for(const CloseInput& close) {
  return "close input of " + std::to_string(close.generation);
}
std::string line_for(const Kill& kill) {
  return "kill " + std::to_string(kill.generation);
}
std::string line_for(const Terminate& terminate) {
  return "terminate " + std::to_string(terminate.generation);
}
std::string line_for(const PassSignal& pass) {
  return "pass " + std::to_string(pass.generation) + " signal " + std::to_string(pass.signal);
}
std::string line_for(const ProveRelink&) {
  return "prove relink";
}
std::string line_for(const Relink& relink) {
  return relink.moves_previous ? "relink" : "relink, and leave the previous link";
}
std::string line_for(const FindWayBack&) {
  return "find way back";
}
std::string line_for(const ForgetAttempts&) {
  return "forget attempts";
}
std::string line_for(const PutLinkBack&) {
  return "put link back";
}
std::string line_for(const RestoreLink&) {
  return "restore link";
}
std::string line_for(const Log&) {
  return "";
}
std::string line_for(const Notice&) {
  return "";
}
std::string line_for(const Answer& answer) {
  return "answer " + answer.name + " " + (answer.refusal.empty() ? "ok" : "refused");
}
std::string line_for(const RecordEnding& ending) {
  return "ending " + std::string(name_of(ending.outcome)) +
         (ending.failure ? " " + in_short(*ending.failure) : std::string());
}
std::string line_for(const Exit& exit) {
  return "exit " + std::to_string(exit.status);
}

}  // namespace

std::vector<std::string> messages_to(const Actions& actions, Generation generation) {
  std::vector<std::string> types;
  for (const Action& action : actions) {
    const auto* send = std::get_if<Send>(&action);
    if (send != nullptr && send->generation == generation) {
      types.emplace_back(type_name(send->message));
    }
  }
  return types;
}

std::vector<Generation> kills(const Actions& actions) {
  std::vector<Generation> killed;
  for (const Action& action : actions) {
    if (const auto* kill = std::get_if<Kill>(&action)) killed.push_back(kill->generation);
  }
  return killed;
}

std::vector<Generation> spawns(const Actions& actions) {
  std::vector<Generation> spawned;
  for (const Action& action : actions) {
    if (const auto* spawn = std::get_if<Spawn>(&action)) spawned.push_back(spawn->generation);
  }
  return spawned;
}

int restores(const Actions& actions) {
  int count = 0;
  for (const Action& action : actions) {
    if (std::holds_alternative<RestoreLink>(action)) ++count;
  }
  return count;
}

std::string log_of(const Actions& actions) {
  std::string text;
  for (const Action& action : actions) {
    if (const auto* line = std::get_if<Log>(&action)) text += line->text + "\n";
    if (const auto* notice = std::get_if<Notice>(&action)) text += notice->text + "\n";
  }
  return text;
}

std::vector<std::string> summary(const Actions& actions) {
  std::vector<std::string> lines;
  for (const Action& action : actions) {
    std::string line = std::visit([](const auto& any) { return line_for(any); }, action);
    while (!line.empty() && line.back() == ' ')
      line.pop_back();
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

}  // namespace upgrader::test
