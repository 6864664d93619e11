#include "fleet/orders/document.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "fleet/model/history/retention.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/settings.h"
#include "fleet/orders/order_kinds.h"

namespace fleet {
namespace {

using agent_protocol::Refusal;
using agent_protocol::Result;

// The kinds of records of which a document may contain several, each with a name.
constexpr auto named_kinds =
    std::to_array<std::string_view>({"desired", "window", "rollout", "plan"});

// The terms of a rollout that are filled in when it begins, whatever their values in the document
// are.
constexpr auto filled_in =
    std::to_array<std::string_view>({"v", "digest", "no_undo", "max_failed_unsaid"});
// The terms that are also filled in if their values in the document are 0 or empty.
constexpr auto filled_in_if_open =
    std::to_array<std::string_view>({"batches", "seed", "confirm_ms"});

std::string order_body(const std::string& kind, const JsonTree& record) {
  if (kind != "rollout") return write_tree(record);
  JsonTree body = json_object();
  body.members["terms"] = record;
  return write_tree(body);
}

JsonTree tree_of_text(const std::string& text) {
  const auto tree = parse_tree(text);
  return tree ? tree.value() : json_object();
}

// Returns one line for each member in which the two records differ, without the signatures, which
// differ in each write.
std::vector<std::string> differences(JsonTree before, JsonTree after) {
  for (const char* name : signatures) {
    before.members.erase(name);
    after.members.erase(name);
  }
  std::vector<std::string> lines;
  const auto shown = [](const JsonTree* member) {
    return member == nullptr ? std::string("not set") : write_tree(*member);
  };
  std::map<std::string, JsonTree> all = before.members;
  all.insert(after.members.begin(), after.members.end());
  for (const auto& [name, value] : all) {
    const JsonTree* old = before.find(name);
    const JsonTree* now = after.find(name);
    if (old != nullptr && now != nullptr && *old == *now) continue;
    if (name == secret_setting) {
      lines.push_back(name + ": another one, which is secret");
      continue;
    }
    lines.push_back(name + ": " + shown(old) + " -> " + shown(now));
  }
  return lines;
}

// ---- rollouts and plans, which are not begun again if they exist already

struct There {
  bool is_there = false;
  std::string why_not = {};  // why the order contradicts the existing record; may be empty
};

// Returns the terms in the record of a rollout, in the form in which programs write them: without
// members that are false or empty.
Result<JsonTree> terms_in(const std::string& record) {
  const auto rollout = read_record<Rollout>(record);
  if (!rollout) return rollout.refusal();
  return *tree_of_text(write_record(rollout.value())).find("terms");
}

// Returns whether an existing rollout with the value `is` of this term may have been begun by a
// document with the value `wanted`. A value is null if it is false, empty or absent.
bool may_come_of(const std::string& name, const JsonTree* is, const JsonTree* wanted) {
  if (is == nullptr || wanted == nullptr ? is == wanted : *is == *wanted) return true;
  if (std::ranges::find(filled_in, name) != filled_in.end()) return true;
  const bool is_nothing = wanted == nullptr || wanted->text.empty() ||
                          (wanted->kind == JsonTree::Kind::number && wanted->text == "0");
  if (is_nothing && std::ranges::find(filled_in_if_open, name) != filled_in_if_open.end()) {
    return true;
  }
  // A rollout may need a newer protocol than the document says: the release may have raised it.
  if (is == nullptr || wanted == nullptr || name != "min_protocol") return false;
  return std::stoll(is->text) > std::stoll(wanted->text);
}

// Compares the terms that the document names with those of the existing rollout. All other terms
// were filled in when the rollout began, so they need not agree.
There rollout_there(const Order& order, const KeyValue& found) {
  const auto there = terms_in(found.value);
  const auto wanted = terms_in(order.body);
  if (!there) return {true, there.reason()};
  if (!wanted) return {true, wanted.reason()};
  const auto names = member_names<RolloutTerms>();
  const JsonTree body = tree_of_text(order.body);
  for (const auto& [name, value] : body.find("terms")->members) {
    if (std::ranges::find(names, name) == names.end()) return {true, no_member(name, names)};
    const JsonTree* is = there.value().find(name);
    if (may_come_of(name, is, wanted.value().find(name))) continue;
    return {true, "it is there already, with other terms: " + name + " is " +
                      (is == nullptr ? "not set" : write_tree(*is)) + " there, and " +
                      write_tree(value) + " here"};
  }
  return {true, ""};
}

There plan_there(const Order& order, const KeyValue& found) {
  const auto there = read_record<Plan>(found.value);
  const auto wanted = read_record<Plan>(order.body);
  if (!there) return {true, there.reason()};
  if (!wanted) return {true, wanted.reason()};
  const Plan& one = wanted.value();
  const Plan& now = there.value();
  const auto other = [&one, &now]() -> std::string {
    if (one.version != now.version) return "version";
    if (one.component != now.component) return "component";
    if (one.agent != now.agent) return "agent";
    if (one.soak_ms != now.soak_ms) return "soak_ms";
    if (one.ignore_window != now.ignore_window) return "ignore_window";
    if (one.over_budget != now.over_budget) return "over_budget";
    const std::string target = one.target.empty() ? "*" : one.target;
    // Earlier versions of this project have written records of plans without the target.
    if (!now.target.empty() && target != now.target) return "target";
    return one.steps == now.steps ? "" : "steps";
  }();
  return {true, other.empty() ? "" : "it is there already, with another value of " + other};
}

There is_there(const Order& order, const ParsedKey& key, const Reading& reading) {
  const KeyValue* found = reading.find(std::string(key_root) + order.subject);
  if (found == nullptr) return {is_in_history(order.subject, reading), ""};
  return key.kind == KeyKind::rollout ? rollout_there(order, *found) : plan_there(order, *found);
}

// ---- one transaction

// Adds everything in the transaction `more` to the transaction `all`, except conditions that `all`
// has already.
void merge(Transaction& all, const Transaction& more) {
  for (const Compare& one : more.compares) {
    if (std::find(all.compares.begin(), all.compares.end(), one) == all.compares.end()) {
      all.compares.push_back(one);
    }
  }
  all.puts.insert(all.puts.end(), more.puts.begin(), more.puts.end());
  all.erases.insert(all.erases.end(), more.erases.begin(), more.erases.end());
}

// Adds a put to the transaction. If the transaction already writes this key, the new value replaces
// the old one.
void put(Transaction& all, const Put& one) {
  const auto same = std::find_if(all.puts.begin(), all.puts.end(),
                                 [&one](const Put& other) { return other.key == one.key; });
  if (same == all.puts.end()) return all.puts.push_back(one);
  *same = one;
}

// Returns one transaction that writes all records of a new rollout or plan: all transactions of
// `creation` together. Returns a Refusal if the result would be too large.
Result<Transaction> whole(Creation& creation) {
  Transaction all;
  KeyValue written{.key = creation.key()};
  while (all.puts.size() <= document_changes_max) {
    const auto next = creation.next(written.modified == 0 ? nullptr : &written, nullptr);
    if (std::holds_alternative<Creation::Begun>(next)) return all;
    if (const auto* not_begun = std::get_if<Creation::NotBegun>(&next)) {
      return Refusal{not_begun->reason};
    }
    Transaction part = std::get<Transaction>(next);
    // All transactions of `creation` but the first compare the revision of the record that the one
    // before has written. There is no such revision inside a single transaction, so leave this
    // compare out.
    const bool is_first = written.modified == 0;
    if (!is_first) std::erase_if(part.compares, [&](auto& one) { return one.key == written.key; });
    ++written.modified;
    for (const Put& one : part.puts) {
      put(all, one);
      if (one.key == written.key) written.value = one.value;
    }
    part.puts.clear();
    merge(all, part);
  }
  return Refusal{"so many nodes do not fit into a document: begin it by itself"};
}

class DocumentDecider {
 public:
  DocumentDecider(const Reading& reading, const Orderer& orderer)
      : reading_(reading), facts_(reading), orderer_(orderer) {}

