#include "fleet/model/desired_decision.h"

#include <algorithm>
#include <cstdint>

#include "fleet/model/desired_standing.h"
#include "fleet/model/ids.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace fleet {
namespace {

// The name of the component fleet-agent. An upgrade of fleet-agent shows in the records of its
// instances, and an upgrade of any other component in the record node/ID/upgrade/COMPONENT.
constexpr std::string_view own_component = "agent";

class DesiredDecider {
 public:
  DesiredDecider(const DesiredView& view, const DesiredSettings& settings,
                 const DesiredMarks& marks, Revision fence, LeaseId lease, Ms now,
                 const Budgets* budgets)
      : view_(view),
        settings_(settings),
        marks_(marks),
        fence_(fence),
        lease_(lease),
        now_(now),
        budgets_(budgets),
        wish_(view.wish()) {
    if (wish_) count();
  }

  DesiredDecision decide() {
    if (auto freed = free_places()) return *freed;
    for (const auto& [id, node] : view_.nodes()) {
      if (wish_ && is_late(id, node)) return take_back(id, node);
      if (may_stop(id, node) && has_places(id)) return stop_old(id, node);
    }
    for (const auto& [id, node] : view_.nodes()) {
      if (wish_ && may_begin(node) && !is_closed(id)) return begin(id, node);
    }
    return {.until = next_look()};
  }

 private:
  void count() {
    for (const auto& [id, node] : view_.nodes()) {
      if (!node.running.empty()) ++all_;
      if (is_under_way(node, *wish_)) ++under_way_;
      if (has_failed(node, *wish_)) ++failed_;
      if (runs(node, wish_->desired.version) && !is_under_way(node, *wish_)) ++committed_;
    }
  }

  [[nodiscard]] bool is_halted() const { return failed_ >= settings_.max_failed; }

  [[nodiscard]] bool is_closed(const std::string& id) const {
    const bool is_free = wish_ && wish_->desired.ignore_window;
    return marks_.closed.contains(id) && !is_free;
  }

  // ---- begin

  [[nodiscard]] bool may_begin(const DesiredNode& node) const {
    const Desired& own = node.desired.record;
    const bool moved_since = node.desired.revision > wish_->revision;
    if (view_.is_stopped() || is_halted() || node.claim.revision != 0) return false;
    if (own.pinned || moved_since || is_told(node, *wish_)) return false;
    if (node.running.empty()) return false;  // the node does not have this component
    // A node that runs the wished version already gets no order, unless another version waits at
    // its gate for an older wish: the new wish cancels that upgrade.
    const bool waits = phase_of(node) != UpgradePhase::unknown && !is_ended(phase_of(node));
    if (runs(node, wish_->desired.version) && !waits) return false;
    const auto active = node.instances.find(node.active.record.instance);
    if (node.active.revision == 0 || active == node.instances.end()) return false;
    if (!active->second.record.degraded.empty()) return false;
    const std::int64_t some = std::max<std::int64_t>(1, all_ * settings_.uncommitted_percent / 100);
    return waits || under_way_ < (committed_ > 0 ? some : 1);
  }

  DesiredDecision begin(const std::string& id, const DesiredNode& node) const {
    Transaction transaction = fenced();
    transaction.compares.push_back({.key = key_of(KeyKind::stop)});
    compare_orders(transaction, id, node);
    put_order(transaction, id, wish_->desired.version, "desired");
    return {.transaction = transaction, .news = id + " begins to go to " + wish_->desired.version};
  }

  // ---- take back

  [[nodiscard]] bool is_late(const std::string& id, const DesiredNode& node) const {
    if (!is_under_way(node, *wish_) || phase_of(node) == UpgradePhase::cutover_ready) return false;
    // A node is sent back to the version that it reports. If what it reports is not a valid name of
    // a version, it cannot be sent back.
    if (!is_version_name(node.running)) return false;
    const auto told = marks_.told.find(id);
    return told != marks_.told.end() && now_ >= told->second.second + settings_.staging_ms;
  }

  DesiredDecision take_back(const std::string& id, const DesiredNode& node) const {
    Transaction transaction = fenced();
    compare_orders(transaction, id, node);
    const std::string why = "has not come to its gate in time";
    put_order(transaction, id, node.running, why);
    return {.transaction = transaction, .news = id + " " + why};
  }

