#include "fleet/model/desired_decision.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fleet/model/desired_standing.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace fleet {
namespace {

class Decider {
 public:
  Decider(const DesiredView& view, const DesiredSettings& settings, const DesiredMarks& marks,
          Revision fence, LeaseId lease, Ms now)
      : view_(view), settings_(settings), marks_(marks), fence_(fence), lease_(lease), now_(now) {
    for (const auto& [id, node] : view.nodes())
      count(node);
  }

  DesiredDecision decide() {
    for (const auto& [id, node] : view_.nodes()) {
      if (!is_ours(node)) continue;
      const std::optional<Wish> wish = view_.wish_of(node);
      const bool current = wish && node.claim.record.by == wish->trace();
      if (is_at_end(node)) return give_back(id, node);
      if (!node.claim.record.cancelled.empty()) continue;
      if (!current) return cancel(id, node, "the wish has changed");
      if (is_late(id, node)) return cancel(id, node, "it has not come to its gate in time");
      if (may_stop(id, node, *wish)) return stop_old(id, node, *wish);
    }
    for (const auto& [id, node] : view_.nodes()) {
      const std::optional<Wish> wish = view_.wish_of(node);
      if (wish && may_begin(node, *wish)) return begin(id, node, *wish);
    }
    return {.until = next_look()};
  }

 private:
  struct Count {
    std::int64_t under_way = 0;
    std::int64_t failed = 0;
    std::int64_t committed = 0;
  };

  void count(const DesiredNode& node) {
    ++all_;
    const std::optional<Wish> wish = view_.wish_of(node);
    if (!wish) return;
    Count& counted = counts_[wish->revision];
    const bool cancelled = !node.claim.record.cancelled.empty();
    if (is_ours(node) && !cancelled) ++counted.under_way;
    if (is_ours(node) && cancelled && node.claim.record.by == wish->trace()) ++counted.failed;
    if (has_failed(node, *wish) && !cancelled) ++counted.failed;
    if (runs(node, *wish) && node.claim.revision == 0) ++counted.committed;
  }

  [[nodiscard]] const Count& counted(const Wish& wish) const {
    static const Count none;
    const auto found = counts_.find(wish.revision);
    return found == counts_.end() ? none : found->second;
  }

  [[nodiscard]] std::int64_t under_way() const {
    std::int64_t all = 0;
    for (const auto& [revision, counted] : counts_)
      all += counted.under_way;
    return all;
  }

  [[nodiscard]] bool is_halted(const Wish& wish) const {
    return counted(wish).failed >= settings_.max_failed;
  }

  [[nodiscard]] bool is_late(const std::string& id, const DesiredNode& node) const {
    const UpgradePhase phase = node.upgrade.record.phase;
    if (is_of(node, node.claim.record.by) && phase == UpgradePhase::cutover_ready) return false;
    const auto began = marks_.began.find(id);
    return began != marks_.began.end() && now_ >= began->second.second + settings_.staging_ms;
  }

  // ---- begin

  [[nodiscard]] bool may_begin(const DesiredNode& node, const Wish& wish) const {
    if (view_.is_stopped() || runs(node, wish) || node.claim.revision != 0) return false;
    if (is_halted(wish) || is_tried(node, wish)) return false;
    if (node.active.revision == 0) return false;
    const auto active = node.instances.find(node.active.record.instance);
    if (active == node.instances.end() || !active->second.record.degraded.empty()) return false;
    const std::int64_t some = std::max<std::int64_t>(1, all_ * settings_.uncommitted_percent / 100);
    return under_way() < (counted(wish).committed > 0 ? some : 1);
  }

  DesiredDecision begin(const std::string& id, const DesiredNode& node, const Wish& wish) const {
    const std::string trace = wish.trace();
    Transaction transaction = fenced();
    compare_wish(transaction, id, node);
    transaction.compares.push_back({.key = key_of(KeyKind::stop)});
    transaction.compares.push_back({.key = claim_key(id)});
    transaction.puts.push_back({.key = claim_key(id), .value = write_record(Claim{.by = trace})});
    put_command(transaction, id,
                {.id = trace + ".stage.1",
                 .action = CommandAction::stage,
                 .version = wish.desired.version,
                 .digest = wish.desired.digest,
                 .not_after_ms = settings_.staging_ms,
                 .downgrade = wish.desired.downgrade,
                 .trace = trace});
    return {.transaction = transaction, .news = id + " begins to go to " + wish.desired.version};
  }

  // ---- cut over

  // The instance that is to take over, if all that this controller has itself seen speaks for it.
  [[nodiscard]] const std::string* successor(const std::string& id, const DesiredNode& node,
                                             const Wish& wish) const {
    for (const auto& [name, seen] : node.instances) {
      const Instance& instance = seen.record;
      if (name == node.active.record.instance || !instance.ready || !instance.degraded.empty() ||
          instance.boot_id != node.active.record.boot_id ||
          without_build(instance.version) != without_build(wish.desired.version)) {
        continue;
      }
      const auto mark = marks_.ready.find({id, name});
      if (mark == marks_.ready.end() || mark->second.second != instance.version) continue;
      if (now_ >= mark->second.first + settings_.observe_ms) return &name;
    }
    return nullptr;
  }

  [[nodiscard]] bool may_stop(const std::string& id, const DesiredNode& node,
                              const Wish& wish) const {
    return !view_.is_stopped() && !is_halted(wish) && is_of(node, node.claim.record.by) &&
           node.upgrade.record.phase == UpgradePhase::cutover_ready &&
           !is_told_to_stop(node, wish) && node.instances.contains(node.active.record.instance) &&
           successor(id, node, wish) != nullptr;
  }

