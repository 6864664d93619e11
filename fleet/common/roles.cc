#include "fleet/common/roles.h"

#include "fleet/model/nodes/identities.h"
#include "fleet/model/records/keys.h"

namespace fleet {
namespace {

Keys all_of(KeyKind kind) {
  return {prefix_of(kind), true};
}

Keys one(KeyKind kind) {
  return {key_of(kind)};
}

// Returns the permissions of a node: to write below `node/ID/`, and to read those records of the
// cell that it needs. The prefix ends in `/`, so `n1` has no permission for the keys of `n10`.
Permissions of_node(const std::string& node) {
  return {.writes = {{node_prefix(node), true}},
          .reads = {all_of(KeyKind::desired), all_of(KeyKind::release), all_of(KeyKind::plan),
                    one(KeyKind::stop), one(KeyKind::epoch)}};
}

// Returns the permissions of an operator, who gives orders to nodes, but issues no certificates,
// publishes no releases and changes no settings.
//
// An operator may write all records below `node/`, since narrower permissions would need three
// ranges of keys for each node. These records include a node's request for a certificate. But the
// signer refuses a request that was not made with the node's key.
Permissions of_operator() {
  return {.writes = {all_of(KeyKind::node_info), all_of(KeyKind::desired), all_of(KeyKind::rollout),
                     all_of(KeyKind::plan), all_of(KeyKind::once), all_of(KeyKind::window),
                     all_of(KeyKind::order), one(KeyKind::stop), one(KeyKind::epoch)}};
}

// Returns the permissions of a controller. It reads all records and writes most of them, but not
// those that decide who is in the cell: identities, tokens and approvals. Users, roles and
// snapshots of the store need etcd's role `root`, which no controller has.
//
// In a cell from an earlier version, controllers may write all records. The new permission to read
// all records replaces that old permission, since etcd has only one permission for a range of keys.
// The permissions to write are granted first, so that a running controller can always write.
Permissions of_controller() {
  return {.writes = {all_of(KeyKind::node_info), all_of(KeyKind::desired), all_of(KeyKind::release),
                     all_of(KeyKind::rollout), all_of(KeyKind::plan), all_of(KeyKind::once),
                     all_of(KeyKind::driver), all_of(KeyKind::window), one(KeyKind::stop),
                     one(KeyKind::settings), all_of(KeyKind::event), all_of(KeyKind::order),
                     all_of(KeyKind::history), one(KeyKind::notified), all_of(KeyKind::join),
                     all_of(KeyKind::place), all_of(KeyKind::controller)}};
}

}  // namespace

Permissions permissions_of(const std::string& kind, const std::string& who) {
  Permissions permissions;
  if (kind == node_kind) permissions = of_node(who);
  if (kind == "operator") permissions = of_operator();
  if (kind == "publisher") permissions.writes = {all_of(KeyKind::release), all_of(KeyKind::order)};
  if (kind == "controller") permissions = of_controller();
  if (kind != node_kind) permissions.reads.push_back({std::string(key_root), true});
  permissions.user = certificate_name(kind, who);
  permissions.all = kind == "admin";
  return permissions;
}

}  // namespace fleet