  // ---- cut over

  // Returns the new process or version for which the old instance may stop, or null if none is
  // known to be fit. For fleet-agent, this is the id of the new instance. For another component, it
  // is the version that waits at its gate. It must be of the wished version, and this controller
  // itself must have seen it ready for observe_ms.
  [[nodiscard]] const std::string* successor(const std::string& id, const DesiredNode& node) const {
    const std::string_view wanted = without_build(node.desired.record.version);
    if (view_.component() != own_component) {
      const auto mark = marks_.ready.find({id, ""});
      const bool is_wanted = without_build(node.upgrade.record.to) == wanted;
      const bool is_seen =
          mark != marks_.ready.end() && now_ >= mark->second.first + settings_.observe_ms;
      return is_seen && is_wanted ? &node.upgrade.record.to : nullptr;
    }
    for (const auto& [name, seen] : node.instances) {
      const Instance& instance = seen.record;
      if (name == node.active.record.instance || !instance.ready || !instance.degraded.empty() ||
          instance.boot_id != node.active.record.boot_id ||
          without_build(instance.version) != wanted) {
        continue;
      }
      const auto mark = marks_.ready.find({id, name});
      if (mark == marks_.ready.end() || mark->second.second != instance.version) continue;
      if (now_ >= mark->second.first + settings_.observe_ms) return &name;
    }
    return nullptr;
  }

  [[nodiscard]] bool may_stop(const std::string& id, const DesiredNode& node) const {
    if (view_.is_stopped() || node.claim.revision != 0 || is_closed(id)) return false;
    if (phase_of(node) != UpgradePhase::cutover_ready) return false;
    const bool ours = wish_ && is_told(node, *wish_);
    if (!node.desired.record.pinned && (!ours || is_halted())) return false;
    if (node.command.record.id == stop_id(node)) return false;
    return node.instances.contains(node.active.record.instance) && successor(id, node) != nullptr;
  }

  [[nodiscard]] std::string run() const { return "desired/" + view_.component(); }

  [[nodiscard]] bool has_places(const std::string& id) const {
    if (budgets_ == nullptr) return true;
    const PlacesAnswer answer = budgets_->ask(run(), {id}, budget_labels_max);
    return answer.waits_for.empty() && answer.impossible.empty();
  }

  // Gives back the places of budgets that were taken for nodes whose upgrade has ended.
  [[nodiscard]] std::optional<DesiredDecision> free_places() const {
    if (budgets_ == nullptr) return std::nullopt;
    for (const std::string& id : budgets_->nodes_of(run())) {
      const auto node = view_.nodes().find(id);
      const bool has_ended =
          node == view_.nodes().end() || is_ended(node->second.upgrade.record.phase);
      if (!has_ended) continue;
      Transaction transaction = fenced();
      for (const std::string& key : budgets_->held(run(), id))
        transaction.erases.push_back({.key = key});
      return DesiredDecision{.transaction = transaction};
    }
    return std::nullopt;
  }

  DesiredDecision stop_old(const std::string& id, const DesiredNode& node) const {
    const std::string& next = *successor(id, node);
    const std::string& old = node.active.record.instance;
    const std::string& version = node.desired.record.version;
    Transaction transaction = fenced();
    transaction.compares.push_back({.key = key_of(KeyKind::stop)});
    compare_orders(transaction, id, node);
    transaction.compares.push_back(
        {.key = key_of(KeyKind::node_active, {id}), .revision = node.active.revision});
    transaction.compares.push_back(
        view_.component() == own_component
            ? Compare{.key = key_of(KeyKind::node_instance, {id, next}),
                      .revision = node.instances.at(next).revision}
            : Compare{.key = key_of(KeyKind::node_upgrade, {id, view_.component()}),
                      .revision = node.upgrade.revision});
    const Command command{.id = stop_id(node),
                          .action = CommandAction::stop,
                          .instance = old,
                          .not_after_ms = settings_.stop_ms,
                          .deadline_ms = settings_.stop_ms,
                          .reason = version + " is ready",
                          .trace = node.desired.record.trace};
    transaction.puts.push_back({.key = key_of(KeyKind::node_command, {id, view_.component()}),
                                .value = write_record(command),
                                .lease = lease_});
    if (budgets_ != nullptr) {
      const PlacesAnswer answer = budgets_->ask(run(), {id}, budget_labels_max);
      auto& compares = transaction.compares;
      compares.insert(compares.end(), answer.compares.begin(), answer.compares.end());
      transaction.puts.insert(transaction.puts.end(), answer.puts.begin(), answer.puts.end());
    }
    return {.transaction = transaction, .news = id + ": " + old + " is told to stop for " + next};
  }