  DesiredDecision stop_old(const std::string& id, const DesiredNode& node, const Wish& wish) const {
    const std::string& next = *successor(id, node, wish);
    const std::string& old = node.active.record.instance;
    Transaction transaction = fenced();
    compare_wish(transaction, id, node);
    transaction.compares.push_back({.key = key_of(KeyKind::stop)});
    transaction.compares.push_back({.key = claim_key(id), .revision = node.claim.revision});
    transaction.compares.push_back(
        {.key = key_of(KeyKind::node_active, {id}), .revision = node.active.revision});
    transaction.compares.push_back({.key = key_of(KeyKind::node_instance, {id, next}),
                                    .revision = node.instances.at(next).revision});
    put_command(transaction, id,
                {.id = node.claim.record.by + ".stop.1",
                 .action = CommandAction::stop,
                 .instance = old,
                 .not_after_ms = settings_.stop_ms,
                 .deadline_ms = settings_.stop_ms,
                 .reason = wish.desired.version + " is ready",
                 .trace = node.claim.record.by});
    Desired own = wish.desired;
    own.why = "desired";
    own.pinned = node.desired.revision != 0 && node.desired.record.pinned;
    own.trace = node.claim.record.by;
    transaction.puts.push_back({.key = key_of(KeyKind::node_desired, {id, view_.component()}),
                                .value = write_record(own)});
    return {.transaction = transaction, .news = id + ": " + old + " is told to stop for " + next};
  }

  // ---- ends

  DesiredDecision give_back(const std::string& id, const DesiredNode& node) const {
    Transaction transaction = fenced();
    transaction.compares.push_back({.key = claim_key(id), .revision = node.claim.revision});
    transaction.erases = {{.key = claim_key(id)}, {.key = command_key(id)}};
    const Upgrade& upgrade = node.upgrade.record;
    return {.transaction = transaction,
            .news = id + (upgrade.phase == UpgradePhase::done ? " runs " + upgrade.to
                                                              : " has failed: " + upgrade.error)};
  }

  DesiredDecision cancel(const std::string& id, const DesiredNode& node,
                         const std::string& why) const {
    Transaction transaction = fenced();
    transaction.compares.push_back({.key = claim_key(id), .revision = node.claim.revision});
    transaction.puts.push_back(
        {.key = claim_key(id), .value = write_record(Claim{node.claim.record.by, why})});
    put_command(transaction, id,
                {.id = node.claim.record.by + ".rollback.1",
                 .action = CommandAction::rollback,
                 .not_after_ms = settings_.staging_ms,
                 .reason = why,
                 .trace = node.claim.record.by});
    return {.transaction = transaction, .news = id + " is cancelled: " + why};
  }

  // ---- transactions

  [[nodiscard]] std::string claim_key(const std::string& id) const {
    return key_of(KeyKind::node_claim, {id, view_.component()});
  }
  [[nodiscard]] std::string command_key(const std::string& id) const {
    return key_of(KeyKind::node_command, {id, view_.component()});
  }

  [[nodiscard]] Transaction fenced() const {
    return {.compares = {{.key = key_of(KeyKind::driver, {"desired"}),
                          .of = Compare::Of::created,
                          .revision = fence_}}};
  }

  // Both that could be the wish: a person who changes one in this moment is not overrun.
  void compare_wish(Transaction& transaction, const std::string& id,
                    const DesiredNode& node) const {
    transaction.compares.push_back(
        {.key = key_of(KeyKind::desired, {view_.component()}), .revision = view_.cell_revision()});
    transaction.compares.push_back({.key = key_of(KeyKind::node_desired, {id, view_.component()}),
                                    .revision = node.desired.revision});
  }

  void put_command(Transaction& transaction, const std::string& id, const Command& command) const {
    transaction.puts.push_back(
        {.key = command_key(id), .value = write_record(command), .lease = lease_});
  }

  [[nodiscard]] std::optional<Ms> next_look() const {
    std::optional<Ms> first;
    const auto consider = [&](Ms at) {
      if (at > now_ && (!first || at < *first)) first = at;
    };
    for (const auto& [key, mark] : marks_.ready)
      consider(mark.first + settings_.observe_ms);
    for (const auto& [id, mark] : marks_.began)
      consider(mark.second + settings_.staging_ms);
    return first;
  }

  const DesiredView& view_;
  const DesiredSettings& settings_;
  const DesiredMarks& marks_;
  Revision fence_;
  LeaseId lease_;
  Ms now_;
  std::int64_t all_ = 0;
  std::map<Revision, Count> counts_;
};

}  // namespace

void look(const DesiredView& view, DesiredMarks& marks, Ms now) {
  DesiredMarks fresh;
  for (const auto& [id, node] : view.nodes()) {
    for (const auto& [name, seen] : node.instances) {
      if (!seen.record.ready || !seen.record.degraded.empty()) continue;
      const auto before = marks.ready.find({id, name});
      const bool same = before != marks.ready.end() && before->second.second == seen.record.version;
      fresh.ready[{id, name}] = {same ? before->second.first : now, seen.record.version};
    }
    if (node.claim.revision == 0) continue;
    const auto before = marks.began.find(id);
    const bool same = before != marks.began.end() && before->second.first == node.claim.revision;
    fresh.began[id] = {node.claim.revision, same ? before->second.second : now};
  }
  marks = std::move(fresh);
}

DesiredDecision decide_desired(const DesiredView& view, const DesiredSettings& settings,
                               const DesiredMarks& marks, Revision fence, LeaseId lease, Ms now) {
  return Decider(view, settings, marks, fence, lease, now).decide();
}

}  // namespace fleet
