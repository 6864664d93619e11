// Where each record stands in the store: /fleet/v1/…, as a key and back. Nobody else spells a key.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fleet {

inline constexpr std::string_view key_root = "/fleet/v1/";

// One for each kind of record, with the names that its key holds, in their order.
enum class KeyKind {
  node_info,         // node
  node_versions,     // node
  node_instance,     // node, instance
  node_active,       // node
  node_upgrade,      // node, component
  node_desired,      // node, component
  node_command,      // node, component
  node_answer,       // node, component
  node_claim,        // node, component
  node_csr,          // node
  node_certificate,  // node: what came of its node_csr
  node_plan,       // node, plan: what the node says of a plan's steps; its own part of plan_member
  desired,         // component
  release,         // component, version
  rollout,         // rollout
  rollout_batch,   // rollout, number
  rollout_node,    // rollout, node
  plan,            // plan
  plan_member,     // plan, node
  plan_step_node,  // plan, number, node
  once,            // plan, step's name
  driver,          // rollout or plan, or `desired`
  window,          // group
  stop,
  epoch,
  settings,
  event,  // number
  notified,
  identity,  // `node`, or a role; who
};

// The key of a record. Each name must be one that its place takes: a mistake of ours ends in
// std::abort, since a wrong key would be written to somebody else's record.
[[nodiscard]] std::string key_of(KeyKind kind, std::initializer_list<std::string_view> names = {});

// With a number as its last name. Events are numbered with leading zeros, so that they are listed
// in their order.
[[nodiscard]] std::string key_of(KeyKind kind, std::initializer_list<std::string_view> names,
                                 std::uint64_t number);

// What all keys below a record begin with: `key_below(key_of(KeyKind::rollout, {"r1"}))`.
[[nodiscard]] std::string key_below(std::string_view key);
// `/fleet/v1/node/ID/`: all that a node may read and write.
[[nodiscard]] std::string node_prefix(std::string_view node);
// What the keys of a kind begin with, up to the first name: `/fleet/v1/rollout/`.
[[nodiscard]] std::string prefix_of(KeyKind kind);

struct ParsedKey {
  KeyKind kind = KeyKind::settings;
  std::vector<std::string> names = {};

  bool operator==(const ParsedKey&) const = default;
};

// None: it is no key of the fleet's records, or a name in it is none; such a key is left alone.
[[nodiscard]] std::optional<ParsedKey> parse_key(std::string_view key);

}  // namespace fleet
