#include "fleet/fleetctl/status_view.h"

#include "fleet/fleetctl/care_view.h"
#include "fleet/model/controllers_at_work.h"
#include "fleet/model/keys.h"
#include "fleet/model/node_view.h"
#include "fleet/model/record_text.h"
#include "fleet/model/record_tree.h"

namespace fleetctl {
namespace {

using fleet::json_number;
using fleet::JsonTree;
using fleet::KeyKind;

JsonTree object() {
  return {.kind = JsonTree::Kind::object};
}

JsonTree count(std::size_t number) {
  return json_number(static_cast<std::int64_t>(number));
}

JsonTree node_counts(const fleet::Reading& reading) {
  std::size_t all = 0;
  std::size_t reporting = 0;
  std::size_t degraded = 0;
  for (const fleet::NodeView& node : nodes_in(reading)) {
    ++all;
    if (node.reports()) ++reporting;
    if (!node.degraded().empty()) ++degraded;
  }
  JsonTree tree = object();
  tree.members["all"] = count(all);
  tree.members["reporting"] = count(reporting);
  tree.members["degraded"] = count(degraded);
  return tree;
}

JsonTree controllers(const fleet::Reading& reading) {
  fleet::ControllersAtWork all;
  for (const fleet::KeyValue& found : reading.found)
    all.take(found);
  JsonTree tree = object();
  tree.members["living"] = fleet::json_texts(all.living());
  tree.members["silent"] = fleet::json_texts(all.silent());
  return tree;
}

JsonTree wishes(const fleet::Reading& reading) {
  JsonTree tree = object();
  for (const fleet::KeyValue& found : reading.found) {
    const auto key = fleet::parse_key(found.key);
    if (!key || key->kind != KeyKind::desired) continue;
    const auto wish = fleet::read_record<fleet::Desired>(found.value);
    tree.members[key->names.front()] = fleet::json_text(wish ? wish.value().version : "");
  }
  return tree;
}

}  // namespace

std::string status_json(const fleet::Reading& reading, const MemberCount& members,
                        fleet::UnixSeconds now) {
  JsonTree tree = object();
  tree.members["revision"] = json_number(reading.revision);
  JsonTree& store = tree.members["members"] = object();
  store.members["all"] = count(members.all);
  store.members["good"] = count(members.good);
  tree.members["nodes"] = node_counts(reading);
  tree.members["controllers"] = controllers(reading);
  tree.members["desired"] = wishes(reading);
  tree.members["stopped"] =
      fleet::json_truth(reading.find(fleet::key_of(KeyKind::stop)) != nullptr);
  const CertificateCount certificates = certificates_in(reading, now);
  JsonTree& care = tree.members["certificates"] = object();
  care.members["enrolled"] = count(certificates.enrolled);
  care.members["ending"] = count(certificates.ending);
  care.members["revoked"] = count(certificates.revoked);
  care.members["waiting"] = count(certificates.waiting);
  return write_tree(tree);
}

}  // namespace fleetctl
