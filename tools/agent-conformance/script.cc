#include "tools/agent-conformance/script.h"

#include <csignal>
#include <cstring>
#include <utility>

#include "tools/agent-conformance/messages.h"

namespace conformance {

namespace {

std::string cancel_out_of_turn(const Life& life, const Said& said) {
  if (!life.told_stop || life.upgrade.empty()) return "there is no upgrade to cancel";
  if (said.id == life.upgrade) return {};
  return "the upgrade is " + life.upgrade + ", and not " + said.id.value_or("");
}

std::string stopped_out_of_turn(const Life& life) {
  if (life.told_stop || life.hung_up || life.signalled) return {};
  return life.said_cancel ? "it has cancelled its stop" : "it was not told to stop";
}

std::string active_word_out_of_turn(const Life& life) {
  return life.told_activate ? "" : "it is not active";
}

}  // namespace

std::string out_of_turn(const Life& life, const Said& said) {
  const std::string& type = said.type;
  if (type == "hello") return life.said_hello ? "it has said hello before" : "";
  if (!life.said_hello) return "it has not said hello";
  if (type == "ready") {
    if (life.told_activate) return "it is active already";
    return life.said_ready ? "it has said ready before" : "";
  }
  if (type == "unfit") {
    return life.is_held() || life.is_on_trial() ? "" : "it is active, and not on trial";
  }
  if (type == "upgrade" || type == "heartbeat") return active_word_out_of_turn(life);
  if (type == "confirm") return "there is no candidate behind a gate";
  if (type == "cancel") return cancel_out_of_turn(life, said);
  if (type == "stopped") return stopped_out_of_turn(life);
  if (type == "healthy") {
    if (life.is_held()) return "it is not active";
    return life.is_on_trial() || life.wants_readiness ? "" : "it is not on trial";
  }
  if (type == "extend") {
    if (life.is_held()) return life.said_ready ? "it is ready, and was not told to stop" : "";
    if (life.told_stop) return {};
    if (!life.wants_readiness) return "it was not told to stop";
    return life.said_healthy ? "it has said healthy, and was not told to stop" : "";
  }
  return {};
}

void take(Life& life, const Said& said, Time now) {
  if (said.type == "hello") {
    life.said_hello = true;
    life.version = said.version;
    life.wants_readiness = said.readiness;
  } else if (said.type == "ready") {
    life.said_ready = true;
  } else if (said.type == "unfit") {
    life.unfit = said.reason;
  } else if (said.type == "healthy") {
    life.said_healthy = true;
  } else if (said.type == "heartbeat") {
    life.heartbeats.push_back(now);
  } else if (said.type == "extend") {
    life.extended = Duration(said.ms);
  } else if (said.type == "stopped") {
    life.said_stopped = true;
    life.state = said.state;
  } else if (said.type == "cancel") {
    life.said_cancel = true;
    life.told_stop = false;
  }
}

std::string end_in_words(const Exited& exited) {
  if (exited.signal == 0) return "exited with status " + std::to_string(exited.status);
  const char* const name = ::sigabbrev_np(exited.signal);
  return "was killed by signal " + std::to_string(exited.signal) +
         (name != nullptr ? " (SIG" + std::string(name) + ")" : "");
}

std::string duration_in_words(Duration duration) {
  const std::int64_t ms = duration.count();
  return ms % 1'000 == 0 ? std::to_string(ms / 1'000) + " s" : std::to_string(ms) + " ms";
}

// ---- functions that make single steps and parts of scripts

using Kind = Step::Kind;
using What = Step::What;

Script join(std::initializer_list<Script> parts) {
  Script whole;
  for (const Script& part : parts)
    whole.insert(whole.end(), part.begin(), part.end());
  return whole;
}

Step of_kind(Kind kind, int agent) {
  Step step;
  step.kind = kind;
  step.agent = agent;
  return step;
}

Step start_first(const std::string& welcome, Start terms) {
  Step step = of_kind(Kind::start);
  step.text = welcome;
  step.terms = terms;
  step.life.role = terms.alone ? "" : "first";
  step.life.generation = 1;
  return step;
}

Step start_candidate(int agent, int generation, std::string_view previous_version) {
  Step step = of_kind(Kind::start, agent);
  step.text = welcome_candidate(generation, previous_version);
  step.life.role = "candidate";
  step.life.generation = generation;
  return step;
}

Step await(int agent, What what, Duration time) {
  Step step = of_kind(Kind::await, agent);
  step.what = what;
  step.time = time;
  return step;
}

Step tell(int agent, std::string line) {
  Step step = of_kind(Kind::tell, agent);
  step.text = std::move(line);
  return step;
}

Step tell_activate(int agent, std::string line) {
  Step step = tell(agent, std::move(line));
  step.activates = true;
  return step;
}

Step tell_stop(int agent, std::string line, std::string_view upgrade) {
  Step step = tell(agent, std::move(line));
  step.stops = true;
  step.upgrade = upgrade;
  return step;
}

Step hang_up(int agent) {
  return of_kind(Kind::hang_up, agent);
}

Step send_sigterm(int agent) {
  return of_kind(Kind::signal, agent);
}

Step watch(Duration time) {
  Step step = of_kind(Kind::watch);
  step.time = time;
  return step;
}

Step taken(int agent) {
  return of_kind(Kind::taken, agent);
}

Step look(int agent) {
  return of_kind(Kind::look, agent);
}

Step examine(Judge judge) {
  Step step = of_kind(Kind::judge);
  step.judge = std::move(judge);
  return step;
}

Script held(Start terms) {
  return {start_first(welcome_first(), terms), await(0, What::hello), await(0, What::ready)};
}

Script active(Start terms) {
  return join({held(terms), {tell_activate(0, activate()), taken(0)}});
}

Script stopped_for_upgrade(const Terms& terms) {
  return {tell_stop(0, stop_for_upgrade(terms.stop_timeout, 2), upgrade_id),
          await(0, What::stopped)};
}

Script active_candidate(const std::string& activate_line) {
  return {start_candidate(0, 2, "1.0"), await(0, What::hello), await(0, What::ready),
          tell_activate(0, activate_line), taken(0)};
}

}  // namespace conformance
