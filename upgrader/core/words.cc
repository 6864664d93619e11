#include "upgrader/core/words.h"

#include <string_view>

#include "agent-protocol/wire/codec.h"
#include "upgrader/core/supervisor.h"

namespace upgrader {

using agent_protocol::Stage;
using agent_protocol::StopReason;

std::string in_words(Duration duration) {
  const auto ms = duration.count();
  if (ms != 0 && ms % 3'600'000 == 0) return "{}h"_with(ms / 3'600'000);
  if (ms != 0 && ms % 60'000 == 0 && ms != 60'000) return "{}m"_with(ms / 60'000);
  if (ms % 1'000 == 0) return "{}s"_with(ms / 1'000);
  return "{}ms"_with(ms);
}

std::string in_words(const Agent& agent) {
  if (!agent.version) return "generation {}"_with(agent.generation);
  return "generation {} (version {})"_with(agent.generation, *agent.version);
}

namespace words {
namespace {

const char* stage_clause(Stage stage) {
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
  if (incumbent->told) return "{} may still take its work back"_with(*incumbent);
  return "{} stays active"_with(*incumbent);
}

Duration in_whole_seconds(Duration time) {
  return std::chrono::ceil<std::chrono::seconds>(time);
}

// "within 5s"; "within 65s in all, extended from 5s", in whole seconds, rounded up.
std::string within(const Agent& agent) {
  if (agent.extended == Duration::zero()) return "within {}"_with(agent.allowed);
  return "within {} in all, extended from {}"_with(in_whole_seconds(agent.allowed),
                                                   agent.allowed - agent.extended);
}

// Behind the failure of an agent that was waited for in vain: what may be the matter with it.
std::string hint(const Agent& agent) {
  if (agent.greeted || agent.hello_deadline) return "";
  return "; it never said hello, so {}"_with(may_not_speak);
}

}  // namespace

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
  const bool parallel = upgrade.terms.mode == agent_protocol::Mode::parallel;
  return "upgrade {} accepted, {}, to generation {}"_with(
      upgrade.id, parallel ? "parallel" : "sequential", *upgrade.generation);
}

std::string behind_colon(const std::optional<std::string>& reason) {
  return reason ? ": {}"_with(*reason) : "";
}

std::string ends_with(int status) {
  return "the upgrader ends with status {}"_with(status);
}

std::string exit_sentence(const Agent& gone, const Ending& ending) {
  const char* const stop = gone.stopped ? " after its clean stop"
                           : gone.told  ? " without having confirmed its stop"
                                        : "";
  return "{} {}{}"_with(gone, ending, stop);
}

std::string failed_to_start(const Agent& gone, const Ending& ending) {
  if (gone.unfit) return unfit(*gone.unfit);
  return "{} before it was {}{}"_with(ending, gone.ready ? "activated" : "ready", hint(gone));
}

std::string unfit(const std::string& reason) {
  return "unfit: {}"_with(reason);
}

std::string closed_its_pipe(const Agent& agent) {
  if (agent.activate_late) return "did not read its activate {}"_with(within(agent));
  return "closed its {} before it was activated{}"_with(agent.output_closed ? "output" : "input",
                                                        hint(agent));
}

std::string unclean_stop(const Agent& gone, const Ending& ending) {
  if (gone.killed) return "the active agent did not stop {}"_with(within(gone));
  return "the active agent {} without having confirmed its stop"_with(ending);
}

std::string not_ready(const Agent& agent) {
  return "not ready {}{}"_with(within(agent), hint(agent));
}

std::string not_healthy(const Agent& agent) {
  return "did not say healthy {}"_with(within(agent));
}

std::string put_off(Duration late) {
  return "deadlines come {} late: the upgrader did not run; what was due has {} more"_with(
      in_whole_seconds(late), in_whole_seconds(std::min(late, grace_max)));
}

std::string missed_deadline(const Agent& agent) {
  if (agent.stopped) return "{} lingers after its clean stop; killing it"_with(agent);
  return "{} has not stopped {}; killing it"_with(agent, within(agent));
}

std::string failed(const UpgradeUnderWay& upgrade, const agent_protocol::Failure& failure,
                   const std::optional<Agent>& incumbent) {
  const std::string of =
      upgrade.generation ? "generation {}: "_with(*upgrade.generation) : std::string();
  return "{}{}; upgrade {} {}; {}"_with(of, failure.reason, upgrade.id, stage_clause(failure.stage),
                                        what_next(upgrade, incumbent));
}

std::string upgrade_refused(const std::string& id, const std::string& reason) {
  return "upgrade {} refused: {}"_with(id, reason);
}

std::string request_refused(const std::string& name, std::string_view type,
                            std::string_view reason) {
  return "request {} ({}) refused: {}"_with(name, type, reason);
}

agent_protocol::Failure failure_of(const std::string& id, Stage stage, const std::string& reason,
                                   std::string_view errno_name, const Ending* ending) {
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
  return words::failed(first, failure.failure.reason);
}

std::string failed(const Agent& agent, const std::string& reason) {
  return "{} failed: {}"_with(agent, reason);
}

std::string in_short(const agent_protocol::Failure& failure, std::size_t bytes_max) {
  return "upgrade {} {}: {}"_with(failure.id, stage_clause(failure.stage),
                                  agent_protocol::fit_text(failure.reason, bytes_max));
}

}  // namespace words
}  // namespace upgrader
