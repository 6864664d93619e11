// order_reads() and decide_order() pass an order on to the functions for its kind of record: a
// plan, a rollout, a command, or a record that people set.
#include <algorithm>
#include <array>
#include <utility>

#include "fleet/model/reasons/stop_words.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/orders/order.h"
#include "fleet/orders/order_kinds.h"

namespace fleet {
namespace {

constexpr std::array orderable = {KeyKind::desired, KeyKind::node_desired, KeyKind::release,
                                  KeyKind::window,  KeyKind::stop,         KeyKind::settings,
                                  KeyKind::rollout, KeyKind::plan,         KeyKind::node_command};

std::string key_text(const Order& order) {
  return std::string(key_root) + order.subject;
}

JsonTree tree_in(const std::string& text) {
  const auto tree = parse_tree(text.empty() ? "{}" : text);
  return tree ? tree.value() : JsonTree{};
}

std::string words_of_erased(KeyKind kind, const CellFacts& facts) {
  if (kind == KeyKind::stop) {
    const KeyValue* epoch = facts.reading().find(key_of(KeyKind::epoch));
    return words_after_stop(epoch == nullptr ? nullptr : &epoch->value);
  }
  if (kind == KeyKind::settings) return "are all as they are by default";
  return "is taken away";
}

OrderDecision write(const Order& order, const ParsedKey& key, const KeyValue* found,
                    const CellFacts& facts, const Orderer& orderer) {
  if (key.kind == KeyKind::release && found != nullptr) {
    return malformed("what was published is never changed, nor taken away");
  }
  const std::string text = key_text(order);
  OrderTaken taken{.is_new = found == nullptr};
  Transaction transaction{
      .compares = {{.key = text, .revision = found == nullptr ? 0 : found->modified}}};
  if (order.deed == Deed::erase) {
    transaction.erases.push_back({text});
    taken.event.text = words_of_erased(key.kind, facts);
  } else {
    const auto body = parse_tree(order.body.empty() ? "{}" : order.body);
    if (!body) return malformed("the body is no JSON object: " + body.reason());
    const JsonTree before = found == nullptr ? JsonTree{} : tree_in(found->value);
    const JsonTree whole =
        order.deed == Deed::patch ? merge_patch(before, body.value()) : body.value();
    const auto record = set_record(key, whole, before, facts, orderer);
    if (!record) return malformed(record.reason());
    for (const Compare& compare : record.value().compares)
      transaction.compares.push_back(compare);
    transaction.puts.push_back({text, record.value().record});
    taken.event.text = record.value().words;
  }
  taken.parts.push_back(std::move(transaction));
  return taken;
}

OrderDecision decide(const Order& order, const ParsedKey& key, const CellFacts& facts,
                     const Orderer& orderer) {
  const Reading& reading = facts.reading();
  const KeyValue* found = reading.find(key_text(order));
  if (key.kind == KeyKind::plan) {
    return decide_plan_order(order, key.names.front(), facts, orderer);
  }
  if (key.kind == KeyKind::node_command) return decide_command_order(order, key, reading, orderer);
  if (found == nullptr && order.deed != Deed::put) return absent(order.subject + " is not set");
  if (key.kind == KeyKind::rollout) {
    return decide_rollout_order(order, key.names.front(), found, facts, orderer);
  }
  return write(order, key, found, facts, orderer);
}

// Returns whether the order must be refused while the record `stop` exists, since it begins
// something.
bool begins(const OrderTaken& taken) {
  const auto is_of_stop = [](const Compare& one) {
    return one.key == key_of(KeyKind::stop) && one.revision == 0;
  };
  return taken.creation != nullptr ||
         std::ranges::any_of(taken.parts, [&is_of_stop](const Transaction& part) {
           return std::ranges::any_of(part.compares, is_of_stop);
         });
}

}  // namespace

bool is_orderable(KeyKind kind) {
  return std::find(orderable.begin(), orderable.end(), kind) != orderable.end();
}

std::vector<std::string> order_reads(const Order& order) {
  const auto key = parse_key(key_text(order));
  if (!key) return {};
  std::vector<std::string> keys{key_text(order)};
  std::vector<std::string> more;
  if (key->kind == KeyKind::rollout) {
    more = needs_of_rollout(order, key->names.front());
  } else if (key->kind == KeyKind::plan) {
    more = needs_of_plan(order, key->names.front());
  } else if (key->kind == KeyKind::node_command) {
    more = needs_of_command(order, *key);
  } else if (key->kind == KeyKind::stop) {
    more = {key_of(KeyKind::epoch)};
  } else if (const auto body = parse_tree(order.body)) {
    more = needs_of_record(*key, body.value());
  }
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

void add_lease(OrderTaken& taken, LeaseId lease) {
  for (Transaction& part : taken.parts) {
    for (Put& put : part.puts)
      put.lease = lease;
  }
}

const std::vector<NodeView>& CellFacts::nodes() const {
  if (!nodes_) nodes_ = nodes_in(reading_);
  return *nodes_;
}

OrderDecision decide_order(const Order& order, const Reading& reading, const Orderer& orderer) {
  return decide_order(order, CellFacts(reading), orderer);
}

OrderDecision decide_order(const Order& order, const CellFacts& facts, const Orderer& orderer) {
  const auto key = parse_key(key_text(order));
  if (!key || !is_orderable(key->kind)) {
    return absent("there is no " + order.subject + " that could be set");
  }
  OrderDecision decision = decide(order, *key, facts, orderer);
  if (auto* taken = std::get_if<OrderTaken>(&decision)) {
    const KeyValue* stop = facts.reading().find(key_of(KeyKind::stop));
    if (stop != nullptr && begins(*taken)) return conflict(why_nothing_begins(stop->value));
    const std::string own_trace = taken->event.trace;
    taken->event = {.time = orderer.time,
                    .kind = "ordered",
                    .subject = order.subject,
                    .text = brief(taken->event.text),
                    .trace = own_trace.empty() ? orderer.trace : own_trace,
                    .who = orderer.who,
                    .proved = orderer.is_proved};
  }
  return decision;
}

}  // namespace fleet
