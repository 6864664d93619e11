#include "upgrader/core/status_news.h"

#include <string_view>

#include "agent-protocol/cpp/wire/message.h"
#include "base/check.h"
#include "base/version.h"
#include "upgrader/core/status_paper.h"

namespace upgrader {
namespace {

using agent_protocol::Role;
using agent_protocol::StopReason;

// Writes the parts of status.json, one after the other.
struct StatusNews {
  const State& state;
  const Chronicle& chronicle;
  const StatusFacts& facts;
  // How many of the upgrades that have ended are shown, the newest first.
  std::size_t shown_endings;
  // False if the arguments of programs are left out, because the file would be too long with them.
  bool shows_arguments;
  StatusPaper paper{};

  std::string write() {
    paper.open("", '{');
    put_upgrader();
    put_phase();
    put_agents();
    put_upgrade();
    put_endings();
    put_requests();
    put_end();
    put_boot();
    paper.close('}');
    return paper.text() + '\n';
  }

  void put_upgrader() {
    paper.open("upgrader", '{');
    paper.put("pid", facts.pid);
    paper.put("version", std::string_view(upgrader_version));
    paper.put_time("started", chronicle.started());
    paper.put("protocol", agent_protocol::protocol_version);
    paper.close('}');
  }

  void put_phase() {
    const auto& end = chronicle.end();
    paper.put("phase", name_of(end ? Phase::ended : phase_of(state)));
    paper.put_time("since", end ? end->at : chronicle.since());
    if (end) return;
    if (const std::optional<Time> until = awaited_until(state)) {
      paper.put_wall_time("deadline", chronicle.on_the_wall(*until));
    }
  }

  void put_agents() {
    if (state.incumbent) put_agent(*state.incumbent, facts.incumbent_arguments);
    if (state.candidate) put_agent(*state.candidate, facts.candidate_arguments);
  }

  static const char* place_of(const Agent& agent) {
    if (agent.activated) return "active";
    return agent.role == Role::fallback ? "standby" : "candidate";
  }

  void put_agent(const Agent& agent, const std::vector<std::string>* arguments) {
    paper.open(place_of(agent), '{');
    paper.put("generation", agent.generation);
    paper.put("role", agent_protocol::name_of(agent.role));
    const AgentPast* const past = chronicle.find(agent.generation);
    if (past != nullptr) paper.put("pid", past->pid);
    paper.put_known("version", agent.version);
    if (past != nullptr) paper.put_path("executable", past->executable);
    put_arguments(arguments);
    if (past != nullptr) {
      paper.put_time("started", past->started);
      paper.put_time("activated", past->activated);
      paper.put("status", past->status);
    }
    if (agent.silent) paper.put_truth("silent", true);
    paper.close('}');
  }

  void put_arguments(const std::vector<std::string>* arguments) {
    if (arguments == nullptr) return;
    if (!shows_arguments) return paper.put_truth("args_omitted", true);
    paper.open("args", '[');
    for (const std::string& argument : *arguments) {
      // The text is too long already, and will be made again without arguments, so the remaining
      // arguments need not be written.
      if (paper.size() > status_news_bytes_max) break;
      paper.element(argument);
    }
    paper.close(']');
  }

  void put_upgrade() {
    const auto& past = chronicle.upgrade();
    if (!past || !state.upgrade) return;
    paper.open("upgrade", '{');
    paper.put("id", past->id);
    paper.put("origin", name_of(past->origin));
    put_terms(state.upgrade->terms);
    paper.put_time("accepted", past->accepted);
    paper.put_time("ready", past->ready);
    paper.put_time("stop_sent", past->stop_sent);
    paper.put_time("stopped", past->stopped);
    paper.put_time("activated", past->activated);
    paper.close('}');
  }

