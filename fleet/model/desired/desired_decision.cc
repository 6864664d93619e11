#include "fleet/model/desired/desired_decision.h"

#include <algorithm>
#include <cstdint>

#include "fleet/model/desired/desired_view.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

class DesiredDecider {
 public:
  DesiredDecider(const DesiredView& view, const DesiredSettings& settings, DesiredMarks& marks,
                 Revision fence, LeaseId lease, Ms now, const Budgets* budgets,
                 const DesiredOpening& opening)
      : view_(view),
        settings_(settings),
        marks_(marks),
        fence_(fence),
        lease_(lease),
        now_(now),
        budgets_(budgets),
        opening_(opening),
        wish_(view.wish()) {}

  DesiredDecision decide() {
    if (auto freed = free_places()) return *freed;
    if (marks_.opens_at() && *marks_.opens_at() <= now_) marks_.reopen();
    if (const auto* late = first_until(marks_.coming(), now_ - settings_.staging_ms)) {
      return take_back(late->second, view_.nodes().at(late->second));
    }
    if (!marks_.left().empty()) return leave(*marks_.left().begin());
    if (auto stops = stop_next()) return *stops;
    if (auto halted = refuse_wish()) return *halted;
    if (auto begins = begin_next()) return *begins;
    return {.until = next_look()};
  }

 private:
  using ByTime = DesiredMarks::ByTime;

  // Returns the entry of `times` with the earliest time. Returns null if that time is later than
  // `until`, or if `times` is empty.
  [[nodiscard]] static const ByTime::value_type* first_until(const ByTime& times, Ms until) {
    return times.empty() || times.begin()->first > until ? nullptr : &*times.begin();
  }

  [[nodiscard]] bool is_halted() const { return has_halted(marks_.counts(), settings_); }

  // Returns whether the node ignores its maintenance window. If the node is pinned to a version of
  // its own, the order that has pinned it decides. Otherwise the order that has set the cell's
  // desired version decides.
  [[nodiscard]] bool ignores_window(const std::string& id) const {
    const Desired& own = view_.nodes().at(id).desired.record;
    return own.pinned ? own.ignore_window : wish_ && wish_->desired.ignore_window;
  }

  // Returns whether the node's maintenance window is closed, or closes before a step of the upgrade
  // that takes the time `takes` can be over.
  [[nodiscard]] bool is_closed(const std::string& id, Ms takes) {
    if (ignores_window(id)) return false;
    if (marks_.is_closed(id)) return true;
    if (!opening_) return false;
    const Opening opening = opening_(id, takes);
    if (!opening.is_open) marks_.close(id, opening.until);
    return !opening.is_open;
  }

  // ---- begin

  std::optional<DesiredDecision> begin_next() {
    if (!wish_ || view_.is_stopped() || is_halted()) return std::nullopt;
    if (auto begins = begin_first_of(marks_.waiting())) return begins;
    const bool is_one_more = may_one_more_begin(marks_.counts(), settings_);
    return is_one_more ? begin_first_of(marks_.beginning()) : std::nullopt;
  }

  // Gives the order to move to the first of these nodes whose maintenance window is open. Returns
  // no value if all windows are closed.
  std::optional<DesiredDecision> begin_first_of(const std::set<std::string>& ids) {
    for (auto at = ids.begin(); at != ids.end();) {
      // is_closed() may remove this node from `ids`, so advance the iterator before the call.
      const std::string id = *at++;
      if (!is_closed(id, upgrade_ms(settings_))) return begin(id, view_.nodes().at(id));
    }
    return std::nullopt;
  }

  DesiredDecision begin(const std::string& id, const DesiredNode& node) const {
    Transaction transaction = fenced();
    transaction.compares.push_back({.key = key_of(KeyKind::stop)});
    compare_orders(transaction, id, node);
    put_order(transaction, id, wish_->desired.version, "desired");
    return {.transaction = transaction, .news = id + " begins to go to " + wish_->desired.version};
  }

  // ---- halt

  // Marks the desired version as refused when it has failed on max_failed nodes. Then no other node
  // moves to it, even if a rollout later gives the failed nodes another version. The mark is not
  // written while a node is still on its way to the version (coming()): if that node is too slow,
  // it has to be ordered back, and no such order is given for a refused version.
  std::optional<DesiredDecision> refuse_wish() const {
    if (!wish_ || !is_halted() || !marks_.coming().empty()) return std::nullopt;
    std::vector<std::string> failed;
    std::string why;
    for (const auto& [id, node] : view_.nodes()) {
      if (!has_failed(node, *wish_)) continue;
      const bool is_late = node.desired.record.version != wish_->desired.version;
      if (failed.empty()) why = is_late ? node.desired.record.why : node.upgrade.record.error;
      failed.push_back(id);
    }
    Desired refused = wish_->desired;
    refused.refused = "it has failed on " + listed(failed) + (why.empty() ? "" : ": " + why);
    const std::string key = key_of(KeyKind::desired, {view_.component()});
    Transaction transaction = fenced();
    transaction.compares.push_back({.key = key, .revision = wish_->revision});
    transaction.puts.push_back({.key = key, .value = write_record(refused)});
    return DesiredDecision{.transaction = transaction,
                           .news = refused.version + " moves no node: " + refused.refused};
  }

