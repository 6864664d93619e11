// This file makes and parses the keys of all records in the store, such as /fleet/v1/settings. No
// other file contains a key as text. This file also checks the names of nodes, components,
// rollouts, plans and versions, which are parts of keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fleet {

inline constexpr std::string_view key_root = "/fleet/v1/";

// The kinds of records. The comment after a kind shows its key, without /fleet/v1/ at the
// beginning. A word in capitals stands for a name. Functions expect and return the names in the
// order in which they are in the key.
enum class KeyKind {
  node_info,         // node/ID/info
  node_versions,     // node/ID/versions
  node_instance,     // node/ID/instance/INSTANCE
  node_active,       // node/ID/active
  node_upgrade,      // node/ID/upgrade/COMPONENT
  node_desired,      // node/ID/desired/COMPONENT
  node_command,      // node/ID/command/COMPONENT
  node_answer,       // node/ID/answer/COMPONENT
  node_claim,        // node/ID/claim/COMPONENT
  node_csr,          // node/ID/csr
  node_certificate,  // node/ID/certificate: the answer to the record node/ID/csr
  node_plan,         // node/ID/plan/PLAN, written by the node itself
  node_health,       // node/ID/health/COMPONENT
  node_control,      // node/ID/control/COMPONENT
  desired,           // desired/COMPONENT
  release,           // release/COMPONENT/VERSION
  rollout,           // rollout/ROLLOUT
  rollout_batch,     // rollout/ROLLOUT/batch/NUMBER
  rollout_node,      // rollout/ROLLOUT/node/ID
  rollout_judge,     // rollout/ROLLOUT/judge
  plan,              // plan/PLAN
  plan_member,       // plan/PLAN/member/ID, written when the plan is made
  once,              // once/PLAN/STEP
  driver,  // driver/NAME: the controller that steers a rollout, a plan or, as `desired`, other work
  window,  // window/GROUP
  stop,
  epoch,
  settings,
  event,    // event/NUMBER
  order,    // order/TRACE
  history,  // history/NUMBER
  notified,
  identity,         // identity/KIND/WHO: KIND is `node` or the role of a person
  token,            // token/ID: ID is the beginning of the hash of the token's secret
  join,             // join/FINGERPRINT: the fingerprint of a machine's public key
  approval,         // approval/FINGERPRINT: the fingerprint of a machine's public key
  signer,           // signer/NAME, of a fleet-signer
  place,            // place/LABEL/HASH/NUMBER: a place of a budget; see budgets.h
  controller,       // controller/NAME, of a fleet-controller
  controller_life,  // controller/NAME/life/ID: one process of that controller
};

// The most digits of a number in a key, and of an integer in a record's JSON. Such a number fits in
// 64 bits.
inline constexpr std::size_t number_digits_max = 18;
// In the keys event/NUMBER and history/NUMBER, the number has this many digits, with leading zeros,
// so that the order of the keys is the order of the numbers. These digits are enough for a thousand
// events a second for thirty years.
inline constexpr std::size_t event_digits = 12;
inline constexpr std::uint64_t event_number_max = 999'999'999'999;

// Returns the key of a record. The names must come from parse_key(), or must have been checked, for
// example with is_id(). If a name is not valid in its position, calls std::abort(): this is a bug,
// and a wrong key could overwrite another record.
[[nodiscard]] std::string key_of(KeyKind kind, std::initializer_list<std::string_view> names = {});

// Returns the key of a record, from names that need not be checked, such as names that another
// program has written. Returns no value if a name is not valid in its position.
[[nodiscard]] std::optional<std::string> key_if(KeyKind kind,
                                                std::initializer_list<std::string_view> names);

// Returns a key that ends in a number, such as event/NUMBER or rollout/ROLLOUT/batch/NUMBER.
// `names` has at most one name, which comes before the number. A number with too many digits is not
// an error here, but parse_key() refuses the key.
[[nodiscard]] std::string key_of(KeyKind kind, std::initializer_list<std::string_view> names,
                                 std::uint64_t number);

// Returns the beginning of all keys below a record, such as the records of the rollout r1:
// `key_below(key_of(KeyKind::rollout, {"r1"}))`.
[[nodiscard]] std::string key_below(std::string_view key);
// Returns `/fleet/v1/node/ID/`, the beginning of all keys that a node may read and write.
[[nodiscard]] std::string node_prefix(std::string_view node);
// Returns the beginning of the keys of a kind, up to the first name: `/fleet/v1/rollout/`.
[[nodiscard]] std::string prefix_of(KeyKind kind);

struct ParsedKey {
  KeyKind kind = KeyKind::settings;
  std::vector<std::string> names = {};

  // Returns the number in the key (of a batch, a budget place, event/NUMBER or history/NUMBER), or
  // 0 if the key has none.
  [[nodiscard]] std::uint64_t number() const;

  bool operator==(const ParsedKey&) const = default;
};

// Parses a key. Returns no value if the key does not have the form of any KeyKind, or if a name is
// not valid in its position. Callers ignore such a key.
[[nodiscard]] std::optional<ParsedKey> parse_key(std::string_view key);

// ---- names

// Names are used in keys, in certificates and in file names, so they must not contain a character
// that has a special meaning there.

// The longest name, in bytes. It is the limit for one label of a host name (RFC 1123).
inline constexpr std::size_t id_bytes_max = 63;
// The longest id of a command, in bytes. The id is TRACE.STEP.ATTEMPT, or
// TRACE.STEP.ATTEMPT.LIFE in a store that was restored (rollout_view.h). The upgrader gives the
// same id to the upgrade that the command begins, and allows no longer one.
inline constexpr std::size_t command_id_bytes_max = 64;

// Returns whether the text matches `[a-z0-9][a-z0-9.-]{0,62}`, as the name of a node, a component,
// an instance, a rollout, a plan or a group must.
[[nodiscard]] bool is_id(std::string_view text);
// Returns why the text is not an id: which byte is not allowed and its position, counted from 1,
// such as `"_" at 4: ...`. Returns an empty string if it is an id.
[[nodiscard]] std::string why_no_id(std::string_view text);

// Returns why no rollout and no plan may have this name, or no value if the name is allowed. A
// controller that steers a rollout or plan writes the record driver/NAME. For a few names, this
// record is used for other work of the controllers.
[[nodiscard]] std::optional<std::string> why_no_driven_name(std::string_view id);

// Returns whether the text may be the name of a component: an id other than `v`. The record
// `versions` has one member for each component, named after it, and the member `v`, which is the
// version of the record's format.
[[nodiscard]] bool is_component(std::string_view text);

// Returns whether the text matches `[A-Za-z0-9][A-Za-z0-9.+~_-]{0,62}`, as the name of a version
// must. The name says nothing about the order of versions.
[[nodiscard]] bool is_version_name(std::string_view text);

// Returns whether the text has 1 to 64 bytes of `[A-Za-z0-9._-]`.
[[nodiscard]] bool is_command_id(std::string_view text);

}  // namespace fleet
