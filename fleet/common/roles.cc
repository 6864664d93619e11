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

// Returns the permissions of a node. A node may read and write the keys below `node/ID/`, and may
// read the records of the cell that it needs. Since the prefix ends in `/`, the node `n1` has no
// permission for the keys of `n10`.
Permissions of_node(const std::string& node) {
  return {.writes = {{node_prefix(node), true}},
          .reads = {all_of(KeyKind::desired), all_of(KeyKind::release), all_of(KeyKind::plan),
                    one(KeyKind::stop), one(KeyKind::epoch)}};
}

// Returns the permissions of an operator. An operator gives nodes orders, but issues no
// certificates, publishes no releases and changes no settings. An operator may write all keys below
// `node/`, since narrower permissions would need three ranges of keys for each node. So an operator
// can also write a request for a certificate of a node. But the signer refuses a request that was
// not made with the key of the node's current certificate.
Permissions of_operator() {
  return {.writes = {all_of(KeyKind::node_info), all_of(KeyKind::desired), all_of(KeyKind::rollout),
                     all_of(KeyKind::plan), all_of(KeyKind::once), all_of(KeyKind::window),
                     all_of(KeyKind::order), one(KeyKind::stop), one(KeyKind::epoch)}};
}

// Returns the permissions of a controller. A controller reads all records, and writes most of them.
// A controller cannot write the records that decide who is in the cell: identities, tokens and
// approvals. It may not change the store's users and roles, or take snapshots, which etcd allows
// only to users with all permissions.
//
// Earlier versions of this project let controllers write all records. In a cell from such a
// version, a controller must lose this old permission. The new permission to read all records is
// for the same range of keys, so it replaces the old permission in etcd. The permissions to write
// are granted before it, so that a running controller can always write its records.
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
