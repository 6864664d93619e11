// Makes the record to store from the one that a person has written: checks it, and fills in the
// members that the person has left out. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/model/node_view.h"
#include "fleet/model/record_tree.h"
#include "fleet/orders/order.h"

namespace fleet {

// Returns the keys of the records to read before set_record(). For a desired version, these are its
// release and its nodes.
[[nodiscard]] std::vector<std::string> needs_of_record(const ParsedKey& key, const JsonTree& body);

struct RecordSet {
  std::string record = {};
  std::string words = {};  // the order in words, for the event in the history
  // Conditions that hold if the records on which the decision rests are unchanged.
  std::vector<Compare> compares = {};
};

// Returns the record to store. `body` is the whole new record; `before` is the present record, or
// null if there is none.
[[nodiscard]] agent_protocol::Result<RecordSet> set_record(const ParsedKey& key,
                                                           const JsonTree& body,
                                                           const JsonTree& before,
                                                           const Reading& reading,
                                                           const Orderer& orderer);

struct PublishedRelease {
  Release release = {};
  Revision revision = 0;  // the revision of the release's record
};

// Returns a release, or a Refusal if it is not published or its record is damaged.
[[nodiscard]] agent_protocol::Result<PublishedRelease> published_release(
    const Reading& reading, const std::string& component, const std::string& version);

// Returns a refusal if some of `nodes` run a newer version than `version`, or no value if none
// does.
[[nodiscard]] std::optional<std::string> why_no_going_down(const std::vector<NodeView>& nodes,
                                                           const std::string& component,
                                                           const std::string& version);

}  // namespace fleet
