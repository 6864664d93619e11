#include "fleet/controller/gates.h"

#include <curl/curl.h>

#include <algorithm>
#include <utility>

#include "fleet/model/rollouts/gates.h"

namespace fleet {
namespace {

// The most bytes of an answer from Prometheus: enough for some thousand time series.
constexpr std::size_t answer_bytes_max = 1'048'576;

std::string escaped(const std::string& text) {
  const std::unique_ptr<char, void (*)(void*)> found(
      curl_easy_escape(nullptr, text.data(), static_cast<int>(text.size())), curl_free);
  return found == nullptr ? "" : found.get();
}

}  // namespace

void Gates::ask(const AskGates& asked, Then then) {
  auto round = std::make_shared<Round>();
  round->answers.round = asked.round;
  round->missing = asked.gates.size();
  round->then = std::move(then);
  for (const std::string& gate : asked.gates)
    ask(gate, asked, round);
}

void Gates::ask(const std::string& gate, const AskGates& asked,
                const std::shared_ptr<Round>& round) {
  const auto found = std::find_if(settings_.prometheus.begin(), settings_.prometheus.end(),
                                  [&gate](const PrometheusGate& one) { return one.name == gate; });
  if (found != settings_.prometheus.end()) {
    Query& query = queries_[gate];
    query.next.push_back(round);
    if (query.asking.empty()) ask_next(*found);
    return;
  }
  if (!settings_.programs.empty()) return run(gate, asked, round);
  answer_soon(gate_not_known(gate, "controller " + settings_.controller + " has no such gate"),
              round);
}

// Sends one query to Prometheus, and passes the answer to all rounds in `next`. A round is a
// question to all gates of one rollout.
void Gates::ask_next(const PrometheusGate& gate) {
  Query& query = queries_[gate.name];
  query.asking = std::exchange(query.next, {});
  const std::string url = gate.url + "/api/v1/query?query=" + escaped(query_of(gate));
  outside_.get(
      url, {.timeout_ms = gate_answer_ms, .bytes_max = answer_bytes_max},
      [this, gate](const OutsideAnswer& reply) {
        Query& answered = queries_[gate.name];
        const auto rounds = std::exchange(answered.asking, {});
        if (!answered.next.empty()) ask_next(gate);
        const GateStand stand = prometheus_says(gate, {reply.status, reply.body, reply.error});
        for (const std::shared_ptr<Round>& round : rounds)
          answer(stand, *round);
      });
}

void Gates::run(const std::string& gate, const AskGates& asked,
                const std::shared_ptr<Round>& round) {
  const std::uint64_t number = ++number_;
  runs_[number] = std::make_unique<HookRun>(
      loop_, timers_,
      HookRun::Settings{
          .path = settings_.programs + "/" + gate,
          .directory = settings_.programs,
          .environment = {"FLEET_GATE=" + gate, "FLEET_ROLLOUT=" + asked.rollout,
                          "FLEET_COMPONENT=" + asked.component, "FLEET_VERSION=" + asked.version,
                          "FLEET_BATCH=" + std::to_string(asked.batch)},
          .longest = std::chrono::milliseconds(gate_answer_ms)},
      [this, number, gate, round](const HookRun::Result& result) {
        runs_.erase(number);
        answer(program_says(gate, result.status, result.output), *round);
      });
}

void Gates::answer_soon(const GateStand& stand, const std::shared_ptr<Round>& round) {
  const std::uint64_t number = ++number_;
  soon_[number] = timers_.after(std::chrono::milliseconds(0), [this, number, stand, round] {
    soon_.erase(number);
    answer(stand, *round);
  });
}

void Gates::answer(const GateStand& stand, Round& round) {
  round.answers.stands.push_back(stand);
  if (--round.missing == 0) round.then(round.answers);
}

}  // namespace fleet
