#include "tests/together/fleet/sim_node.h"

#include <algorithm>
#include <chrono>

#include "fleet/common/identity.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace fleet::test {
namespace {

constexpr std::string_view component = "agent";

}  // namespace

SimNode::SimNode(uv_loop_t& loop, const EtcdStore::Settings& store, std::string name,
                 Observer observer)
    : name_(std::move(name)),
      observer_(std::move(observer)),
      timers_(loop),
      store_(loop, store),
      mirror_(store_, timers_, {node_prefix(name_), true},
              {.changed = [this](const Changes&) { look(); },
               .troubled = [this](const Trouble& trouble) { observer_.troubled(trouble.reason); }},
              store.seed),
      commander_(NodeIdentity{name_, std::string(component), "i-" + name_, "b"}, NodeLedger()) {
  take(Restarted{});
}

void SimNode::enter() {
  Transaction all;
  all.puts.push_back({key_of(KeyKind::node_info, {name_}), write_record(NodeInfo{.protocol = 1})});
  all.puts.push_back({key_of(KeyKind::node_versions, {name_}),
                      write_record(Versions{{{std::string(component), version_}}})});
  all.puts.push_back({key_of(KeyKind::node_instance, {name_, "i-" + name_}),
                      write_record(Instance{.version = version_, .boot_id = "b", .ready = true})});
  all.puts.push_back({key_of(KeyKind::node_active, {name_}),
                      write_record(Active{.instance = "i-" + name_, .boot_id = "b"})});
  store_.commit(all, [this](const Outcome& outcome) {
    const auto* done = std::get_if<Committed>(&outcome);
    if (done == nullptr) return enter();
    take(ActiveIs{done->revision});
    observer_.registered();
  });
}

void SimNode::look() {
  const std::string place = key_of(KeyKind::node_command, {name_, component});
  const KeyValue* there = mirror_.find(place);
  const auto command = there == nullptr ? std::nullopt : [&]() -> std::optional<Command> {
    const auto read = read_record<Command>(there->value);
    return read ? std::optional(read.value()) : std::nullopt;
  }();
  if (!command || command->id.empty()) {
    if (seen_.second != 0) take(CommandGone{});
    seen_ = {};
    return;
  }
  const std::pair<std::string, Revision> now{command->id, there->modified};
  if (std::exchange(seen_, now) == now) return;
  observer_.ordered(*command);
  take(CommandSeen{*command, there->modified});
}

void SimNode::take(const NodeEvent& event) {
  for (const NodeAction& action : commander_.step(event, timers_.now().count())) {
    std::visit([this](const auto& deed) { perform(deed); }, action);
  }
  expect_deadline();
}

// Reports an event later, as a disk, a fetch or an upgrader would.
void SimNode::later(const NodeEvent& event) {
  soon_.push_back(timers_.after(std::chrono::milliseconds(0), [this, event] { take(event); }));
}

void SimNode::expect_deadline() {
  deadline_ = nullptr;
  const auto next = commander_.next_deadline();
  if (!next) return;
  const std::chrono::milliseconds left(std::max<Ms>(*next - timers_.now().count(), 0));
  deadline_ = timers_.after(left, [this] { take(NodeTimePassed{}); });
}

void SimNode::write_versions(const std::string& version) {
  version_ = version;
  ++writes_;
  store_.commit({.puts = {{key_of(KeyKind::node_versions, {name_}),
                           write_record(Versions{{{std::string(component), version_}}})}}},
                [](const Outcome&) {});
}

void SimNode::perform(const Save&) {
  later(Saved{});
}

void SimNode::perform(const Ask& ask) {
  ++questions_;
  store_.commit(ask.question, [this](const Outcome& outcome) { take(AskEnded{outcome}); });
}

void SimNode::perform(const Report& report) {
  ++writes_;
  store_.commit(report.transaction, [this](const Outcome& outcome) {
    const bool stands = std::holds_alternative<Committed>(outcome);
    take(ReportEnded{outcome});
    if (stands) observer_.answered(commander_.ledger());
  });
}

void SimNode::perform(const DoPrepare& order) {
  later(PrepareEnded{order.command.id, ""});
}

void SimNode::perform(const BeginUpgrade& begin) {
  upgrades_to_ = begin.command.version;
  write_versions(upgrades_to_);
  later(UpgradeActivated{begin.command.id});
}

void SimNode::perform(const SendCommit& commit) {
  later(UpgradeEnded{.command = commit.upgrade, .ending = UpgradeEnding::committed});
}

void SimNode::perform(const GoBack& back) {
  write_versions("1.0.0");
  later(UpgradeEnded{.command = back.upgrade, .ending = UpgradeEnding::rolled_back});
}

}  // namespace fleet::test
