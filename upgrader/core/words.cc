#include "upgrader/core/words.h"

#include <string_view>

#include "agent-protocol/wire/codec.h"
#include "upgrader/core/supervisor.h"

namespace upgrader {

using agent_protocol::Stage;
using agent_protocol::StopReason;

std::string in_words(Duration duration) {
  const auto ms = duration.count();
  if (ms != 0 && ms % 3'600'000 == 0) return std::to_string(ms / 3'600'000) + "h";
  if (ms != 0 && ms % 60'000 == 0 && ms != 60'000) return std::to_string(ms / 60'000) + "m";
  if (ms % 1'000 == 0) return std::to_string(ms / 1'000) + "s";
  return std::to_string(ms) + "ms";
}

namespace words {
namespace {

std::string_view stage_clause(Stage stage) {
  switch (stage) {
    case Stage::request:
      return "was refused";
    case Stage::spawn:
      return "could not start its candidate";
    case Stage::start:
      return "failed at its start";
    case Stage::confirm:
      return "failed at the gate";
    case Stage::cancel:
      return "was given up";
    case Stage::stop:
      return "failed at the stop";
    case Stage::trial:
      return "failed on trial";
    case Stage::commit:
      return "could not be committed";
    case Stage::shutdown:
      return "ended with the upgrader";
    case Stage::boot:
      return "was not started again";
  }
  return "";
}

std::string what_next(const UpgradeUnderWay& upgrade, const std::optional<Agent>& incumbent) {
  if (upgrade.boot) return incumbent ? "rolling back" : "there is no other way back";
  if (!incumbent || !incumbent->activated) return "falling back";
  if (incumbent->stopped || incumbent->killed) return "falling back";
  if (upgrade.generation == incumbent->generation) return "rolling back";
  if (incumbent->told) return who(*incumbent) + " may still take its work back";
  return who(*incumbent) + " stays active";
}

// "within 5s"; "within 65s in all, extended from 5s", in whole seconds, rounded up.
std::string within(const Agent& agent) {
  if (agent.extended == Duration::zero()) return "within " + in_words(agent.allowed);
  const auto all = std::chrono::ceil<std::chrono::seconds>(agent.allowed);
  return "within " + in_words(all) + " in all, extended from " +
         in_words(agent.allowed - agent.extended);
}

constexpr const char* may_not_speak =
    "it may not speak agent-protocol(7); --adapter=agentify runs programs that do not";

// Behind the failure of an agent that was waited for in vain: what may be the matter with it.
std::string hint(const Agent& agent) {
  if (agent.greeted || agent.hello_deadline) return "";
  return std::string("; it never said hello, so ") + may_not_speak;
}

}  // namespace

std::string generation(Generation generation) {
  return "generation " + std::to_string(generation);
}

std::string who(const Agent& agent) {
  std::string text = generation(agent.generation);
  if (agent.version) text += " (version " + *agent.version + ")";
  return text;
}

std::string on_trial(Duration trial) {
  if (trial == Duration::zero()) return "without a trial";
  return "on trial for " + in_words(trial);
}

std::string stop_reason_clause(StopReason reason) {
  switch (reason) {
    case StopReason::upgrade:
      return "its candidate takes over";
    case StopReason::rollback:
      return "it is rolled back";
    case StopReason::shutdown:
      return "the upgrader shuts down";
  }
  return "";
}

std::string accepted(const UpgradeUnderWay& upgrade) {
  std::string text = "upgrade " + upgrade.id + " accepted, ";
  text += upgrade.terms.mode == agent_protocol::Mode::parallel ? "parallel" : "sequential";
  return text + ", to " + generation(*upgrade.generation);
}

std::string took_back(const Agent& agent, const std::optional<std::string>& reason) {
  const std::string text = who(agent) + " has taken its work back, and stays active";
  return reason ? text + ": " + *reason : text;
}

std::string ends_with(int status) {
  return "the upgrader ends with status " + std::to_string(status);
}

std::string exit_sentence(const Agent& gone, const Ending& ending) {
  std::string text = in_words(ending);
  if (gone.stopped) return text + " after its clean stop";
  if (gone.told) return text + " without having confirmed its stop";
  return text;
}

std::string failed_to_start(const Agent& gone, const Ending& ending) {
  if (gone.unfit) return "unfit: " + *gone.unfit;
  return in_words(ending) + (gone.ready ? " before it was activated" : " before it was ready") +
         hint(gone);
}

std::string closed_its_pipe(const Agent& agent) {
  if (agent.activate_late) return "did not read its activate " + within(agent);
  const std::string pipe = agent.output_closed ? "output" : "input";
  return "closed its " + pipe + " before it was activated" + hint(agent);
}

std::string unclean_stop(const Agent& gone, const Ending& ending) {
  if (gone.killed) return "the active agent did not stop " + within(gone);
  return "the active agent " + in_words(ending) + " without having confirmed its stop";
}

std::string not_ready(const Agent& agent) {
  return "not ready " + within(agent) + hint(agent);
}

std::string not_healthy(const Agent& agent) {
  return "did not say healthy " + within(agent);
}

std::string not_greeted(const Agent& agent) {
  return who(agent) + " has not said hello for " + in_words(hello_patience) + "; " + may_not_speak;
}

std::string put_off(Duration late) {
  const auto in_seconds = [](Duration time) {
    return in_words(std::chrono::ceil<std::chrono::seconds>(time));
  };
  return "deadlines come " + in_seconds(late) +
         " late: the upgrader did not run; what was due has " +
         in_seconds(std::min(late, grace_max)) + " more";
}

std::string missed_deadline(const Agent& agent) {
  if (agent.stopped) return who(agent) + " lingers after its clean stop; killing it";
  return who(agent) + " has not stopped " + within(agent) + "; killing it";
}

std::string failed(const UpgradeUnderWay& upgrade, const agent_protocol::Failure& failure,
                   const std::optional<Agent>& incumbent) {
  std::string text;
  if (upgrade.generation) text += generation(*upgrade.generation) + ": ";
  text +=
      failure.reason + "; upgrade " + upgrade.id + " " + std::string(stage_clause(failure.stage));
  return text + "; " + what_next(upgrade, incumbent);
}

std::string request_refused(const std::string& name, std::string_view type,
                            const std::string& reason) {
  return "request " + name + " (" + std::string(type) + ") refused: " + reason;
}

agent_protocol::Failure failure_of(const std::string& id, Stage stage, const std::string& reason,
                                   const std::string& errno_name, const Ending* ending) {
  agent_protocol::Failure failure;
  failure.id = id;
  failure.stage = stage;
  failure.reason = agent_protocol::fit_text(reason, agent_protocol::reason_bytes_max);
  if (!errno_name.empty()) failure.errno_name = errno_name;
  if (ending != nullptr && ending->how == Ending::How::exited) failure.exit_status = ending->value;
  if (ending != nullptr && ending->how == Ending::How::signalled) failure.signal = ending->value;
  return failure;
}

std::string first_failed(const agent_protocol::PastFailure& failure) {
  if (failure.failure.stage != Stage::start) return failure.failure.reason;
  Agent first;
  first.generation = 1;
  first.version = failure.version;
  return who(first) + " failed: " + failure.failure.reason;
}

std::string in_short(const agent_protocol::Failure& failure, std::size_t bytes_max) {
  return "upgrade " + failure.id + " " + std::string(stage_clause(failure.stage)) + ": " +
         agent_protocol::fit_text(failure.reason, bytes_max);
}

}  // namespace words
}  // namespace upgrader
