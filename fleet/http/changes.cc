#include "fleet/http/changes.h"

#include <set>

#include "base/escape.h"
#include "fleet/model/node_view.h"
#include "fleet/model/record_tree.h"

namespace fleet {
namespace {

std::string event(std::string_view name, const std::string& data) {
  std::string text = "event: ";
  text.append(name).append("\ndata: ").append(data).append("\n\n");
  return text;
}

bool is_told(KeyKind kind) {
  return kind != KeyKind::release && kind != KeyKind::settings && kind != KeyKind::notified;
}

}  // namespace

std::string changes_event(Revision revision, const std::vector<Change>& changes) {
  std::set<std::string> nodes;
  JsonTree records{.kind = JsonTree::Kind::object};
  for (const Change& change : changes) {
    const auto key = parse_key(change.now.key);
    if (!key || !is_told(key->kind)) continue;
    if (is_of_node(key->kind)) {
      nodes.insert(key->names.front());
      continue;
    }
    // The event contains each key only once, with its newest record. If that record was erased or
    // cannot be parsed, the event contains null in its place.
    const auto record = parse_tree(change.now.value);
    records.members[change.now.key.substr(key_root.size())] =
        !change.erased && record ? record.value() : JsonTree{};
  }
  if (nodes.empty() && records.members.empty()) return "";
  JsonTree tree{.kind = JsonTree::Kind::object};
  tree.members["revision"] = json_number(revision);
  tree.members["nodes"] = json_texts({nodes.begin(), nodes.end()});
  tree.members["records"] = std::move(records);
  return event("changes", write_tree(tree));
}

std::string trouble_event(const std::string& reason) {
  std::string data = "{\"reason\":";
  agent_protocol::append_quoted(data, reason);
  return event("trouble", data + "}");
}

std::string hello_event(Revision revision, bool follows) {
  JsonTree tree{.kind = JsonTree::Kind::object};
  tree.members["revision"] = json_number(revision);
  tree.members["follows"] = json_truth(follows);
  return "retry: 2000\n" + event("hello", write_tree(tree));
}

}  // namespace fleet