  // Adds an order to the decision. Returns why the order is refused, or no value on success.
  std::optional<OrderRefused> add(const Order& order) {
    const auto key = parse_key(std::string(key_root) + order.subject);
    if (!key) return malformed("it has a name that no record may have");
    const bool begins = key->kind == KeyKind::rollout || key->kind == KeyKind::plan;
    if (begins) {
      const There there = is_there(order, *key, reading_);
      if (!there.why_not.empty()) return conflict(there.why_not);
      if (there.is_there) return std::nullopt;
    }
    auto decision = decide_order(order, facts_, orderer_);
    if (const auto* refused = std::get_if<OrderRefused>(&decision)) return *refused;
    auto& taken = std::get<OrderTaken>(decision);
    if (begins) return add_begun(order, key->names.front(), taken);
    add_record(order, *key, taken);
    return std::nullopt;
  }

  std::variant<OrderRefused, DocumentDecision> decision() {
    std::vector<std::string> subjects;
    for (const DocumentChange& change : all_.changes)
      subjects.push_back(change.subject);
    const Transaction& whole_of_it = all_.transaction;
    const std::size_t writes = whole_of_it.puts.size() + whole_of_it.erases.size();
    if (writes > document_changes_max) {
      return malformed("the document changes " + std::to_string(writes) + " records; at most " +
                       std::to_string(document_changes_max) + " at once");
    }
    if (auto why = why_not_taken(whole_of_it)) return malformed(std::move(*why));
    all_.event = {.time = orderer_.time,
                  .kind = "ordered",
                  .subject = "document",
                  .text = brief("is applied: " + listed(subjects)),
                  .trace = orderer_.trace,
                  .who = orderer_.who,
                  .proved = orderer_.is_proved};
    return std::move(all_);
  }

