// Makes the record to be stored from the one that a person has written: checks it, and fills in the
// members that the person has left out. Does no input or output.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/model/node_view.h"
#include "fleet/model/record_tree.h"
#include "fleet/orders/order.h"

namespace fleet {

// Returns the keys that must be read before set_record(). For a desired version, these are the keys
// of the release and of the nodes.
[[nodiscard]] std::vector<std::string> needs_of_record(const ParsedKey& key, const JsonTree& body);

struct RecordSet {
  std::string record = {};
  std::string words = {};  // the order in words, for the event in the history
  // Conditions for the transaction: the records from which the decision was made must be unchanged.
  std::vector<Compare> compares = {};
};

// Returns the record to be stored. `body` is the whole new record. `before` is the present record,
// or null if it is absent.
[[nodiscard]] agent_protocol::Result<RecordSet> set_record(const ParsedKey& key,
                                                           const JsonTree& body,
                                                           const JsonTree& before,
                                                           const Reading& reading,
                                                           const Orderer& orderer);

struct PublishedRelease {
  Release release = {};
  Revision revision = 0;  // the revision of the release's record
};

// Returns the release with this version. Returns a Refusal if the release is not published or its
// record is damaged.
[[nodiscard]] agent_protocol::Result<PublishedRelease> published_release(
    const Reading& reading, const std::string& component, const std::string& version);

// Returns a refusal if some of `nodes` run a newer version than `version`, or no value if no node
// does.
[[nodiscard]] std::optional<std::string> why_no_going_down(const std::vector<NodeView>& nodes,
                                                           const std::string& component,
                                                           const std::string& version);

}  // namespace fleet
