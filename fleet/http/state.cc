#include "fleet/http/state.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/escape.h"
#include "fleet/http/access.h"
#include "fleet/http/held_work.h"
#include "fleet/http/outlook.h"
#include "fleet/http/summary.h"
#include "fleet/model/drivers/windows.h"
#include "fleet/model/history/events.h"
#include "fleet/model/nodes/identities.h"
#include "fleet/model/nodes/node_view.h"
#include "fleet/model/reasons/failure_causes.h"
#include "fleet/model/records/record_kinds.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/record_tree.h"
#include "fleet/model/records/settings.h"

namespace fleet {
namespace {

// The lists below `/v1/state`. If a list has no records, the answer is an empty list, not status
// 404.
constexpr std::string_view lists[] = {"node",   "desired", "release", "rollout", "plan",
                                      "window", "driver",  "event",   "once"};

std::string param(const Request& request, const std::string& name) {
  const auto at = request.query.find(name);
  return at == request.query.end() ? "" : at->second;
}

JsonTree window_state(const Window& window, const StateMoment& moment) {
  JsonTree tree = json_object();
  const bool is_utc = window.time_zone.empty() || window.time_zone == "UTC";
  if (window.time_zone == site_local) {
    tree.members["status"] = json_text("each node's own");
    return tree;
  }
  const auto zone = is_utc ? TimeZone::utc() : moment.zone(window.time_zone);
  const auto open = zone ? next_window(window, *zone, moment.now) : std::nullopt;
  if (!open) {
    tree.members["status"] = json_text("cannot be kept");
    return tree;
  }
  const bool is_open = open->begins <= moment.now;
  tree.members["status"] = json_text(is_open ? "open" : "closed");
  if (is_open && open->ends == never_ends) return tree;
  tree.members[is_open ? "closes" : "next"] =
      json_text(countdown((is_open ? open->ends : open->begins) - moment.now));
  return tree;
}

std::string shown(const Request& request, KeyKind kind, const KeyValue& record,
                  const StateMoment& moment) {
  const std::string text = shown_record(kind, record.value);
  auto tree = parse_tree(text);
  if (!tree) return text;
  bool as_it_is = true;
  if (kind == KeyKind::window) {
    const auto window = read_record<Window>(record.value);
    const std::string content = param(request, "content");
    if (content == "nonconfig") tree.value() = json_object();
    if (content != "config" && window) {
      tree.value() = merge_patch(tree.value(), window_state(window.value(), moment));
    }
    as_it_is = false;
  }
  const std::string fields = param(request, "fields");
  if (!fields.empty()) return write_tree(select_fields(tree.value(), fields));
  return as_it_is ? text : write_tree(tree.value());
}

// Returns what the page needs to know about the client: its name, and whether its role may give
// orders to rollouts.
JsonTree you(const Request& request) {
  JsonTree tree = json_object();
  const std::string name = request.visitor ? request.visitor->name : "";
  tree.members["name"] = json_text(name);
  tree.members["orders"] = json_truth(may_write(role_of(name), KeyKind::rollout));
  return tree;
}

Response at_a_glance(const Request& request, const StateView& view, const StateMoment& moment) {
  JsonTree tree = summary_of(view.cell, moment.now);
  const Health& health = view.health;
  tree.members["now"] = json_number(moment.now);
  tree.members["you"] = you(request);
  tree.members["outlook"] =
      tree_of(outlook_of(view.cell, health, moment.now, held_work(view, moment)));
  tree.members["revision"] = json_number(health.revision);
  tree.members["controller"] = json_text(health.controller);
  JsonTree& store = tree.members["store"] = json_object();
  store.members["quorum"] = json_truth(health.has_quorum());
  store.members["no_space"] = json_truth(health.has_no_space());
  JsonTree& members = store.members["members"] = json_object();
  for (const auto& [endpoint, member] : health.members) {
    JsonTree& one = members.members[endpoint] = json_object();
    one.members["answers"] = json_truth(member.answers);
    one.members["leads"] = json_truth(member.status.leads);
    one.members["database_bytes"] = json_number(member.status.database_bytes);
    one.members["used_bytes"] = json_number(member.status.used_bytes);
    one.members["errors"] = json_texts(member.status.errors);
    if (!member.trouble.empty()) one.members["trouble"] = json_text(member.trouble);
  }
  JsonTree& certificates = tree.members["certificates"] = json_object();
  for (const CertificateHealth& one : health.certificates) {
    certificates.members[one.what] = json_number(one.expires);
  }
  const std::string fields = param(request, "fields");
  return {.body = write_tree(fields.empty() ? tree : select_fields(tree, fields))};
}

// Returns the kind of a record, or no value if the client may not see it or the key is unknown.
std::optional<KeyKind> kind_of(const Request& request, const KeyValue& record) {
  const auto key = parse_key(record.key);
  if (!key || !may_see(request, key->kind)) return std::nullopt;
  return key->kind;
}

// Conditions for the events in the answer; an empty string is no condition.
struct Wanted {
  std::string subject = {};
  std::string who = {};
  std::string trace = {};