 private:
  std::optional<OrderRefused> add_begun(const Order& order, const std::string& name,
                                        const OrderTaken& taken) {
    if (!begun_.insert(name).second) {
      return malformed("a rollout and a plan of the same name cannot both begin");
    }
    const auto transaction = whole(*taken.creation);
    if (!transaction) return malformed(transaction.reason());
    merge(all_.transaction, transaction.value());
    all_.changes.push_back({order.subject, {taken.event.text}});
    return std::nullopt;
  }

  void add_record(const Order& order, const ParsedKey& key, const OrderTaken& taken) {
    const Transaction& part = taken.parts.front();
    const KeyValue* found = reading_.find(std::string(key_root) + order.subject);
    const std::string note =
        found == nullptr ? "" : why_stays_refused(key, found->value, part.puts.front().value);
    if (!note.empty()) {
      all_.notes.push_back(order.subject + ": " + note);
      return;
    }
    const auto lines = found == nullptr ? std::vector<std::string>{"new"}
                                        : differences(tree_of_text(found->value),
                                                      tree_of_text(part.puts.front().value));
    if (lines.empty()) return;
    merge(all_.transaction, part);
    all_.changes.push_back({order.subject, lines});
  }

  const Reading& reading_;
  CellFacts facts_;
  const Orderer& orderer_;
  DocumentDecision all_;
  std::set<std::string> begun_;  // the names of the rollouts and plans that the document begins
};

}  // namespace

Result<std::vector<Order>> orders_in(std::string_view document) {
  if (document.size() > document_bytes_max) {
    return Refusal{"it has more than " + std::to_string(document_bytes_max) + " bytes"};
  }
  const auto tree = parse_tree(document);
  if (!tree) return tree.refusal();
  std::vector<Order> orders;
  for (const auto& [kind, member] : tree.value().members) {
    if (kind == "v") continue;
    const bool is_named =
        std::find(named_kinds.begin(), named_kinds.end(), kind) != named_kinds.end();
    if (!is_named && kind != "settings") {
      return Refusal{kind + ": a document has desired, window, settings, rollout and plan"};
    }
    if (!member.is_object()) return Refusal{kind + " is no object"};
    if (!is_named) {
      orders.push_back({.subject = kind, .body = write_tree(member)});
      continue;
    }
    for (const auto& [name, record] : member.members) {
      const std::string subject = kind + "/" + name;
      if (!record.is_object()) return Refusal{subject + " is no object"};
      orders.push_back({.subject = subject, .body = order_body(kind, record)});
    }
  }
  return orders;
}

std::vector<std::string> document_reads(const std::vector<Order>& orders) {
  std::vector<std::string> keys{prefix_of(KeyKind::history)};
  for (const Order& order : orders) {
    for (std::string& key : order_reads(order))
      keys.push_back(std::move(key));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

std::variant<OrderRefused, DocumentDecision> decide_document(const std::vector<Order>& orders,
                                                             const Reading& reading,
                                                             const Orderer& orderer) {
  DocumentDecider decider(reading, orderer);
  for (const Order& order : orders) {
    auto refused = decider.add(order);
    if (refused) return OrderRefused{refused->why, order.subject + ": " + refused->reason};
  }
  return decider.decision();
}

}  // namespace fleet
