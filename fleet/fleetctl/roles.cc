#include "fleet/fleetctl/roles.h"

#include "fleet/model/identities.h"
#include "fleet/model/keys.h"

namespace fleetctl {

using fleet::KeyKind;
using fleet::Keys;

namespace {

Keys all_of(KeyKind kind) {
  return {fleet::prefix_of(kind), true};
}

Keys one(KeyKind kind) {
  return {fleet::key_of(kind)};
}

// Below its own name it reads and writes; of the cell it reads what it has to obey. Ranges end in
// `/`, so that n1 has nothing of n10.
fleet::Permissions of_node(const std::string& node) {
  return {.writes = {{fleet::node_prefix(node), true}},
          .reads = {all_of(KeyKind::desired), all_of(KeyKind::release), all_of(KeyKind::plan),
                    one(KeyKind::stop), one(KeyKind::epoch)}};
}

// Orders whatever nodes do, but gives nobody a certificate, publishes nothing, sets nothing. All
// below node/ is one range, since ranges of each node's would be three times as many as there are
// nodes; so an operator can write a node's request for its next certificate. Nobody signs that: it
// is not made with the key of the certificate that the node has.
fleet::Permissions of_operator() {
  return {.writes = {all_of(KeyKind::node_info), all_of(KeyKind::desired), all_of(KeyKind::rollout),
                     all_of(KeyKind::plan), all_of(KeyKind::once), all_of(KeyKind::window),
                     all_of(KeyKind::order), one(KeyKind::stop), one(KeyKind::epoch)}};
}

}  // namespace

// A controller serves people and machines, so it is not given what it does not need: the users and
// the roles of the store, and its snapshots, which etcd gives to nobody who may not do everything.
fleet::Permissions permissions_of(const std::string& kind, const std::string& who) {
  fleet::Permissions permissions;
  if (kind == fleet::node_kind) permissions = of_node(who);
  if (kind == "operator") permissions = of_operator();
  if (kind == "publisher") permissions.writes = {all_of(KeyKind::release), all_of(KeyKind::order)};
  if (kind == "controller") permissions.writes = {{std::string(fleet::key_root), true}};
  const bool reads_all = kind != fleet::node_kind && kind != "controller";  // which writes all
  if (reads_all) permissions.reads.push_back({std::string(fleet::key_root), true});
  permissions.user = fleet::certificate_name(kind, who);
  permissions.all = kind == "admin";
  return permissions;
}

}  // namespace fleetctl
