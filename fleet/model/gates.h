// This file decides about gates: sources of measurements outside the fleet that can stop a rollout,
// such as a query to Prometheus or a program. It decides when a rollout's driver asks the gates,
// what each answer means, and what the answers mean for the batch. fleet/controller/gates.h sends
// the questions. This file does no input or output.
//
// A gate's answer means:
//
//     well       the measure was on the good side of its limit for as long as --gate-prometheus
//                says, or the program of the gate exited with status 0
//     worse      the measure was on the bad side for that long, or the program exited with status 1
//     not known  everything else: no data, gaps, a value that changes sides, a time-out, a wrong
//                answer, a controller without a gate of that name. It never counts as "well".
//
// A round is one question to each gate of the rollout, all at the same time. The first round begins
// when all nodes of a batch have soaked. More rounds follow until the batch is confirmed. The batch
// is confirmed only if all gates say "well" in one round that is not too old. If one gate says
// "worse", the rollout is aborted. If no answers come in time, the verdict of the gates is "not
// known".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/model/rollout_records.h"
#include "fleet/model/time.h"

namespace fleet {

// An entry of --gate-prometheus, which makes a query to Prometheus a gate of rollouts.
struct PrometheusGate {
  std::string name = {};
  std::string url = {};    // the server's URL, without `/api/v1/...`
  std::string query = {};  // the query in PromQL; its result must be an instant vector
  bool is_below = true;    // true if values below the limit are good, false if values above it are
  double limit = 0;
  std::string limit_text = {};  // `limit` as the person wrote it
  std::int64_t for_s = 0;

  bool operator==(const PrometheusGate&) const = default;
};

// The longest time that `for=` may give in an entry of --gate-prometheus. The query to Prometheus
// asks for the values of that time, so this limits how far back it looks.
inline constexpr std::int64_t gate_for_s_max = 86'400;
inline constexpr std::size_t gate_query_bytes_max = 4'096;

// Parses an entry `NAME=URL,QUERY,below=N,for=D` or `NAME=URL,QUERY,above=N,for=D`. The query may
// contain commas and equals signs; the URL must not contain a comma.
[[nodiscard]] agent_protocol::Result<PrometheusGate> parse_prometheus_gate(std::string_view text);

// Returns the query that is sent to Prometheus. The query asks for about ten values of
// `gate.query`, spread over the last `gate.for_s` seconds by the server's clock.
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

// How often the gates of a batch are asked: the time from the beginning of one round of questions
// to the gates to the beginning of the next round.
inline constexpr Ms gate_again_ms = 10'000;
// The time limit for the answer of a gate. After this time, the question to the gate is cancelled.
inline constexpr Ms gate_answer_ms = 10'000;
// If no answers have come within this time after the gates were asked, this round of questions is
// over. The time is longer than the limit for the answer of one gate.
inline constexpr Ms gate_round_ms = 30'000;

// The last round of questions to the gates. The round is not in the store, so a driver that takes
// over asks all gates again.
struct GateRound {
  std::int64_t number = 0;
  std::int64_t turn = 0;  // the batch that the gates are asked about: see turn_of()
  Ms asked_at = 0;
  bool is_answered = false;
  std::vector<GateStand> stands = {};
  // The answers of the previous round of questions, if it was about the same batch.
  std::vector<GateStand> before = {};

  bool operator==(const GateRound&) const = default;
};

struct GatesNow {
  std::string worse = {};       // which gates say worse, and why
  std::string not_known = {};   // why there is no verdict yet; empty if all gates say well
  bool is_to_ask = false;       // a round has to begin now
  std::optional<Ms> next = {};  // when the next round begins, or the current round is over
  std::vector<GateStand> stands = {};
};

// Returns the state of these gates. `round` is the last round of questions that this driver has
// begun, or no value if it has begun none. `turn` is the number of the current batch: see
// turn_of().
[[nodiscard]] GatesNow gates_now(const std::vector<std::string>& gates,
                                 const std::optional<GateRound>& round, std::int64_t turn, Ms now);

// Returns whether the gates, or their verdicts, differ between `before` and `now`. A difference in
// the reasons alone does not count.
[[nodiscard]] bool is_gate_news(const std::vector<GateStand>& before,
                                const std::vector<GateStand>& now);

}  // namespace fleet
