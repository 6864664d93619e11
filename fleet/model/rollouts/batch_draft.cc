#include "fleet/model/rollouts/batch_draft.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/number.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

constexpr std::int64_t whole_share = 100'000;  // 100 per cent, in thousandths of a per cent

// Without `--spread`, the nodes of a batch begin their upgrades one after the other. spread_step_ms
// is the time from one node to the next, and spread_ms_max the longest time for all nodes of a
// batch.
constexpr std::int64_t spread_step_ms = 100;
constexpr std::int64_t spread_ms_max = 300'000;
// Without `--spread`, all nodes of a batch begin their upgrades at the same time if the batch has
// at most this many nodes. So few nodes cannot overload the server from which they fetch the
// release.
constexpr std::size_t unspread_nodes_max = 10;

Refusal wrong_share(std::string_view text) {
  return Refusal{"\"" + brief(text, label_bytes_max) +
                 "\" is neither 1 to 1000 nodes nor 0.001% to 100%"};
}

std::optional<std::int64_t> share_digits(std::string_view text) {
  return text.size() > 6 ? std::nullopt : upgrader::whole_number(text);
}

// Parses a number such as `4`, `0.5` or `.25`, with at most three digits after the dot. Returns the
// number in thousandths.
std::optional<std::int64_t> thousandths_in(std::string_view text) {
  const std::size_t dot = text.find('.');
  std::string_view fraction = dot == std::string_view::npos ? "" : text.substr(dot + 1);
  const auto before = dot == 0 ? std::optional<std::int64_t>(0) : share_digits(text.substr(0, dot));
  if (!before || (dot != std::string_view::npos && fraction.empty()) || fraction.size() > 3) {
    return std::nullopt;
  }
  const std::string padded = std::string(fraction) + std::string(3 - fraction.size(), '0');
  const auto behind = share_digits(padded);
  if (!behind) return std::nullopt;
  return *before * 1'000 + *behind;
}

// The rule that one option `--apart` makes: one batch may have only a limited number of nodes with
// the same value of a label. Each node and each value has a number, which is an index in these
// vectors.
struct ApartRule {
  std::vector<std::size_t> value_of_node;
  std::vector<std::int64_t> most_of_value;
  std::vector<std::int64_t> in_batch_of_value;
};

ApartRule rule_of(const Apart& apart, const std::vector<PlacedNode>& nodes,
                  std::vector<std::string>& unlabelled) {
  unlabelled.clear();  // another rule may be about the same label
  ApartRule rule;
  std::map<std::string, std::size_t> values;
  std::vector<std::int64_t> all;
  for (const PlacedNode& node : nodes) {
    const auto label = node.labels.find(apart.label);
    std::size_t value = all.size();
    if (label == node.labels.end()) {
      unlabelled.push_back(node.id);
    } else {
      value = values.try_emplace(label->second, value).first->second;
    }
    if (value == all.size()) all.push_back(0);
    ++all[value];
    rule.value_of_node.push_back(value);
  }
  for (const std::int64_t count : all)
    rule.most_of_value.push_back(apart.most.of(count));
  rule.in_batch_of_value.resize(all.size());
  std::sort(unlabelled.begin(), unlabelled.end());
  return rule;
}

bool fits_apart(const std::vector<ApartRule>& rules, std::size_t node) {
  return std::all_of(rules.begin(), rules.end(), [node](const ApartRule& rule) {
    const std::size_t value = rule.value_of_node[node];
    return rule.in_batch_of_value[value] < rule.most_of_value[value];
  });
}

// Removes the nodes of the next batch from `left` and returns them: the first nodes of `left` that
// `rules` allow in one batch, at most `size`.
std::vector<std::size_t> next_batch(std::vector<std::size_t>& left, std::int64_t size,
                                    std::vector<ApartRule>& rules) {
  for (ApartRule& rule : rules)
    std::fill(rule.in_batch_of_value.begin(), rule.in_batch_of_value.end(), 0);
  std::vector<std::size_t> batch;
  std::vector<std::size_t> others;
  for (const std::size_t node : left) {
    const bool fits = static_cast<std::int64_t>(batch.size()) < size && fits_apart(rules, node);
    (fits ? batch : others).push_back(node);
    if (!fits) continue;
    for (ApartRule& rule : rules)
      ++rule.in_batch_of_value[rule.value_of_node[node]];
  }
  left = std::move(others);
  return batch;
}

void order_nodes(const RolloutTerms& terms, std::vector<PlacedNode>& nodes) {
  std::sort(nodes.begin(), nodes.end(),
            [](const PlacedNode& a, const PlacedNode& b) { return a.id < b.id; });
  if (terms.order != NodeOrder::random) return;
  std::vector<std::pair<std::uint64_t, std::size_t>> places;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    places.emplace_back(place_of(terms.seed, nodes[i].id), i);
  std::sort(places.begin(), places.end());
  std::vector<PlacedNode> ordered;
  for (const auto& [place, i] : places)
    ordered.push_back(std::move(nodes[i]));
  nodes = std::move(ordered);
}

