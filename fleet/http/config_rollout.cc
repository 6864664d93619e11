#include "fleet/http/config_rollout.h"

#include <algorithm>
#include <utility>

#include "fleet/model/enum_text.h"
#include "fleet/model/ids.h"
#include "fleet/model/node_view.h"
#include "fleet/model/record_text.h"
#include "fleet/model/record_tree.h"
#include "fleet/model/rollout_wish.h"

namespace fleet {
namespace {

using agent_protocol::Refusal;
using agent_protocol::Result;

// The one member that the body has.
Result<JsonTree> only_member(const Request& request, const std::string& name) {
  const auto body = parse_tree(request.body.empty() ? "{}" : request.body);
  if (!body) return Refusal{"the body is no JSON object: " + body.reason()};
  for (const auto& [other, value] : body.value().members) {
    if (other != name && other != "v") return Refusal{"of a rollout " + name + " alone is given"};
  }
  const JsonTree* member = body.value().find(name);
  if (member == nullptr) return Refusal{name + " is missing"};
  return *member;
}

// A member that no record has is ignored by whoever reads records; here a person has written it,
// and meant another.
Result<RolloutTerms> terms_in(const Request& request) {
  const auto terms = only_member(request, "terms");
  if (!terms) return terms.refusal();
  const auto names = member_names<RolloutTerms>();
  for (const auto& [name, value] : terms.value().members) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return Refusal{"terms: there is no member " + name};
    }
  }
  JsonTree record{.kind = JsonTree::Kind::object};
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

// What people see before it begins, and after.
std::string shown(const RolloutDraft& draft) {
  JsonTree tree{.kind = JsonTree::Kind::object};
  JsonTree& batches = tree.members["batches"] = {.kind = JsonTree::Kind::array};
  for (const auto& batch : draft.batches)
    batches.elements.push_back(json_texts(batch));
  if (!draft.terms.seed.empty()) tree.members["seed"] = json_text(draft.terms.seed);
  tree.members["excluded"] = json_texts(draft.excluded);
  tree.members["not_covered"] = json_texts(draft.not_covered);
  return write_tree(tree);
}

ConfigDecision begin(const Request& request, const std::string& id, const Reading& reading,
                     const ConfigMoment& moment) {
  if (!is_rollout_id(id)) {
    return refused(400, "no rollout is called " + id + ": " +
                            why_no_driven_name(id).value_or("the name is too long"));
  }
  auto asked = terms_in(request);
  if (!asked) return refused(400, asked.reason());
  RolloutTerms& terms = asked.value();
  if (!is_component(terms.component) || !is_version_name(terms.version)) {
    return refused(400, "terms: a component and a version are needed");
  }
  const KeyValue* found = reading.find(key_of(KeyKind::release, {terms.component, terms.version}));
  if (found == nullptr) {
    return refused(400, terms.component + " " + terms.version + " is not published");
  }
  const auto release = read_record<Release>(found->value);
  if (!release) return refused(400, "the release " + release.reason());
  terms.digest = release.value().digest;
  terms.min_protocol = std::max(terms.min_protocol, release.value().min_protocol);
  const auto draft = draft_rollout(terms, candidates_in(nodes_in(reading), terms.component),
                                   moment.trace, {.many_batches = request.query.contains("yes")});
  if (!draft) return refused(400, draft.reason());
  terms = draft.value().terms;
  Rollout rollout{
      .terms = terms, .who = request.visitor->name, .trace = moment.trace, .created = moment.time};
  ConfigDecision decision{.response = {.status = 201, .body = shown(draft.value())}};
  if (request.query.contains("validate")) return decision;
  decision.creation = RolloutCreation(id, std::move(rollout), draft.value(), found->modified);
  return decision;
}

struct Order {
  RolloutWish wish = RolloutWish::pause;
  bool leave = false;
};

Result<Order> order_in(const Request& request) {
  const auto order = only_member(request, "order");
  if (!order) return order.refusal();
  switch (value_of<RolloutOrder>(order.value().text)) {
    case RolloutOrder::pause:
      return Order{RolloutWish::pause};
    case RolloutOrder::none:
      return Order{RolloutWish::resume};
    case RolloutOrder::abort:
      return Order{RolloutWish::abort};
    case RolloutOrder::abort_and_leave:
      return Order{RolloutWish::abort, true};
    case RolloutOrder::unknown:
      break;
  }
  return Refusal{"an order is pause, none (it goes on), abort or abort-and-leave"};
}

ConfigDecision order(const Request& request, const std::string& id, const KeyValue& found) {
  const auto asked = order_in(request);
  if (!asked) return refused(400, asked.reason());
  const auto decided =
      ordered(id, found, asked.value().wish, asked.value().leave, request.visitor->name);
  if (!decided) return refused(412, id + ": " + decided.reason());
  ConfigDecision decision{.response = {.status = 204}};
  if (!request.query.contains("validate")) decision.transaction = decided.value().transaction;
  return decision;
}

}  // namespace

std::vector<std::string> rollout_needs(const Request& request) {
  if (request.method != Method::put) return {};
  std::vector<std::string> keys{prefix_of(KeyKind::node_info)};
  if (const auto terms = terms_in(request);
      terms && is_component(terms.value().component) && is_version_name(terms.value().version)) {
    keys.push_back(key_of(KeyKind::release, {terms.value().component, terms.value().version}));
  }
  return keys;
}

ConfigDecision decide_rollout(const Request& request, const std::string& id, const KeyValue* found,
                              const Reading& reading, const ConfigMoment& moment) {
  if (request.method == Method::erase) {
    return refused(400, "a rollout is not taken away: PATCH its order to abort");
  }
  if (request.method == Method::patch) return order(request, id, *found);
  if (found != nullptr) {
    return refused(412, "rollout " + id + " is there already, and its terms never change");
  }
  return begin(request, id, reading, moment);
}

}  // namespace fleet
