#include "fleet/http/config.h"

#include <utility>

#include "fleet/http/access.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/record_tree.h"
#include "fleet/model/records/settings.h"
#include "fleet/orders/document.h"
#include "fleet/orders/order.h"

namespace fleet {
namespace {

ConfigDecision answered(Response response) {
  return {.response = std::move(response)};
}

std::string key_text(const std::string& rest) {
  return std::string(key_root) + rest;
}

JsonTree tree_in(const std::string& text) {
  const auto tree = parse_tree(text.empty() ? "{}" : text);
  return tree ? tree.value() : JsonTree{};
}

std::string shown(const Request& request, KeyKind kind, const KeyValue& found) {
  const std::string record = shown_record(kind, found.value);
  const auto fields = request.query.find("fields");
  const auto tree = parse_tree(record);
  if (fields == request.query.end() || !tree) return record;
  return write_tree(select_fields(tree.value(), fields->second));
}

bool looks(const Request& request) {
  return request.method == Method::get || request.method == Method::head;
}

ConfigDecision look(const Request& request, const KeyValue* found, const std::string& rest) {
  const KeyKind kind = config_record(rest)->kind;
  if (found == nullptr) return refused(404, rest + " is not set");
  if (!may_see(request, kind)) {
    return refused(403, rest + " is shown to those alone who have a certificate");
  }
  Response response{.body = shown(request, kind, *found), .etag = tag_of(found->modified)};
  if (names_tag(request.if_none_match, response.etag)) response = {304, "", "", response.etag};
  return answered(std::move(response));
}

// Returns a response with a list of records: one JSON object with the records by their keys.
ConfigDecision list(const Request& request, const Reading& reading) {
  std::string body = "{";
  for (const KeyValue& found : reading.found) {
    const auto key = parse_key(found.key);
    if (!key || !may_see(request, key->kind)) continue;
    if (body.size() > 1) body += ',';
    body += "\"" + found.key.substr(key_root.size()) + "\":" + shown(request, key->kind, found);
  }
  return answered({.body = body + "}"});
}

std::optional<std::string> why_no_change(const Request& request) {
  for (const char* name : {"validate", "yes"}) {
    const auto said = request.query.find(name);
    if (said == request.query.end() || said->second == "true") continue;
    return std::string(name) + " may be true, and nothing else";
  }
  return std::nullopt;
}

Deed deed_of(Method method) {
  if (method == Method::erase) return Deed::erase;
  return method == Method::patch ? Deed::patch : Deed::put;
}

// Puts the stored URL of a webhook into the request if the request has the shortened URL, which is
// all that clients are shown. Otherwise a client that reads the settings and sends them back would
// destroy the stored URL.
std::string with_secret(const std::string& body, const KeyValue* found) {
  const std::string name(secret_setting);
  const std::string webhook = found == nullptr ? "" : tree_in(found->value).text_of(name);
  auto tree = parse_tree(body);
  if (webhook.empty() || !tree || tree.value().text_of(name) != shown_url(webhook)) return body;
  tree.value().members[name] = json_text(webhook);
  return write_tree(tree.value());
}

int status_of(OrderRefused::Why why) {
  switch (why) {
    case OrderRefused::Why::malformed:
      return 400;
    case OrderRefused::Why::absent:
      return 404;
    case OrderRefused::Why::conflict:
      return 412;
  }
  return 400;
}

Orderer orderer_of(const Request& request, const ConfigMoment& moment) {
  return {.who = request.visitor->name,
          .is_proved = true,
          .time = moment.time,
          .trace = moment.trace,
          .zones = moment.zones};
}

ConfigDecision write(const Request& request, const std::string& rest, const KeyValue* found,
                     const Reading& reading, const ConfigMoment& moment) {
  Order order{deed_of(request.method), rest, request.body, request.query.contains("yes")};
  if (config_record(rest)->kind == KeyKind::settings) order.body = with_secret(order.body, found);
  OrderDecision decided = decide_order(order, reading, orderer_of(request, moment));
  if (const auto* why = std::get_if<OrderRefused>(&decided)) {
    return refused(status_of(why->why), why->reason);
  }
  auto& taken = std::get<OrderTaken>(decided);
  ConfigDecision decision{.response = {.status = taken.is_new ? 201 : 204, .body = taken.shown}};
  if (request.query.contains("validate")) return decision;
  decision.lease_s = taken.lease_s;
  decision.first = std::move(taken.parts);
  decision.creation = std::move(taken.creation);
  decision.event = std::move(taken.event);
  if (decision.creation != nullptr || decision.first.empty()) return decision;
  decision.transaction = std::move(decision.first.back());
  decision.first.pop_back();
  add_event(*decision.transaction, decision.event, moment.next_event);
  return decision;
}

}  // namespace

ConfigDecision refused(int status, const std::string& reason) {
  return answered(problem(status, reason));
}

std::vector<std::string> config_reads(const Request& request, const std::string& rest) {
  if (asks_for_list(request, rest)) return {key_of(KeyKind::stop)};
  if (!config_record(rest)) return {};  // decide_config() refuses this
  if (looks(request)) return {key_text(rest)};
  return order_reads({deed_of(request.method), rest, request.body});
}

bool asks_for_list(const Request& request, const std::string& rest) {
  return looks(request) && is_config_list(rest);
}

std::vector<KeyValue> records_listed(const std::string& rest,
                                     const std::map<std::string, KeyValue, std::less<>>& copy) {
  const std::string prefix = rest.empty() ? std::string(key_root) : key_below(key_text(rest));
  std::vector<KeyValue> listed;
  for (auto at = copy.lower_bound(prefix); at != copy.end() && at->first.starts_with(prefix);
       ++at) {
    const auto key = parse_key(at->first);
    if (key && is_orderable(key->kind)) listed.push_back(at->second);
  }
  return listed;
}

ConfigDecision decide_config(const Request& request, const std::string& rest,
                             const Reading& reading, const ConfigMoment& moment) {
  if (request.too_long) return refused(413, "the body is too long for a record");
  if (const auto why = why_no_change(request)) return refused(400, *why);
  if (asks_for_list(request, rest)) return list(request, reading);
  if (!config_record(rest)) {
    return refused(404, "there is no " + rest + " that could be set");
  }
  const KeyValue* found = reading.find(key_text(rest));
  const bool changes = request.method == Method::patch || request.method == Method::erase;
  if (looks(request)) return look(request, found, rest);
  if (!request.if_match.empty() &&
      (found == nullptr || !names_tag(request.if_match, tag_of(found->modified)))) {
    return refused(412, rest + " is not as it was when it was read");
  }
  if (found != nullptr && names_tag(request.if_none_match, tag_of(found->modified))) {
    return refused(412, rest + " is there already");
  }
  if (found == nullptr && changes) return refused(404, rest + " is not set");
  return write(request, rest, found, reading, moment);
}

std::vector<std::string> apply_reads(const Request& request) {
  const auto orders = orders_in(request.body);
  return orders ? document_reads(orders.value()) : std::vector<std::string>{};
}

ConfigDecision decide_apply(const Request& request, const Reading& reading,
                            const ConfigMoment& moment) {
  if (request.too_long) {
    return refused(413, "the document has more than " + std::to_string(request_bytes_max) +
                            " bytes: fleetctl apply takes longer ones");
  }
  if (const auto why = why_no_change(request)) return refused(400, *why);
  auto orders = orders_in(request.body);
  if (!orders) return refused(400, "the document: " + orders.reason());
  for (Order& order : orders.value()) {
    const KeyValue* found = reading.find(key_text(order.subject));
    if (order.subject == "settings") order.body = with_secret(order.body, found);
  }
  auto decided = decide_document(orders.value(), reading, orderer_of(request, moment));
  if (const auto* why = std::get_if<OrderRefused>(&decided)) {
    return refused(status_of(why->why), why->reason);
  }
  auto& document = std::get<DocumentDecision>(decided);
  JsonTree shown = json_object();
  JsonTree& changes = shown.members["changes"] = json_object();
  for (const DocumentChange& change : document.changes)
    changes.members[change.subject] = json_texts(change.lines);
  if (!document.notes.empty()) shown.members["notes"] = json_texts(document.notes);
  ConfigDecision decision{.response = {.body = write_tree(shown)}, .is_record = false};
  if (document.changes.empty() || request.query.contains("validate")) return decision;
  decision.event = std::move(document.event);
  decision.transaction = std::move(document.transaction);
  add_event(*decision.transaction, decision.event, moment.next_event);
  return decision;
}

void add_lease(ConfigDecision& decision, LeaseId lease) {
  for (Put& put : decision.transaction->puts) {
    const auto key = parse_key(put.key);
    if (key && key->kind != KeyKind::event) put.lease = lease;
  }
}

Response creation_answer(const ConfigDecision& decision, const Creation::Next& ended,
                         const KeyValue* record) {
  if (const auto* not_begun = std::get_if<Creation::NotBegun>(&ended)) {
    return problem(not_begun->is_known ? 412 : 503, not_begun->reason);
  }
  Response response = decision.response;
  response.etag = tag_of(record->modified);
  return response;
}

std::optional<Response> config_answer(const ConfigDecision& decision, const Outcome& outcome) {
  if (const auto* done = std::get_if<Committed>(&outcome)) {
    Response response = decision.response;
    const bool erased = !decision.transaction->erases.empty();
    if (decision.is_record && !erased) response.etag = tag_of(done->revision);
    return response;
  }
  if (const auto* unknown = std::get_if<Unknown>(&outcome)) {
    return problem(503, "it cannot be known whether it was written: " + unknown->reason);
  }
  if (const auto* denied = std::get_if<Denied>(&outcome)) {
    return problem(503, "the store refuses it: " + denied->reason);
  }
  return std::nullopt;
}

}  // namespace fleet
