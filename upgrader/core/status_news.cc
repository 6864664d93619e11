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

class StatusNews {
 public:
  // Shows the newest `endings` of the upgrades that have ended, and the arguments of programs if
  // `arguments` is true.
  StatusNews(const State& state, const Chronicle& chronicle, const StatusFacts& facts,
             std::size_t endings, bool arguments)
      : state_(state),
        chronicle_(chronicle),
        facts_(facts),
        endings_(endings),
        arguments_(arguments) {}

  std::string write() {
    paper_.open("", '{');
    put_upgrader();
    put_phase();
    put_agents();
    put_upgrade();
    put_endings();
    put_requests();
    put_end();
    put_boot();
    paper_.close('}');
    return paper_.text() + '\n';
  }

 private:
  void put_upgrader() {
    paper_.open("upgrader", '{');
    paper_.put("pid", facts_.pid);
    paper_.put("version", std::string_view(upgrader_version));
    paper_.put_time("started", chronicle_.started());
    paper_.put("protocol", agent_protocol::protocol_version);
    paper_.close('}');
  }

  void put_phase() {
    const auto& end = chronicle_.end();
    paper_.put("phase", name_of(end ? Phase::ended : phase_of(state_)));
    paper_.put_time("since", end ? end->at : chronicle_.since());
    if (end) return;
    if (const std::optional<Time> until = awaited_until(state_)) {
      paper_.put_wall_time("deadline", chronicle_.on_the_wall(*until));
    }
  }

  void put_agents() {
    if (state_.incumbent) {
      put_agent(state_.incumbent->activated ? "active" : held_place(*state_.incumbent),
                *state_.incumbent);
    }
    if (state_.candidate) put_agent(held_place(*state_.candidate), *state_.candidate);
  }

  static const char* held_place(const Agent& agent) {
    return agent.role == Role::fallback ? "standby" : "candidate";
  }

  void put_agent(const char* name, const Agent& agent) {
    paper_.open(name, '{');
    paper_.put("generation", agent.generation);
    paper_.put("role", agent_protocol::name_of(agent.role));
    const AgentPast* const past = chronicle_.find(agent.generation);
    if (past != nullptr) paper_.put("pid", past->pid);
    paper_.put_known("version", agent.version);
    if (past != nullptr) paper_.put_path("executable", past->executable);
    put_arguments(agent.program);
    if (past != nullptr) {
      paper_.put_time("started", past->started);
      paper_.put_time("activated", past->activated);
      paper_.put("status", past->status);
    }
    if (agent.silent) paper_.put_truth("silent", true);
    paper_.close('}');
  }

  void put_arguments(ProgramId program) {
    const std::vector<std::string>* const arguments = facts_.arguments_of(program);
    if (arguments == nullptr) return;
    if (!arguments_) return paper_.put_truth("args_omitted", true);
    paper_.open("args", '[');
    for (const std::string& argument : *arguments) {
      // Stops here: the text is too long already, and will be made again without arguments.
      if (paper_.size() > status_news_bytes_max) break;
      paper_.element(argument);
    }
    paper_.close(']');
  }

  void put_upgrade() {
    const auto& past = chronicle_.upgrade();
    if (!past || !state_.upgrade) return;
    paper_.open("upgrade", '{');
    paper_.put("id", past->id);
    paper_.put("origin", name_of(past->origin));
    put_terms(state_.upgrade->terms);
    static constexpr char names[][10] = {"accepted", "ready", "stop_sent", "stopped", "activated"};
    for (std::size_t i = 0; i < std::size(names); ++i)
      paper_.put_time(names[i], past->moments[i]);
    paper_.close('}');
  }

  void put_terms(const Terms& terms) {
    paper_.put("mode", agent_protocol::name_of(terms.mode));
    paper_.put("gate", agent_protocol::name_of(terms.gate));
    paper_.put("commit", agent_protocol::name_of(terms.commit));
    paper_.put("start_timeout_ms", terms.start_timeout.count());
    paper_.put("confirm_timeout_ms", terms.confirm_timeout.count());
    paper_.put("stop_timeout_ms", terms.stop_timeout.count());
    paper_.put("trial_ms", terms.trial.count());
    paper_.put("on_unclean_stop", agent_protocol::name_of(terms.on_unclean_stop));
    paper_.put("fallback", agent_protocol::name_of(terms.fallback));
  }

  void put_endings() {
    if (chronicle_.endings().empty()) return;
    paper_.open("endings", '[');
    std::size_t left = endings_;
    for (const UpgradePast& past : chronicle_.endings()) {
      if (left-- == 0) break;
      put_ending(past);
    }
    paper_.close(']');
  }

  void put_ending(const UpgradePast& past) {
    paper_.open("", '{');
    paper_.put("id", past.id);
    paper_.put("origin", name_of(past.origin));
    paper_.put("outcome", name_of(past.ending.outcome));
    if (const auto& failure = past.ending.failure) {
      paper_.put("stage", agent_protocol::name_of(failure->stage));
      paper_.put("reason", failure->reason);
      paper_.put_known("exit_status", failure->exit_status);
      paper_.put_known("signal", failure->signal);
      paper_.put_known("errno", failure->errno_name);
    }
    put_side("from", past.from);
    put_side("to", past.to);
    paper_.put_time("accepted", past.moments[static_cast<std::size_t>(Moment::accepted)]);
    paper_.put_time("ended", past.ended);
    static constexpr char names[][11] = {"start_ms",   "gate_ms", "stop_ms",
                                         "overlap_ms", "gap_us",  "trial_ms"};
    for (std::size_t i = 0; i < std::size(names); ++i) {
      if (past.spans[i] != not_measured) paper_.put(names[i], past.spans[i]);
    }
    paper_.close('}');
  }

  void put_side(const char* name, const UpgradePast::Side& side) {
    paper_.open(name, '{');
    paper_.put_known("version", side.version);
    paper_.put_path("executable", side.executable);
    paper_.close('}');
  }

  void put_requests() {
    if (chronicle_.requests().empty()) return;
    paper_.open("requests", '[');
    for (const PastRequest& past : chronicle_.requests()) {
      paper_.open("", '{');
      paper_.put("request", past.name);
      paper_.put("type", past.type);
      paper_.put_truth("ok", past.ok);
      paper_.put("reason", past.reason);
      paper_.close('}');
    }
    paper_.close(']');
  }

  void put_end() {
    const auto& end = chronicle_.end();
    if (!end) return;
    paper_.open("ended", '{');
    paper_.put("exit_status", end->exit_status);
    paper_.put("reason", end->reason);
    paper_.put_time("at", end->at);
    paper_.close('}');
  }

  void put_boot() {
    if (!facts_.previous) return;
    paper_.open("boot", '{');
    paper_.put_known("attempts", facts_.attempts);
    paper_.put_path("previous", *facts_.previous);
    paper_.put_time("good", chronicle_.good());
    paper_.close('}');
  }

  const State& state_;
  const Chronicle& chronicle_;
  const StatusFacts& facts_;
  std::size_t endings_;
  bool arguments_;
  StatusPaper paper_;
};

}  // namespace

std::string status_news(const State& state, const Chronicle& chronicle, const StatusFacts& facts) {
  std::size_t endings = chronicle.endings().size();
  for (bool arguments = true;; arguments = false) {
    std::string text = StatusNews(state, chronicle, facts, endings, arguments).write();
    if (text.size() <= status_news_bytes_max) return text;
    // The parts that cannot be left out always fit: they are few, and each has a maximum length.
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
