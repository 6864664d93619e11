// The place of each record in the store: /fleet/v1/…, as a key and back. No other file spells a
// key.
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
  node_plan,      // node, plan: what the node says of a plan's steps; its own part of plan_member
  desired,        // component
  release,        // component, version
  rollout,        // rollout
  rollout_batch,  // rollout, number
  rollout_node,   // rollout, node
  rollout_judge,  // rollout
  plan,           // plan
  plan_member,    // plan, node
  once,           // plan, step's name
  driver,         // rollout or plan, or `desired`
  window,         // group
  stop,
  epoch,
  settings,
  event,    // number
  order,    // trace
  history,  // number
  notified,
  identity,  // `node`, or a role; who
};

// As many digits as JSON's integers may have here, which always fit in 64 bits.
inline constexpr std::size_t number_digits_max = 18;
// Events are numbered with leading zeros, so that they are listed in their order.
inline constexpr std::size_t event_digits = 12;  // a thousand a second for thirty years
inline constexpr std::uint64_t event_number_max = 999'999'999'999;

// The key of a record, of names that parse_key() gave or that were looked at by ids.h. A name that
// its place does not take is a mistake of ours and ends in std::abort, since a wrong key would be
// written to somebody else's record.
[[nodiscard]] std::string key_of(KeyKind kind, std::initializer_list<std::string_view> names = {});

// The same of names that others have written, or that were made of such. No value if its place does
// not take one of them.
[[nodiscard]] std::optional<std::string> key_if(KeyKind kind,
                                                std::initializer_list<std::string_view> names);

// With a number as its last name. One that is too large for its place gives a key that
// parse_key() does not take.
[[nodiscard]] std::string key_of(KeyKind kind, std::initializer_list<std::string_view> names,
                                 std::uint64_t number);

// The beginning of all keys below a record: `key_below(key_of(KeyKind::rollout, {"r1"}))`.
[[nodiscard]] std::string key_below(std::string_view key);
// `/fleet/v1/node/ID/`: all that a node may read and write.
[[nodiscard]] std::string node_prefix(std::string_view node);
// The beginning of the keys of a kind, up to the first name: `/fleet/v1/rollout/`.
[[nodiscard]] std::string prefix_of(KeyKind kind);

struct ParsedKey {
  KeyKind kind = KeyKind::settings;
  std::vector<std::string> names = {};

  // Of an event, a batch or a step; 0: the key has no number.
  [[nodiscard]] std::uint64_t number() const;

  bool operator==(const ParsedKey&) const = default;
};

// No value if it is no key of the fleet's records, or a name in it is none; such a key is left
// alone.
[[nodiscard]] std::optional<ParsedKey> parse_key(std::string_view key);

}  // namespace fleet
