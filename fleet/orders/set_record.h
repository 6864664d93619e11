// What a person has written, as the record that comes to stand in the store: checked, and with what
// the person need not say. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/model/node_view.h"
#include "fleet/model/record_tree.h"
#include "fleet/orders/order.h"

namespace fleet {

// The keys that a record of this kind depends on: of a wish, its release, and what its nodes run.
[[nodiscard]] std::vector<std::string> needs_of_record(const ParsedKey& key, const JsonTree& body);

struct RecordSet {
  std::string record = {};
  std::string words = {};              // what was ordered, for an event
  std::vector<Compare> compares = {};  // that what it depends on is still there
};

// `body` is the whole record, `before` what stood there (null: nothing).
[[nodiscard]] agent_protocol::Result<RecordSet> set_record(const ParsedKey& key,
                                                           const JsonTree& body,
                                                           const JsonTree& before,
                                                           const Reading& reading,
                                                           const Orderer& orderer);

// Why a version is not ordered of these nodes: some run a newer one. None: it may be.
[[nodiscard]] std::optional<std::string> why_no_going_down(const std::vector<NodeView>& nodes,
                                                           const std::string& component,
                                                           const std::string& version);

}  // namespace fleet
