#include "tools/agent-conformance/scripts.h"

#include <utility>

#include "tools/agent-conformance/messages.h"

namespace conformance {

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
  return join({held(terms), {tell_activate(0, activate(false)), taken(0)}});
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
