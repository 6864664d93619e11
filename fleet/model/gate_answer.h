// Decides what a gate's answer means. A gate is a source of measurements outside the fleet: a query
// to Prometheus, or a program. It is asked before a batch is confirmed, and says whether the new
// version does well. rollout_gates.h decides when a gate is asked, and fleet/controller/gates.h
// asks it. Pure.
//
//     well       the measure was on the good side of its limit for as long as --gate-prometheus
//                says, or the program of the gate ended with status 0
//     worse      it was on the bad side for that long, or the program ended with status 1
//     not known  everything else: no data, gaps, a value that changes sides, a time-out, a wrong
//                answer, a controller without a gate of that name. It never counts as "well".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/model/rollout_records.h"

namespace fleet {

// An entry of --gate-prometheus, which makes a query of Prometheus a gate.
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

// The longest time `for=` in an entry of --gate-prometheus: how far back in time the query may
// look.
inline constexpr std::int64_t gate_for_s_max = 86'400;
inline constexpr std::size_t gate_query_bytes_max = 4'096;

// Parses an entry `NAME=URL,QUERY,below=N,for=D` or `NAME=URL,QUERY,above=N,for=D`. The query may
// contain commas and equals signs; the URL must not contain a comma.
[[nodiscard]] agent_protocol::Result<PrometheusGate> parse_prometheus_gate(std::string_view text);

// Returns the query that is sent to Prometheus. It asks for about ten values of `gate.query`,
// spread over the last `gate.for_s` seconds by the server's clock.
[[nodiscard]] std::string query_of(const PrometheusGate& gate);

// The answer of an HTTP server.
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

// Returns the answer as a text for people: `worse: 0.3, not below 0.01 for 300 s`.
[[nodiscard]] std::string words_of(const GateStand& stand);

[[nodiscard]] GateStand gate_not_known(const std::string& name, const std::string& why);

}  // namespace fleet
