// A gate is a source of measurements outside the fleet that can stop a rollout, such as a query to
// Prometheus or a program. This file decides when a rollout's driver asks the gates, what each
// answer means, and what the answers mean for the rollout. fleet/controller/gates.h sends the
// questions. This file does no input or output.
//
// A gate gives one of three answers:
//
//     well       the measured value was on the good side of its limit for the time in
//                --gate-prometheus, or the program exited with status 0
//     worse      the measured value was on the bad side for that time, or the program exited with
//                status 1
//     not known  all other cases, such as no data, a gap, values on both sides, a time-out, a wrong
//                answer, or a gate that the controller does not know. This answer never counts as
//                "well"
//
// In a round, the driver asks all gates of the rollout at the same time. The first round for a
// batch begins when all its nodes have soaked (the new version has worked for some time). More
// rounds follow until the batch is confirmed, or goes back because no verdict has come in time. A
// round without answers in time counts as "not known".
//
// A batch is confirmed only if all gates say "well" in one round that is not too old. If one gate
// says "worse", the rollout is aborted. The same holds while a rollout bakes (all batches are done,
// but the rollout may still be aborted): it is completed only if all gates say "well".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/model/records/rollout_records.h"
#include "fleet/model/records/time.h"

namespace fleet {

// An entry of the option --gate-prometheus, which makes a query to Prometheus a gate of rollouts.
struct PrometheusGate {
  std::string name = {};
  std::string url = {};    // the server's URL, without `/api/v1/...`
  std::string query = {};  // the query in PromQL; its result must be an instant vector
  bool is_below = true;    // true: values below the limit are good; false: values above it
  double limit = 0;
  std::string limit_text = {};  // `limit` as the person wrote it
  std::int64_t for_s = 0;

  bool operator==(const PrometheusGate&) const = default;
};

// The longest time that an entry of --gate-prometheus may give with `for=`. The query to Prometheus
// asks for the values of the whole time.
inline constexpr std::int64_t gate_for_s_max = 86'400;
inline constexpr std::size_t gate_query_bytes_max = 4'096;

// Parses an entry of --gate-prometheus: `NAME=URL,QUERY,below=N,for=D` or
// `NAME=URL,QUERY,above=N,for=D`. The query may contain commas and equals signs; the URL must not
// contain a comma.
[[nodiscard]] agent_protocol::Result<PrometheusGate> parse_prometheus_gate(std::string_view text);

// Returns the query that is sent to Prometheus: it asks for about ten values of `gate.query`,
// spread over the last `gate.for_s` seconds by the server's clock.
[[nodiscard]] std::string query_of(const PrometheusGate& gate);

// The answer of an HTTP server to a gate's query.
struct GateReply {
  long status = 0;  // the HTTP status; 0 if there was no answer
  std::string body = {};
  std::string error = {};  // why there was no answer; empty if there was one
};

[[nodiscard]] GateStand prometheus_says(const PrometheusGate& gate, const GateReply& reply);

// Returns the answer of a gate that is a program, from its exit status and the last line of its
// output.
[[nodiscard]] GateStand program_says(const std::string& name, int status,
                                     const std::string& output);

// Returns the answer as a text for people. `worse: 0.3, not below 0.01 for 300 s` means that no
// value of the last 300 s was below 0.01, and that the last one was 0.3.
[[nodiscard]] std::string words_of(const GateStand& stand);

[[nodiscard]] GateStand gate_not_known(const std::string& name, const std::string& why);

// ---- the rounds of questions to the gates of a rollout

// The time from the beginning of one round of questions to the beginning of the next one.
inline constexpr Ms gate_again_ms = 10'000;
// The time in which a gate must answer. After this time, the question is cancelled.
inline constexpr Ms gate_answer_ms = 10'000;
// If a round of questions has brought no answers in this time, the round is over. If the questions
// of a round are older than this, the answers cannot confirm a batch. This time is longer than
// gate_answer_ms.
inline constexpr Ms gate_round_ms = 30'000;

// The last round of questions to the gates. It is not in the store, so a driver that takes over
// begins a new round.
struct GateRound {
  std::int64_t number = 0;
  std::int64_t turn = 0;  // the batch that the gates are asked about: see turn_of()
  Ms asked_at = 0;
  bool is_answered = false;
  std::vector<GateStand> stands = {};
  // The answers of the previous round of questions, if that round was about the same batch.
  std::vector<GateStand> before = {};

  bool operator==(const GateRound&) const = default;
};

struct GatesNow {
  std::string worse = {};       // which gates say "worse", and why; empty if there are none
  std::string not_known = {};   // why the rollout has to wait for the gates; empty if it need not
  bool is_to_ask = false;       // true if a round has to begin now
  std::optional<Ms> next = {};  // when the next round begins, or the current round ends
  std::vector<GateStand> stands = {};
};

// Returns the state of these gates. `round` is the last round of questions that this driver has
// begun, or no value if there is none. `turn` is the number of the current batch: see turn_of().
[[nodiscard]] GatesNow gates_now(const std::vector<std::string>& gates,
                                 const std::optional<GateRound>& round, std::int64_t turn, Ms now);

// Returns whether the names or the verdicts of the gates differ between `before` and `now`. Ignores
// the reasons for the verdicts.
[[nodiscard]] bool is_gate_news(const std::vector<GateStand>& before,
                                const std::vector<GateStand>& now);

}  // namespace fleet
