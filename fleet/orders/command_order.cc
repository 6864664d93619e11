// This file decides about a person's order to send a command to one node.
#include <algorithm>
#include <array>
#include <utility>

#include "fleet/model/nodes/node_view.h"
#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/orders/order_kinds.h"

namespace fleet {
namespace {

using agent_protocol::Refusal;
using agent_protocol::Result;

// The members of a command that a person may write.
constexpr auto command_members = std::to_array<std::string_view>(
    {"v", "action", "version", "reason", "downgrade", "not_after_ms"});
// The time within which a command must begin, if the order does not set it.
constexpr std::int64_t usual_not_after_ms = 600'000;
constexpr std::int64_t shortest_not_after_ms = 1'000;

JsonTree body_of(const Order& order) {
  const auto body = parse_tree(order.body.empty() ? "{}" : order.body);
  return body ? body.value() : JsonTree{};
}

// Parses the body of the order, and gives the command its id.
Result<Command> command_in(const Order& order, const Orderer& orderer) {
  auto body = parse_tree(order.body.empty() ? "{}" : order.body);
  if (!body) return Refusal{"the body is no JSON object: " + body.reason()};
  for (const auto& [name, value] : body.value().members) {
    if (std::find(command_members.begin(), command_members.end(), name) == command_members.end())
      return Refusal{no_member(name, {command_members.begin(), command_members.end()})};
  }
  // A command without a valid id cannot be parsed, so use a provisional id. The final id, below,
  // contains the action, which is known only after the parsing.
  body.value().members["id"] = json_text("c-" + orderer.trace + ".x.1");
  auto read = read_record<Command>(write_tree(body.value()));
  if (!read) return read.refusal();
  Command& command = read.value();
  const bool runs =
      command.action == CommandAction::prepare || command.action == CommandAction::upgrade;
  if (!runs && command.action != CommandAction::reboot)
    return Refusal{"action may be prepare, upgrade or reboot"};
  if (runs && !is_version_name(command.version)) return Refusal{"a version is needed"};
  if (!runs && !command.version.empty()) return Refusal{"reboot needs no version"};
  if (command.not_after_ms == 0) command.not_after_ms = usual_not_after_ms;
  if (command.not_after_ms < shortest_not_after_ms)
    return Refusal{"not_after_ms is at least " + std::to_string(shortest_not_after_ms)};
  command.trace = "c-" + orderer.trace;
  command.id = command.trace + "." + std::string(text_of(command.action)) + ".1";
  return read;
}

}  // namespace

std::vector<std::string> needs_of_command(const Order& order, const ParsedKey& key) {
  const std::string& component = key.names.back();
  std::vector<std::string> keys{node_prefix(key.names.front()), key_of(KeyKind::stop)};
  const std::string version = body_of(order).text_of("version");
  if (is_version_name(version)) keys.push_back(key_of(KeyKind::release, {component, version}));
  return keys;
}

OrderDecision decide_command_order(const Order& order, const ParsedKey& key, const Reading& reading,
                                   const Orderer& orderer) {
  const std::string& node = key.names.front();
  const std::string& component = key.names.back();
  if (order.deed != Deed::put) return malformed("a command is neither changed nor taken away");
  auto read = command_in(order, orderer);
  if (!read) return malformed(read.reason());
  Command& command = read.value();
  const auto nodes = nodes_in(reading);
  if (nodes.empty()) return absent(node + ": no such node");
  if (!command.version.empty()) {
    const auto found = published_release(reading, component, command.version);
    if (!found) return malformed(found.reason());
    const auto down = why_no_going_down(nodes, component, command.version);
    if (down && !command.downgrade) return malformed(*down);
    command.digest = found.value().release.digest;
  }
  const std::string itself = key_of(KeyKind::node_command, {node, component});
  const std::string claim = key_of(KeyKind::node_claim, {node, component});
  if (const KeyValue* there = reading.find(claim); there != nullptr) {
    const auto by = read_record<Claim>(there->value);
    return conflict(node + ": " + (by ? by.value().by : "something") + " moves it already");
  }
  if (reading.find(itself) != nullptr) return conflict(node + ": another command is there already");
  const Claim by{.by = "command/" + orderer.who};
  OrderTaken taken{.is_new = true, .lease_s = command.not_after_ms / 1'000};
  taken.parts.push_back(
      {.compares = {{.key = itself}, {.key = claim}, {.key = key_of(KeyKind::stop)}},
       .puts = {{itself, write_record(command)}, {claim, write_record(by)}}});
  taken.event.trace = command.trace;
  taken.event.text =
      std::string(text_of(command.action)) + (command.version.empty() ? "" : " " + command.version);
  JsonTree shown = json_object();
  shown.members["id"] = json_text(command.id);
  taken.shown = write_tree(shown);
  return taken;
}

}  // namespace fleet
