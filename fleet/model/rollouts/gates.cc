#include "fleet/model/rollouts/gates.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/record_tree.h"
#include "fleet/model/records/settings.h"

namespace fleet {
namespace {

using agent_protocol::Refusal;
using agent_protocol::Result;

constexpr int status_well = 0;
constexpr int status_worse = 1;
// A program that is a gate of a rollout exits with this status if it has no verdict yet:
// EX_TEMPFAIL of sysexits.h.
constexpr int status_not_known = 75;
// The number of values that one query to Prometheus asks for.
constexpr std::int64_t values_wanted = 10;
constexpr long http_ok = 200;
// In a text for people, a measured value is shown as the server has written it, but cut to this
// many bytes.
constexpr std::size_t gate_value_bytes_max = 40;

std::optional<double> number_of(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Removes `,NAME=VALUE` from the end of `text`, and returns VALUE. Returns no value if `text` does
// not end in this way.
std::optional<std::string> cut_last(std::string_view& text, std::string_view name) {
  const std::size_t comma = text.rfind(',');
  if (comma == text.npos) return std::nullopt;
  std::string_view last = text.substr(comma + 1);
  if (!last.starts_with(name) || !last.substr(name.size()).starts_with('=')) return std::nullopt;
  last.remove_prefix(name.size() + 1);
  text = text.substr(0, comma);
  return std::string(last);
}

std::int64_t step_s(const PrometheusGate& gate) {
  return std::max<std::int64_t>(1, gate.for_s / values_wanted);
}

GateStand stand(const PrometheusGate& gate, GateSays says, const std::string& value) {
  return {gate.name, says,
          brief(value, gate_value_bytes_max) + (says == GateSays::well ? ", " : ", not ") +
              (gate.is_below ? "below " : "above ") + gate.limit_text + " for " +
              std::to_string(gate.for_s) + " s"};
}

// The values in one time series: how many are on the good and on the bad side of the gate's limit,
// and the last value on each side, as the server has written it.
struct Series {
  std::int64_t good = 0;
  std::int64_t bad = 0;
  std::string last_good = {};
  std::string last_bad = {};
};

// Reads the values of one time series from the server's answer, and counts those on each side of
// the gate's limit. Returns a Refusal if a value cannot be read.
Result<Series> series_of(const PrometheusGate& gate, const JsonTree& tree) {
  Series series;
  const JsonTree* values = tree.find("values");
  if (values == nullptr || !values->is_array()) return Refusal{"a series without values"};
  for (const JsonTree& pair : values->elements) {
    const bool is_pair = pair.is_array() && pair.elements.size() == 2 &&
                         pair.elements[1].kind == JsonTree::Kind::text;
    const auto value = is_pair ? number_of(pair.elements[1].text) : std::nullopt;
    if (!value) return Refusal{"a value that is not a number"};
    if (std::isnan(*value)) return Refusal{"a value is NaN"};
    const bool is_good = gate.is_below ? *value < gate.limit : *value > gate.limit;
    (is_good ? series.good : series.bad) += 1;
    (is_good ? series.last_good : series.last_bad) = pair.elements[1].text;
  }
  return series;
}

// Returns the answer of the gate from all time series of the server's answer. One bad series is
// enough for `worse`; for `well`, all series must be good.
GateStand judge_series(const PrometheusGate& gate, const std::vector<JsonTree>& found) {
  const std::int64_t wanted = std::max<std::int64_t>(1, gate.for_s / step_s(gate));
  GateStand answer = gate_not_known(gate.name, "no data");
  bool is_well = !found.empty();
  for (const JsonTree& tree : found) {
    const auto series = series_of(gate, tree);
    if (!series) {
      answer = gate_not_known(gate.name, series.reason());
      is_well = false;
      continue;
    }
    const Series& one = series.value();
    const bool is_whole = one.good + one.bad >= wanted;
    if (is_whole && one.good == 0) return stand(gate, GateSays::worse, one.last_bad);
    if (is_whole && one.bad == 0) {
      if (is_well) answer = stand(gate, GateSays::well, one.last_good);
      continue;
    }
    is_well = false;
    answer = gate_not_known(
        gate.name, is_whole ? one.last_bad + " and " + one.last_good + ", on both sides of " +
                                  gate.limit_text + " within " + std::to_string(gate.for_s) + " s"
                            : "only " + std::to_string(one.good + one.bad) + " of " +
                                  std::to_string(wanted) + " values in the last " +
                                  std::to_string(gate.for_s) + " s");
  }
  return answer;
}

std::optional<GateStand> found_in(const std::vector<GateStand>& stands, const std::string& gate) {
  const auto found = std::find_if(stands.begin(), stands.end(),
                                  [&](const GateStand& one) { return one.name == gate; });
  return found == stands.end() ? std::nullopt : std::optional(*found);
}

// Returns the answer of this gate in one round of questions, or `not known` if the controller has
// reported no answer of this gate.
GateStand stand_in(const GateRound& round, const std::string& gate) {
  return found_in(round.stands, gate).value_or(gate_not_known(gate, ""));
}

void add(std::string& text, const GateStand& stand) {
  text += (text.empty() ? "gate " : "; gate ") + stand.name + ": " + words_of(stand);
}

}  // namespace

Result<PrometheusGate> parse_prometheus_gate(std::string_view text) {
  PrometheusGate gate;
  const std::size_t equals = text.find('=');
  gate.name = text.substr(0, equals);
  if (equals == text.npos || !is_id(gate.name)) {
    return Refusal{
        "needs NAME=URL,QUERY,below=N,for=TIME; a name is small letters, digits, dots "
        "and hyphens"};
  }
  text.remove_prefix(equals + 1);
  const auto time = cut_last(text, "for");
  const auto ms = time ? duration_ms(*time) : std::nullopt;
  if (!ms || *ms < 1'000 || *ms > gate_for_s_max * 1'000) {
    return Refusal{gate.name + ": needs ,for=TIME at its end, of a second to 24 h"};
  }
  gate.for_s = (*ms + 999) / 1'000;
  auto limit = cut_last(text, "below");
  gate.is_below = limit.has_value();
  if (!limit) limit = cut_last(text, "above");
  const auto number = limit ? number_of(*limit) : std::nullopt;
  if (!number || !std::isfinite(*number)) {
    return Refusal{gate.name + ": needs ,below=NUMBER or ,above=NUMBER before ,for="};
  }
  gate.limit = *number;
  gate.limit_text = *limit;
  const std::size_t comma = text.find(',');
  gate.url = text.substr(0, comma);
  if (!gate.url.starts_with("http://") && !gate.url.starts_with("https://")) {
    return Refusal{gate.name + ": the URL begins with http:// or https://"};
  }
  if (comma != text.npos) gate.query = text.substr(comma + 1);
  if (gate.query.empty() || gate.query.size() > gate_query_bytes_max) {
    return Refusal{gate.name + ": needs a query of at most " +
                   std::to_string(gate_query_bytes_max) + " bytes behind the URL"};
  }
  while (gate.url.ends_with('/'))
    gate.url.pop_back();
  return gate;
}

std::string query_of(const PrometheusGate& gate) {
  return "(" + gate.query + ")[" + std::to_string(gate.for_s) +
         "s:" + std::to_string(step_s(gate)) + "s]";
}

GateStand prometheus_says(const PrometheusGate& gate, const GateReply& reply) {
  if (reply.status == 0) return gate_not_known(gate.name, reply.error);
  const auto tree = parse_foreign_tree(reply.body);
  const std::string said = tree ? tree.value().text_of("error") : "";
  if (reply.status != http_ok) {
    return gate_not_known(
        gate.name, "status " + std::to_string(reply.status) + (said.empty() ? "" : ": " + said));
  }
  if (!tree) return gate_not_known(gate.name, "a wrong answer: " + tree.reason());
  if (tree.value().text_of("status") != "success") {
    return gate_not_known(gate.name, said.empty() ? "a wrong answer: no status" : said);
  }
  const JsonTree* data = tree.value().find("data");
  const JsonTree* result = data == nullptr ? nullptr : data->find("result");
  if (result == nullptr || !result->is_array()) {
    return gate_not_known(gate.name, "a wrong answer: no result");
  }
  return judge_series(gate, result->elements);
}

GateStand program_says(const std::string& name, int status, const std::string& output) {
  const std::string words = output.empty() ? "" : brief(output, label_bytes_max);
  const std::string ended = "ended with status " + std::to_string(status);
  switch (status) {
    case status_well:
      return {name, GateSays::well, words};
    case status_worse:
      return {name, GateSays::worse, words};
    case status_not_known:
      return gate_not_known(name, words.empty() ? ended : words);
  }
  return gate_not_known(name, ended + (words.empty() ? "" : ": " + words));
}

std::string words_of(const GateStand& stand) {
  std::string says(stand.says == GateSays::not_known ? "not known" : text_of(stand.says));
  return says + (stand.words.empty() ? "" : ": " + stand.words);
}

GateStand gate_not_known(const std::string& name, const std::string& why) {
  return {name, GateSays::not_known, brief(why.empty() ? "no answer" : why, label_bytes_max)};
}

// ---- the rounds of questions to the gates of a rollout

GatesNow gates_now(const std::vector<std::string>& gates, const std::optional<GateRound>& round,
                   std::int64_t turn, Ms now) {
  GatesNow all;
  if (gates.empty()) return all;
  const bool is_ours = round && round->turn == turn;
  const bool is_late = is_ours && !round->is_answered && now >= round->asked_at + gate_round_ms;
  if (!is_ours || (!round->is_answered && !is_late)) {
    all.is_to_ask = !is_ours;
    // As long as the current round has no answers, the answers of the previous round are the reason
    // why the batch waits.
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
  // If the questions are older than gate_round_ms, the answers cannot confirm a batch.
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
