#include "fleet/model/rollout_gates.h"

#include <algorithm>

#include "fleet/model/gate_answer.h"

namespace fleet {
namespace {

std::optional<GateStand> found_in(const std::vector<GateStand>& stands, const std::string& gate) {
  const auto found = std::find_if(stands.begin(), stands.end(),
                                  [&](const GateStand& one) { return one.name == gate; });
  return found == stands.end() ? std::nullopt : std::optional(*found);
}

// Returns the answer of this gate in the round, or `not known` if the controller has not reported
// an answer of the gate.
GateStand stand_in(const GateRound& round, const std::string& gate) {
  return found_in(round.stands, gate).value_or(gate_not_known(gate, ""));
}

void add(std::string& text, const GateStand& stand) {
  text += (text.empty() ? "gate " : "; gate ") + stand.name + ": " + words_of(stand);
}

}  // namespace

GatesNow gates_now(const std::vector<std::string>& gates, const std::optional<GateRound>& round,
                   std::int64_t turn, Ms now) {
  GatesNow all;
  if (gates.empty()) return all;
  const bool is_ours = round && round->turn == turn;
  const bool is_late = is_ours && !round->is_answered && now >= round->asked_at + gate_round_ms;
  if (!is_ours || (!round->is_answered && !is_late)) {
    all.is_to_ask = !is_ours;
    // As long as this round has no answers, the answers of the previous round are shown as the
    // reason why the batch waits.
    for (const std::string& gate : gates) {
      const auto stand = is_ours ? found_in(round->before, gate) : std::nullopt;
      if (stand && stand->says != GateSays::well) add(all.not_known, *stand);
    }
    if (all.not_known.empty()) all.not_known = "the gates have not answered yet";
    all.next = is_ours ? std::optional(round->asked_at + gate_round_ms) : std::nullopt;
    return all;
  }
  for (const std::string& gate : gates) {
    const GateStand stand = stand_in(*round, gate);
    all.stands.push_back(stand);
    if (stand.says == GateSays::worse) add(all.worse, stand);
    if (stand.says != GateSays::well && stand.says != GateSays::worse) add(all.not_known, stand);
  }
  all.is_to_ask = now >= round->asked_at + gate_again_ms;
  all.next = round->asked_at + gate_again_ms;
  // A batch must not be confirmed by a round that began more than gate_round_ms ago.
  const bool is_old = now >= round->asked_at + gate_round_ms;
  if (is_old && all.not_known.empty()) all.not_known = "the gates have not answered yet";
  return all;
}

bool is_gate_news(const std::vector<GateStand>& before, const std::vector<GateStand>& now) {
  return !std::equal(before.begin(), before.end(), now.begin(), now.end(),
                     [](const GateStand& one, const GateStand& other) {
                       return one.name == other.name && one.says == other.says;
                     });
}

}  // namespace fleet
