// This file decides about orders of people to begin, pause, resume, abort or undo a rollout.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "fleet/model/nodes/identities.h"
#include "fleet/model/nodes/node_view.h"
#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/record_tree.h"
#include "fleet/model/records/settings.h"
#include "fleet/model/rollouts/rollout_draft.h"
#include "fleet/model/rollouts/rollout_terms.h"
#include "fleet/model/rollouts/rollout_wish.h"
#include "fleet/orders/order.h"
#include "fleet/orders/order_kinds.h"

namespace fleet {
namespace {

using agent_protocol::Refusal;
using agent_protocol::Result;

// Returns the value of the JSON member `name`, which must be the only member of the order's body.
Result<JsonTree> only_member(const Order& order, const std::string& name) {
  const auto body = parse_tree(order.body.empty() ? "{}" : order.body);
  if (!body) return Refusal{"the body is no JSON object: " + body.reason()};
  for (const auto& [other, value] : body.value().members) {
    if (other != name && other != "v") return Refusal{"of a rollout " + name + " alone is given"};
  }
  const JsonTree* member = body.value().find(name);
  if (member == nullptr) return Refusal{name + " is missing"};
  return *member;
}

// Returns the terms in an order. An unknown member is refused, since it is most likely a person's
// mistake. (In records from the store, unknown members are ignored.)
Result<RolloutTerms> terms_in(const Order& order) {
  const auto terms = only_member(order, "terms");
  if (!terms) return terms.refusal();
  const auto names = member_names<RolloutTerms>();
  for (const auto& [name, value] : terms.value().members) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return Refusal{"terms: " + no_member(name, names)};
    }
  }
  JsonTree record = json_object();
  record.members["terms"] = terms.value();
  auto rollout = read_record<Rollout>(write_tree(record));
  if (!rollout) return rollout.refusal();
  RolloutTerms& read = rollout.value().terms;
  const auto is_said = [&terms](const std::string& name) {
    return terms.value().find(name) != nullptr;
  };
  if (is_said("order") && read.order == NodeOrder::unknown) {
    return Refusal{"terms: order is random or name"};
  }
  // The number `unsaid` stands for a value that was not given, so a person must not write it.
  if ((is_said("batch") && read.batch == unsaid) ||
      (is_said("max_failed") && read.max_failed == unsaid)) {
    return Refusal{"terms: batch and max_failed are at least 1"};
  }
  const RolloutTerms open = open_terms();
  if (!is_said("batch") && !is_said("batch_percent")) read.batch = open.batch;
  if (!is_said("order")) read.order = open.order;
  if (!is_said("soak_ms")) read.soak_ms = open.soak_ms;
  if (!is_said("spread_ms")) read.spread_ms = open.spread_ms;
  if (!is_said("max_failed")) read.max_failed = open.max_failed;
  read.max_failed_unsaid = false;
  if (!read.batches.empty() && (is_said("batch") || is_said("batch_percent") || is_said("canary")))
    return Refusal{"terms: batches stands in place of batch, batch_percent and canary"};
  return read;
}

// Returns the batches as JSON, for the person who gives the order.
std::string shown(const RolloutDraft& draft) {
  JsonTree tree = json_object();
  JsonTree& batches = tree.members["batches"] = {.kind = JsonTree::Kind::array};
  for (const auto& batch : draft.batches)
    batches.elements.push_back(json_texts(batch));
  if (!draft.terms.seed.empty()) tree.members["seed"] = json_text(draft.terms.seed);
  tree.members["excluded"] = json_texts(draft.excluded);
  tree.members["not_covered"] = json_texts(draft.not_covered);
  return write_tree(tree);
}

// Returns those of `nodes` that are in a batch of the draft.
std::vector<NodeView> taken_of(const std::vector<NodeView>& nodes, const RolloutDraft& draft) {
  std::set<std::string> taken;
  for (const auto& batch : draft.batches)
    taken.insert(batch.begin(), batch.end());
  std::vector<NodeView> found;
  std::ranges::copy_if(nodes, std::back_inserter(found),
                       [&taken](const NodeView& node) { return taken.contains(node.id); });
  return found;
}

std::optional<OrderRefused> why_no_name(const std::string& id) {
  if (is_rollout_id(id)) return std::nullopt;
  return malformed("no rollout is called " + id + ": " +
                   why_no_driven_name(id).value_or("the name is too long"));
}