  void put_terms(const Terms& terms) {
    paper.put("mode", agent_protocol::name_of(terms.mode));
    paper.put("gate", agent_protocol::name_of(terms.gate));
    paper.put("commit", agent_protocol::name_of(terms.commit));
    paper.put("start_timeout_ms", terms.start_timeout.count());
    paper.put("confirm_timeout_ms", terms.confirm_timeout.count());
    paper.put("stop_timeout_ms", terms.stop_timeout.count());
    paper.put("trial_ms", terms.trial.count());
    paper.put("on_unclean_stop", agent_protocol::name_of(terms.on_unclean_stop));
    paper.put("fallback", agent_protocol::name_of(terms.fallback));
  }

  void put_endings() {
    if (chronicle.endings().empty()) return;
    paper.open("endings", '[');
    std::size_t left = shown_endings;
    for (const UpgradePast& past : chronicle.endings()) {
      if (left-- == 0) break;
      put_ending(past);
    }
    paper.close(']');
  }

  void put_ending(const UpgradePast& past) {
    paper.open("", '{');
    paper.put("id", past.id);
    paper.put("origin", name_of(past.origin));
    paper.put("outcome", name_of(past.ending.outcome));
    if (const auto& failure = past.ending.failure) {
      paper.put("stage", agent_protocol::name_of(failure->stage));
      paper.put("reason", failure->reason);
      paper.put_known("exit_status", failure->exit_status);
      paper.put_known("signal", failure->signal);
      paper.put_known("errno", failure->errno_name);
    }
    put_side("from", past.from);
    put_side("to", past.to);
    paper.put_time("accepted", past.accepted);
    paper.put_time("ended", past.ended);
    paper.put_known("start_ms", past.start_ms);
    paper.put_known("gate_ms", past.gate_ms);
    paper.put_known("stop_ms", past.stop_ms);
    paper.put_known("overlap_ms", past.overlap_ms);
    paper.put_known("gap_us", past.gap_us);
    paper.put_known("trial_ms", past.trial_ms);
    paper.close('}');
  }

  void put_side(const char* name, const UpgradePast::Side& side) {
    paper.open(name, '{');
    paper.put_known("version", side.version);
    paper.put_path("executable", side.executable);
    paper.close('}');
  }

  void put_requests() {
    if (chronicle.requests().empty()) return;
    paper.open("requests", '[');
    for (const PastRequest& past : chronicle.requests()) {
      paper.open("", '{');
      paper.put("request", past.name);
      paper.put("type", past.type);
      paper.put_truth("ok", past.ok);
      paper.put("reason", past.reason);
      paper.close('}');
    }
    paper.close(']');
  }

  void put_end() {
    const auto& end = chronicle.end();
    if (!end) return;
    paper.open("ended", '{');
    paper.put("exit_status", end->exit_status);
    paper.put("reason", end->reason);
    paper.put_time("at", end->at);
    paper.close('}');
  }

  void put_boot() {
    if (!facts.previous) return;
    paper.open("boot", '{');
    paper.put_known("attempts", facts.attempts);
    paper.put_path("previous", *facts.previous);
    paper.put_time("good", chronicle.good());
    paper.close('}');
  }
};

}  // namespace

std::string status_news(const State& state, const Chronicle& chronicle, const StatusFacts& facts) {
  std::size_t endings = chronicle.endings().size();
  for (bool arguments = true;; arguments = false) {
    std::string text = StatusNews{state, chronicle, facts, endings, arguments}.write();
    if (text.size() <= status_news_bytes_max) return text;
    // If the text is too long even without arguments, leave out one more of the ended upgrades.
    // Without any ended upgrades it always fits, because every other part has a maximum length.
    UPGRADER_CHECK(arguments || endings > 0);
    if (!arguments) --endings;
  }
}

bool hands_over(const State& state) {
  if (state.incumbent && state.incumbent->activated) return false;
  for (const std::optional<Agent>* agent : {&state.incumbent, &state.candidate}) {
    if (*agent && (*agent)->ready && !(*agent)->killed) return true;
  }
  return false;
}

bool active_agent_stops(const State& state) {
  const auto& told = state.incumbent ? state.incumbent->told : std::nullopt;
  return told == StopReason::upgrade || told == StopReason::rollback;
}

}  // namespace upgrader
