#include "fleet/common/roles.h"

#include "fleet/model/identities.h"
#include "fleet/model/keys.h"

namespace fleet {
namespace {

Keys all_of(KeyKind kind) {
  return {prefix_of(kind), true};
}

Keys one(KeyKind kind) {
  return {key_of(kind)};
}

// Returns the rights of a node: it may read and write below its own name, and read the cell's
// records that it needs. Ranges end in `/`, so that n1 has no rights to the keys of n10.
Permissions of_node(const std::string& node) {
  return {.writes = {{node_prefix(node), true}},
          .reads = {all_of(KeyKind::desired), all_of(KeyKind::release), all_of(KeyKind::plan),
                    one(KeyKind::stop), one(KeyKind::epoch)}};
}

// Returns the rights of an operator, who orders what nodes do, but issues no certificates,
// publishes no releases and changes no settings. All keys below node/ are one range, since separate
// ranges would be three for each node. So an operator can write a node's request for a certificate;
// but no authority signs such a request, since it is not made with the key of the node's
// certificate.
Permissions of_operator() {
  return {.writes = {all_of(KeyKind::node_info), all_of(KeyKind::desired), all_of(KeyKind::rollout),
                     all_of(KeyKind::plan), all_of(KeyKind::once), all_of(KeyKind::window),
                     all_of(KeyKind::order), one(KeyKind::stop), one(KeyKind::epoch)}};
}

// Returns the rights of a controller, which serves people and machines. It gets no rights that it
// does not need: it reads all records, and writes those of rollouts, plans and nodes, the history,
// what people order by HTTP, and the requests of machines that join, and places of
// budgets. It cannot write who is in the
// cell, nor what lets a machine in: identities, tokens and approvals. It has no rights to the
// store's users and roles, nor to snapshots, which etcd gives only to users with all rights.
//
// Reads stand last, and one of them is the range of all records: so the roles of earlier versions,
// which might write this range, lose that right when they are granted again.
Permissions of_controller() {
  return {.writes = {all_of(KeyKind::node_info), all_of(KeyKind::desired), all_of(KeyKind::release),
                     all_of(KeyKind::rollout), all_of(KeyKind::plan), all_of(KeyKind::once),
                     all_of(KeyKind::driver), all_of(KeyKind::window), one(KeyKind::stop),
                     one(KeyKind::settings), all_of(KeyKind::event), all_of(KeyKind::order),
                     all_of(KeyKind::history), one(KeyKind::notified), all_of(KeyKind::join),
                     all_of(KeyKind::place)}};
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