OrderDecision begin_rollout(const Order& order, const std::string& id, const CellFacts& facts,
                            const Orderer& orderer) {
  const Reading& reading = facts.reading();
  if (auto refused = why_no_name(id)) return *refused;
  if (const auto used = why_name_was_used(id, reading)) return conflict(*used);
  if (reading.find(key_of(KeyKind::plan, {id})) != nullptr) {
    return conflict("there is a plan " + id + ": choose another name");
  }
  auto asked = terms_in(order);
  if (!asked) return malformed(asked.reason());
  RolloutTerms& terms = asked.value();
  if (!is_component(terms.component) || !is_version_name(terms.version)) {
    return malformed("terms: a component and a version are needed");
  }
  const std::string what = terms.component + " " + terms.version;
  const auto found = published_release(reading, terms.component, terms.version);
  if (!found) return malformed(found.reason());
  terms.digest = found.value().release.digest;
  terms.no_undo = !may_be_undone(found.value().release);
  terms.min_protocol = std::max(terms.min_protocol, found.value().release.min_protocol);
  const std::vector<NodeView>& nodes = facts.nodes();
  const auto draft =
      draft_rollout(terms, candidates_in(nodes, terms.component), orderer.trace,
                    {.many_batches = order.many_batches, .budgets = budgets_in(reading)});
  if (!draft) return malformed(draft.reason());
  terms = draft.value().terms;
  const auto down =
      why_no_going_down(taken_of(nodes, draft.value()), terms.component, terms.version);
  if (down && !terms.downgrade) return malformed(*down);
  Rollout rollout{
      .terms = terms, .who = orderer.who, .trace = orderer.trace, .created = orderer.time};
  OrderTaken taken{.is_new = true, .shown = shown(draft.value())};
  taken.creation = std::make_shared<RolloutCreation>(id, std::move(rollout), draft.value(),
                                                     found.value().revision);
  taken.event.text = "begins: " + what;
  return taken;
}

struct Told {
  RolloutWish wish = RolloutWish::pause;
  bool leave = false;
};

Result<Told> told_in(const Order& order) {
  const auto told = only_member(order, "order");
  if (!told) return told.refusal();
  switch (value_of<RolloutOrder>(told.value().text)) {
    case RolloutOrder::pause:
      return Told{RolloutWish::pause};
    case RolloutOrder::none:
      return Told{RolloutWish::resume};
    case RolloutOrder::abort:
      return Told{RolloutWish::abort};
    case RolloutOrder::abort_and_leave:
      return Told{RolloutWish::abort, true};
    case RolloutOrder::undo:
      return Told{RolloutWish::undo};
    case RolloutOrder::undo_now:
      return Told{RolloutWish::undo_now};
    case RolloutOrder::unknown:
      break;
  }
  return Refusal{"an order is pause, none (it goes on), abort, abort-and-leave, undo or undo-now"};
}

OrderDecision tell(const Order& order, const std::string& id, const KeyValue& found,
                   const Orderer& orderer) {
  const auto asked = told_in(order);
  if (!asked) return malformed(asked.reason());
  const auto decided = ordered(id, found, asked.value().wish, asked.value().leave, orderer.who);
  if (!decided) return conflict(id + ": " + decided.reason());
  OrderTaken taken;
  if (decided.value().transaction) taken.parts.push_back(*decided.value().transaction);
  taken.event.text = decided.value().words;
  return taken;
}

}  // namespace

std::vector<std::string> needs_of_rollout(const Order& order, const std::string& id) {
  std::vector<std::string> keys{key_of(KeyKind::stop)};
  if (order.deed != Deed::put) return keys;
  keys.insert(keys.end(),
              {prefix_of(KeyKind::node_info), node_identities(), key_of(KeyKind::settings),
               prefix_of(KeyKind::history), key_of(KeyKind::plan, {id})});
  if (const auto terms = terms_in(order);
      terms && is_component(terms.value().component) && is_version_name(terms.value().version)) {
    keys.push_back(key_of(KeyKind::release, {terms.value().component, terms.value().version}));
  }
  return keys;
}

OrderDecision decide_rollout_order(const Order& order, const std::string& id, const KeyValue* found,
                                   const CellFacts& facts, const Orderer& orderer) {
  if (order.deed == Deed::erase) {
    return malformed("a rollout is not taken away: PATCH its order to abort");
  }
  if (order.deed == Deed::patch) return tell(order, id, *found, orderer);
  if (found != nullptr) {
    return conflict("rollout " + id + " is there already, and its terms never change");
  }
  return begin_rollout(order, id, facts, orderer);
}

}  // namespace fleet
