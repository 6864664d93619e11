// Makes the key of each record in the store, /fleet/v1/…, and parses it. No other file spells a
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

// The kinds of records. The comment behind a kind lists the names in its key, in their order.
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
  node_certificate,  // node: the answer to the record node_csr of the node
  // node, plan: the progress of the node in the plan. Written by the node itself, while plan_member
  // is written for it.
  node_plan,
  node_health,    // node, component
  node_control,   // node, component
  desired,        // component
  release,        // component, version
  rollout,        // rollout
  rollout_batch,  // rollout, number
  rollout_node,   // rollout, node
  rollout_judge,  // rollout
  plan,           // plan
  plan_member,    // plan, node
  once,           // plan, step's name
  driver,         // rollout or plan, or a driver of the cell, such as `desired`
  window,         // group
  stop,
  epoch,
  settings,
  event,    // number
  order,    // trace
  history,  // number
  notified,
  identity,         // `node` or a role, name of the node or person
  token,            // ID: the beginning of its hash
  join,             // fingerprint of a machine's public key
  approval,         // fingerprint of a machine's public key
  signer,           // name of a fleet-signer
  place,            // label, hash of its value, number: see budgets.h
  controller,       // name of a fleet-controller
  controller_life,  // name of a fleet-controller, ID of a process of it
};

// The most digits of a number in a key. It is also the most digits of an integer in a record's
// JSON. Every such number fits in 64 bits.
inline constexpr std::size_t number_digits_max = 18;
// The digits of an event's number, with leading zeros, so that events are listed in their order.
// They are enough for a thousand events a second for thirty years.
inline constexpr std::size_t event_digits = 12;
inline constexpr std::uint64_t event_number_max = 999'999'999'999;

// Returns the key of a record. The names must come from parse_key() or be checked by ids.h. If a
// name may not be in its place, that is an error of this program, which ends by std::abort: a wrong
// key would overwrite another record.
[[nodiscard]] std::string key_of(KeyKind kind, std::initializer_list<std::string_view> names = {});

// Returns the key of a record, like key_of(), but may be called with unchecked names, such as those
// that other programs have written. Returns no value if a name may not be in its place.
[[nodiscard]] std::optional<std::string> key_if(KeyKind kind,
                                                std::initializer_list<std::string_view> names);

// Returns the key with a number as its last name. If the number has too many digits, the key is not
// valid: parse_key() refuses it.
[[nodiscard]] std::string key_of(KeyKind kind, std::initializer_list<std::string_view> names,
                                 std::uint64_t number);

// Returns the beginning of all keys below a record: `key_below(key_of(KeyKind::rollout, {"r1"}))`.
[[nodiscard]] std::string key_below(std::string_view key);
// Returns `/fleet/v1/node/ID/`, the beginning of all keys that a node may read and write.
[[nodiscard]] std::string node_prefix(std::string_view node);
// Returns the beginning of the keys of a kind, up to the first name: `/fleet/v1/rollout/`.
[[nodiscard]] std::string prefix_of(KeyKind kind);

struct ParsedKey {
  KeyKind kind = KeyKind::settings;
  std::vector<std::string> names = {};

  // Returns the number of an event, a batch or a step, or 0 if the key has no number.
  [[nodiscard]] std::uint64_t number() const;

  bool operator==(const ParsedKey&) const = default;
};

// Takes a key apart. Returns no value if it is not a key of the fleet's records, or if a name may
// not be in its place. Such a key is ignored everywhere.
[[nodiscard]] std::optional<ParsedKey> parse_key(std::string_view key);

}  // namespace fleet