  [[nodiscard]] bool is_all() const { return subject.empty() && who.empty() && trace.empty(); }
};

bool is_wanted(const Request& request, const KeyValue& record, const Wanted& wanted) {
  if (!kind_of(request, record)) return false;
  if (wanted.is_all()) return true;
  const auto event = read_record<FleetEvent>(record.value);
  return event && (wanted.subject.empty() || is_about(event.value().subject, wanted.subject)) &&
         (wanted.who.empty() || is_by(event.value(), wanted.who)) &&
         (wanted.trace.empty() || event.value().trace == wanted.trace);
}

Response list(const Request& request, const std::string& rest, const StateView& view,
              const StateMoment& moment) {
  const std::string below = std::string(key_root) + rest + "/";
  const Wanted wanted{param(request, "subject"), param(request, "who"), param(request, "trace")};
  const std::string before = param(request, "before");
  const auto end = before.empty() ? view.records.end() : view.records.lower_bound(below + before);
  std::vector<const KeyValue*> found;
  for (auto at = view.records.lower_bound(below); at != end; ++at) {
    if (!at->first.starts_with(below)) break;
    if (is_wanted(request, at->second, wanted)) found.push_back(&at->second);
  }
  const bool is_list = std::find(std::begin(lists), std::end(lists), rest) != std::end(lists);
  const auto self = view.records.find(std::string(key_root) + rest);
  const bool is_there = self != view.records.end() && kind_of(request, self->second);
  if (found.empty() && !is_list && !is_there) {
    return problem(404, "there is no " + rest);
  }
  const auto limit = duration_ms(param(request, "limit") + "ms");
  const std::size_t first = limit && static_cast<std::size_t>(*limit) < found.size()
                                ? found.size() - static_cast<std::size_t>(*limit)
                                : 0;
  Response response{.body = "{", .etag = tag_of(view.health.revision)};
  for (std::size_t i = first; i < found.size(); ++i) {
    if (i > first) response.body += ",\n";
    agent_protocol::append_quoted(response.body, found[i]->key.substr(below.size()));
    response.body += ":" + shown(request, *kind_of(request, *found[i]), *found[i], moment);
  }
  response.body += "}";
  return response;
}

// Returns why nodes of the rollout have failed, as `fleetctl why --json` does: one group for all
// that failed in the same way.
Response failures(const std::string& rollout, const StateView& view) {
  Reading reading;
  const auto add = [&](const std::string& key) {
    const auto record = view.records.find(key);
    if (record != view.records.end()) reading.found.push_back(record->second);
  };
  const std::string below = key_below(key_of(KeyKind::rollout, {rollout})) + "node/";
  for (auto at = view.records.lower_bound(below); at != view.records.end(); ++at) {
    if (!at->first.starts_with(below)) break;
    const auto key = parse_key(at->first);
    if (!key) continue;
    reading.found.push_back(at->second);
    add(key_of(KeyKind::node_info, {key->names[1]}));
    add(key_of(KeyKind::identity, {node_kind, key->names[1]}));
  }
  return {.body = failures_json(failure_groups(nodes_of_rollout(reading, rollout))),
          .etag = tag_of(view.health.revision)};
}

std::optional<std::string> why_no_look(const Request& request) {
  const std::string content = param(request, "content");
  if (!content.empty() && content != "config" && content != "nonconfig" && content != "failures") {
    return "content may be config, nonconfig or failures";
  }
  const std::string limit = param(request, "limit");
  if (!limit.empty() && !duration_ms(limit + "ms")) return "limit is no number";
  return std::nullopt;
}

}  // namespace

Response state_answer(const Request& request, const std::string& rest, const StateView& view,
                      const StateMoment& moment) {
  if (const auto why = why_no_look(request)) return problem(400, *why);
  if (!view.health.follows) {
    return problem(503, "the store cannot be reached: " + view.health.trouble);
  }
  if (rest.empty()) return at_a_glance(request, view, moment);
  if (rest.ends_with('/')) return list(request, rest.substr(0, rest.size() - 1), view, moment);
  const auto record = view.records.find(std::string(key_root) + rest);
  const auto kind = record == view.records.end() ? std::nullopt : kind_of(request, record->second);
  if (!kind) return list(request, rest, view, moment);
  if (*kind == KeyKind::rollout && param(request, "content") == "failures") {
    return failures(parse_key(record->first)->names[0], view);
  }
  Response response{.body = shown(request, *kind, record->second, moment),
                    .etag = tag_of(record->second.modified)};
  if (names_tag(request.if_none_match, response.etag)) return {304, "", "", response.etag};
  return response;
}

// ---- events for clients that follow the cell

namespace {

std::string event(std::string_view name, const std::string& data) {
  std::string text = "event: ";
  text.append(name).append("\ndata: ").append(data).append("\n\n");
  return text;
}

std::string standing(Revision revision, bool follows) {
  JsonTree tree = json_object();
  tree.members["revision"] = json_number(revision);
  tree.members["follows"] = json_truth(follows);
  return write_tree(tree);
}

bool is_told(KeyKind kind) {
  return kind != KeyKind::release && kind != KeyKind::settings && kind != KeyKind::notified;
}

}  // namespace

std::string changes_event(Revision revision, const std::vector<Change>& changes) {
  std::set<std::string> nodes;
  JsonTree records = json_object();
  for (const Change& change : changes) {
    const auto key = parse_key(change.now.key);
    if (!key || !is_told(key->kind)) continue;
    if (is_of_node(key->kind)) {
      nodes.insert(key->names.front());
      continue;
    }
    // The event has only the last change of each key. The value is null if the record was erased or
    // cannot be read.
    const auto record = parse_tree(change.now.value);
    const bool is_shown = !change.erased && record && rewritten_record(key->kind, change.now.value);
    records.members[change.now.key.substr(key_root.size())] =
        is_shown ? record.value() : JsonTree{};
  }
  if (nodes.empty() && records.members.empty()) return "";
  JsonTree tree = json_object();
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

std::string hello_events(Revision revision, const Health& health) {
  return "retry: 2000\n" + event("hello", standing(revision, health.follows)) +
         (health.follows ? "" : trouble_event(health.trouble));
}

std::string beat_event(Revision revision, bool follows) {
  return event("beat", standing(revision, follows));
}

}  // namespace fleet
