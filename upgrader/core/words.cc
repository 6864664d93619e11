#include "upgrader/core/words.h"

#include "base/utf8.h"

namespace upgrader {

using agent_protocol::Stage;

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

// The clauses with which log lines say at which stage an upgrade failed, in the order of Stage.
constexpr const char* stage_clauses[] = {"was refused",
                                         "could not start its candidate",
                                         "failed at its start",
                                         "failed at the gate",
                                         "was given up",
                                         "failed at the stop",
                                         "failed on trial",
                                         "could not be committed",
                                         "ended with the upgrader",
                                         "was not started again"};

const char* clause_of(Stage stage) {
  return stage_clauses[static_cast<std::size_t>(stage)];
}

std::string what_next(const UpgradeUnderWay& upgrade, const std::optional<Agent>& incumbent) {
  if (upgrade.boot) return incumbent ? "rolling back" : "there is no other way back";
  if (!incumbent || !incumbent->activated) return "falling back";
  if (incumbent->stopped || incumbent->killed) return "falling back";
  if (upgrade.generation == incumbent->generation) return "rolling back";
  if (incumbent->told) return "{} may still take its work back"_with(*incumbent);
  return "{} stays active"_with(*incumbent);
}

}  // namespace

std::string in_whole_seconds(Duration time) {
  return in_words(std::chrono::ceil<std::chrono::seconds>(time));
}

std::string within(const Agent& agent) {
  if (agent.extended == Duration::zero()) return "within {}"_with(in_words(agent.allowed));
  return "within {} in all, extended from {}"_with(in_whole_seconds(agent.allowed),
                                                   in_words(agent.allowed - agent.extended));
}

std::string hint(const Agent& agent) {
  if (agent.greeted || agent.hello_deadline) return "";
  return "; it never said hello, so {}"_with(may_not_speak);
}

std::string behind_colon(const std::optional<std::string>& reason) {
  return reason ? ": {}"_with(*reason) : "";
}

std::string ends_with(int status) {
  return "the upgrader ends with status {}"_with(status);
}

std::string failed_to_start(const Agent& gone, const Ending& ending) {
  if (gone.unfit) return "unfit: {}"_with(*gone.unfit);
  return "{} before it was {}{}"_with(ending, gone.ready ? "activated" : "ready", hint(gone));
}

std::string closed_its_pipe(const Agent& agent) {
  if (agent.activate_late) return "did not read its activate {}"_with(within(agent));
  return "closed its {} before it was activated{}"_with(agent.output_closed ? "output" : "input",
                                                        hint(agent));
}

std::string failed(const UpgradeUnderWay& upgrade, const agent_protocol::Failure& failure,
                   const std::optional<Agent>& incumbent) {
  const std::string of =
      upgrade.generation ? "generation {}: "_with(*upgrade.generation) : std::string();
  return "{}{}; upgrade {} {}; {}"_with(of, failure.reason, upgrade.id, clause_of(failure.stage),
                                        what_next(upgrade, incumbent));
}

std::string request_refused(const std::string& name, std::string_view type,
                            std::string_view reason) {
  return "request {} ({}) refused: {}"_with(name, type, reason);
}

agent_protocol::Failure failure_of(const std::string& id, Stage stage, const std::string& reason,
                                   int error, const Ending* ending) {
  agent_protocol::Failure failure;
  failure.id = id;
  failure.stage = stage;
  failure.reason = agent_protocol::fit_text(reason, agent_protocol::reason_bytes_max);
  if (error != 0) failure.errno_name = errno_name(error);
  if (ending != nullptr && ending->how == Ending::How::exited) failure.exit_status = ending->value;
  if (ending != nullptr && ending->how == Ending::How::signalled) failure.signal = ending->value;
  return failure;
}

std::string first_failed(const agent_protocol::PastFailure& failure) {
  if (failure.failure.stage != Stage::start) return failure.failure.reason;
  Agent first;
  first.generation = 1;
  first.version = failure.version;
  return "{} failed: {}"_with(first, failure.failure.reason);
}

std::string in_short(const agent_protocol::Failure& failure, std::size_t bytes_max) {
  return "upgrade {} {}: {}"_with(failure.id, clause_of(failure.stage),
                                  agent_protocol::fit_text(failure.reason, bytes_max));
}

}  // namespace words
}  // namespace upgrader