// Returns the sizes of the batches. The last size applies to all later batches, too. Without
// `--batches` the result has one size, or two if the rollout has a canary, a small first batch.
std::vector<std::int64_t> sizes_of(const RolloutTerms& terms, std::int64_t all) {
  std::vector<std::int64_t> sizes;
  if (const auto shares = parse_batches(terms.batches)) {
    for (const Share& share : shares.value())
      sizes.push_back(share.of(all));
    return sizes;
  }
  if (terms.canary > 0) sizes.push_back(terms.canary);
  // A percentage of `--batch` is rounded down, and a percentage of `--batches` is rounded up. Do
  // not change that: if a controller dies while it writes the batches of a rollout, a newer version
  // of fleet-controller writes the remaining batches, and has to divide the nodes in the same way.
  sizes.push_back(terms.batch_percent == 0 ? terms.batch : all * terms.batch_percent / 100);
  for (std::int64_t& size : sizes)
    size = std::clamp<std::int64_t>(size, 1, batch_nodes_max);
  return sizes;
}

}  // namespace

std::int64_t Share::of(std::int64_t all) const {
  const std::int64_t wanted =
      thousandths == 0 ? nodes : (all * thousandths + whole_share - 1) / whole_share;
  return std::clamp<std::int64_t>(wanted, 1, batch_nodes_max);
}

Result<Share> parse_share(std::string_view text) {
  if (text.ends_with('%')) {
    const auto thousandths = thousandths_in(text.substr(0, text.size() - 1));
    if (!thousandths || *thousandths < 1 || *thousandths > whole_share) return wrong_share(text);
    return Share{.thousandths = *thousandths};
  }
  const auto nodes = share_digits(text);
  if (!nodes || *nodes < 1 || *nodes > batch_nodes_max) return wrong_share(text);
  return Share{.nodes = *nodes};
}

Result<std::vector<Share>> parse_batches(std::string_view text) {
  std::vector<Share> sizes;
  for (;;) {
    const std::size_t comma = text.find(',');
    const auto share = parse_share(text.substr(0, comma));
    if (!share) return share.refusal();
    sizes.push_back(share.value());
    if (sizes.size() > batch_sizes_max) {
      return Refusal{"more than " + std::to_string(batch_sizes_max) +
                     " sizes of batches; the last is repeated"};
    }
    if (comma == std::string_view::npos) return sizes;
    text.remove_prefix(comma + 1);
  }
}

Result<Apart> parse_apart(std::string_view text) {
  if (text.size() > apart_bytes_max) {
    return Refusal{"a label of more than " + std::to_string(apart_bytes_max) + " bytes"};
  }
  const std::size_t colon = text.find(':');
  Apart apart{.label = std::string(text.substr(0, colon))};
  if (apart.label.empty()) return Refusal{"\"" + std::string(text) + "\" names no label"};
  if (colon == std::string_view::npos) return apart;
  const auto most = parse_share(text.substr(colon + 1));
  if (!most) return most.refusal();
  apart.most = most.value();
  return apart;
}

BatchDraft draft_batches(const RolloutTerms& terms, std::vector<PlacedNode> nodes) {
  order_nodes(terms, nodes);
  BatchDraft draft;
  std::vector<ApartRule> rules;
  for (const std::string& text : terms.apart) {
    const auto apart = parse_apart(text);
    if (!apart) continue;
    rules.push_back(rule_of(apart.value(), nodes, draft.unlabelled[apart.value().label]));
  }
  std::erase_if(draft.unlabelled, [](const auto& one) { return one.second.empty(); });
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    left.push_back(i);
  const auto sizes = sizes_of(terms, static_cast<std::int64_t>(nodes.size()));
  while (!left.empty()) {
    const std::size_t number = std::min(draft.batches.size(), sizes.size() - 1);
    auto& batch = draft.batches.emplace_back();
    for (const std::size_t node : next_batch(left, sizes[number], rules))
      batch.push_back(nodes[node].id);
    std::sort(batch.begin(), batch.end());
  }
  return draft;
}

std::uint64_t place_of(std::string_view seed, std::string_view node) {
  // Compute the hash FNV-1a of the seed, a byte 0 and the name. The seed and the name contain no
  // byte 0.
  std::uint64_t sum = 14'695'981'039'346'656'037U;
  const auto add = [&sum](unsigned char byte) { sum = (sum ^ byte) * 1'099'511'628'211U; };
  for (const char c : seed)
    add(static_cast<unsigned char>(c));
  add(0);
  for (const char c : node)
    add(static_cast<unsigned char>(c));
  // A change of the name's last bytes changes only the lower bits of FNV-1a. The mixing steps of
  // SplitMix64 spread that change over all bits.
  sum ^= sum >> 30U;
  sum *= 0xbf58476d1ce4e5b9U;
  sum ^= sum >> 27U;
  sum *= 0x94d049bb133111ebU;
  return sum ^ (sum >> 31U);
}

std::int64_t short_place(std::string_view node) {
  // The shift leaves 40 bits, which are at most 13 decimal digits. Even among 10,000 nodes, it is
  // unlikely that two nodes have the same 40 bits.
  constexpr unsigned shift = 24;
  return static_cast<std::int64_t>(place_of("", node) >> shift);
}

std::int64_t spread_ms(const RolloutTerms& terms, std::size_t nodes) {
  if (terms.spread_ms >= 0) return terms.spread_ms;
  if (nodes <= unspread_nodes_max) return 0;
  return std::min(static_cast<std::int64_t>(nodes) * spread_step_ms, spread_ms_max);
}

}  // namespace fleet