  // ---- transactions

  [[nodiscard]] Transaction fenced() const {
    return {.compares = {{.key = key_of(KeyKind::driver, {"desired"}),
                          .of = Compare::Of::created,
                          .revision = fence_}}};
  }

  // Adds compares for the wish of the whole cell, the wish of this node, and the claim on the node.
  // So the store refuses the transaction if somebody changes one of these records at this moment.
  void compare_orders(Transaction& transaction, const std::string& id,
                      const DesiredNode& node) const {
    transaction.compares.push_back({.key = key_of(KeyKind::desired, {view_.component()}),
                                    .revision = wish_ ? wish_->revision : 0});
    transaction.compares.push_back({.key = key_of(KeyKind::node_desired, {id, view_.component()}),
                                    .revision = node.desired.revision});
    transaction.compares.push_back({.key = key_of(KeyKind::node_claim, {id, view_.component()})});
  }

  void put_order(Transaction& transaction, const std::string& id, const std::string& version,
                 const std::string& why) const {
    Desired order = wish_->desired;
    if (version != order.version) order.digest.clear();
    order.version = version;
    order.why = why;
    order.trace = wish_->trace();
    transaction.puts.push_back({.key = key_of(KeyKind::node_desired, {id, view_.component()}),
                                .value = write_record(order)});
  }

  [[nodiscard]] std::optional<Ms> next_look() const {
    std::optional<Ms> first;
    const auto consider = [&](Ms at) {
      if (at > now_ && (!first || at < *first)) first = at;
    };
    for (const auto& [key, mark] : marks_.ready)
      consider(mark.first + settings_.observe_ms);
    for (const auto& [id, opens] : marks_.closed)
      if (opens) consider(*opens);
    for (const auto& [id, mark] : marks_.told)
      consider(mark.second + settings_.staging_ms);
    return first;
  }

  const DesiredView& view_;
  const DesiredSettings& settings_;
  const DesiredMarks& marks_;
  Revision fence_;
  LeaseId lease_;
  Ms now_;
  const Budgets* budgets_;
  std::optional<CellWish> wish_;
  std::int64_t all_ = 0;
  std::int64_t under_way_ = 0;
  std::int64_t failed_ = 0;
  std::int64_t committed_ = 0;
};

}  // namespace

void look(const DesiredView& view, DesiredMarks& marks, Ms now) {
  DesiredMarks fresh;
  const auto is_ready = [&](const std::string& id, const std::string& name,
                            const std::string& what) {
    const auto before = marks.ready.find({id, name});
    const bool same = before != marks.ready.end() && before->second.second == what;
    fresh.ready[{id, name}] = {same ? before->second.first : now, what};
  };
  for (const auto& [id, node] : view.nodes()) {
    for (const auto& [name, seen] : node.instances) {
      if (!seen.record.ready || !seen.record.degraded.empty()) continue;
      is_ready(id, name, seen.record.version);
    }
    if (view.component() != own_component && phase_of(node) == UpgradePhase::cutover_ready) {
      is_ready(id, "", node.upgrade.record.attempt);
    }
    if (node.desired.revision == 0 || is_ended(phase_of(node))) continue;
    const auto before = marks.told.find(id);
    const bool same = before != marks.told.end() && before->second.first == node.desired.revision;
    fresh.told[id] = {node.desired.revision, same ? before->second.second : now};
  }
  marks = std::move(fresh);
}

DesiredDecision decide_desired(const DesiredView& view, const DesiredSettings& settings,
                               const DesiredMarks& marks, Revision fence, LeaseId lease, Ms now,
                               const Budgets* budgets) {
  return DesiredDecider(view, settings, marks, fence, lease, now, budgets).decide();
}

}  // namespace fleet