  // ---- take back

  DesiredDecision take_back(const std::string& id, const DesiredNode& node) const {
    Transaction transaction = fenced();
    compare_orders(transaction, id, node);
    const std::string why = "has not come to its gate in time";
    put_order(transaction, id, node.running, why);
    return {.transaction = transaction, .news = id + " " + why};
  }

  // Orders a node to keep the version that it runs, since a person has removed the desired version.
  // Otherwise the new version would wait for ever for the order to replace the old one.
  [[nodiscard]] DesiredDecision leave(const std::string& id) const {
    const DesiredNode& node = view_.nodes().at(id);
    Transaction transaction = fenced();
    compare_orders(transaction, id, node);
    transaction.compares.push_back({.key = key_of(KeyKind::node_command, {id, view_.component()}),
                                    .revision = node.command.revision});
    Desired order = node.desired.record;
    order.version = node.running;
    order.digest.clear();
    order.why = "the desired version was removed";
    transaction.puts.push_back({.key = key_of(KeyKind::node_desired, {id, view_.component()}),
                                .value = write_record(order)});
    return {.transaction = transaction, .news = id + " keeps " + node.running + ": " + order.why};
  }

  // ---- cut over

  std::optional<DesiredDecision> stop_next() {
    if (view_.is_stopped()) return std::nullopt;
    for (const auto& [since, id] : marks_.at_gate()) {
      if (since + settings_.observe_ms > now_) break;
      const DesiredNode& node = view_.nodes().at(id);
      if (!node.desired.record.pinned && is_halted()) continue;
      if (!is_closed(id, settings_.stop_ms) && has_places(id)) return stop_old(id, node);
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string run() const { return run_of_desired(view_.component()); }

  [[nodiscard]] bool has_places(const std::string& id) const {
    if (budgets_ == nullptr) return true;
    const PlacesAnswer answer = budgets_->ask(run(), {id}, budget_labels_max);
    return answer.waits_for.empty() && answer.impossible.empty();
  }

  // Returns whether the upgrade for which the node holds budget places may still be under way. It
  // is under way as long as the phase is `cutover-ready`. A phase that this program does not know,
  // or a record that cannot be read, may mean the same. If the record of the upgrade is absent, the
  // node was removed from the cell, so no upgrade is under way.
  [[nodiscard]] static bool may_be_down(const DesiredNode& node) {
    const UpgradePhase phase = node.upgrade.record.phase;
    return node.upgrade.revision != 0 &&
           (phase == UpgradePhase::cutover_ready || phase == UpgradePhase::unknown);
  }

  // Gives back the budget places of nodes whose upgrade has ended. A budget limits how many nodes
  // may be down at the same time.
  [[nodiscard]] std::optional<DesiredDecision> free_places() const {
    if (budgets_ == nullptr) return std::nullopt;
    for (const std::string& id : budgets_->nodes_of(run())) {
      const auto node = view_.nodes().find(id);
      if (node != view_.nodes().end() && may_be_down(node->second)) continue;
      Transaction transaction = fenced();
      static_cast<void>(budgets_->give_back(transaction, run(), id));
      return DesiredDecision{.transaction = transaction};
    }
    return std::nullopt;
  }

  DesiredDecision stop_old(const std::string& id, const DesiredNode& node) const {
    const std::string next = marks_.successor(id, node)->second;
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

  // Adds three conditions to the transaction: the cell's desired version is unchanged, this node's
  // desired version is unchanged, and neither a rollout nor a person has claimed the node. If one
  // of them does not hold, the store refuses the transaction.
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
    std::optional<Ms> first = marks_.opens_at();
    const auto consider = [&](const ByTime& times, Ms later) {
      const auto at = times.upper_bound({now_ - later, std::string(1, '\x7f')});
      if (at != times.end() && (!first || at->first + later < *first)) first = at->first + later;
    };
    consider(marks_.at_gate(), settings_.observe_ms);
    consider(marks_.coming(), settings_.staging_ms);
    return first;
  }

  const DesiredView& view_;
  const DesiredSettings& settings_;
  DesiredMarks& marks_;
  Revision fence_;
  LeaseId lease_;
  Ms now_;
  const Budgets* budgets_;
  const DesiredOpening& opening_;
  std::optional<CellWish> wish_;
};

}  // namespace

Ms upgrade_ms(const DesiredSettings& settings) {
  return settings.staging_ms + settings.observe_ms + settings.stop_ms;
}

bool has_halted(const WishCount& nodes, const DesiredSettings& settings) {
  return nodes.failed >= settings.max_failed;
}

bool may_one_more_begin(const WishCount& nodes, const DesiredSettings& settings) {
  const std::int64_t some =
      std::max<std::int64_t>(1, nodes.all * settings.uncommitted_percent / 100);
  return nodes.under_way < (nodes.committed > 0 ? some : 1);
}

DesiredDecision decide_desired(const DesiredView& view, const DesiredSettings& settings,
                               DesiredMarks& marks, Revision fence, LeaseId lease, Ms now,
                               const Budgets* budgets, const DesiredOpening& opening) {
  return DesiredDecider(view, settings, marks, fence, lease, now, budgets, opening).decide();
}

}  // namespace fleet
