#include "fleet/http/config.h"

#include "fleet/http/config_record.h"
#include "fleet/http/config_rollout.h"
#include "fleet/http/shown_record.h"
#include "fleet/model/record_text.h"

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
  if (fields == request.query.end()) return record;
  return write_tree(select_fields(tree_in(record), fields->second));
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

// All records that people set, by their keys.
ConfigDecision list(const Request& request, const Reading& reading) {
  std::string body = "{";
  for (const KeyValue& found : reading.found) {
    const auto key = parse_key(found.key);
    if (!key || !is_config(key->kind) || !may_see(request, key->kind)) continue;
    if (body.size() > 1) body += ',';
    body += "\"" + found.key.substr(key_root.size()) + "\":" + shown(request, key->kind, found);
  }
  return answered({.body = body + "}"});
}

// That a person has ordered it stands in the same transaction.
void record_order(const Request& request, const std::string& rest, const ConfigMoment& moment,
                  Transaction& transaction) {
  const FleetEvent event{
      .time = moment.time,
      .kind = "ordered",
      .subject = rest,
      .text = std::string(text_of(request.method)) + " by " + request.visitor->name,
      .trace = moment.trace};
  const std::string key = key_of(KeyKind::event, {}, moment.next_event);
  transaction.compares.push_back({.key = key});
  transaction.puts.push_back({key, write_record(event)});
}

std::optional<std::string> why_no_change(const Request& request) {
  const auto validate = request.query.find("validate");
  if (validate == request.query.end() || validate->second == "true") return std::nullopt;
  return "validate may be true, and nothing else";
}

ConfigDecision write(const Request& request, const std::string& rest, const KeyValue* found,
                     const Reading& reading, const ConfigMoment& moment) {
  const auto key = *config_record(rest);
  if (key.kind == KeyKind::release && found != nullptr) {
    return refused(400, "what was published is never changed, nor taken away");
  }
  Transaction transaction{
      .compares = {{.key = key_text(rest), .revision = found == nullptr ? 0 : found->modified}}};
  Response response{.status = found == nullptr ? 201 : 204};
  if (request.method == Method::erase) {
    transaction.erases.push_back({key_text(rest)});
  } else {
    const auto body = parse_tree(request.body.empty() ? "{}" : request.body);
    if (!body) return refused(400, "the body is no JSON object: " + body.reason());
    const JsonTree before = found == nullptr ? JsonTree{} : tree_in(found->value);
    const JsonTree whole =
        request.method == Method::patch ? merge_patch(before, body.value()) : body.value();
    const auto record = config_written(key, whole, before, request.visitor->name, reading, moment);
    if (!record) return refused(400, record.reason());
    for (const Compare& compare : record.value().compares)
      transaction.compares.push_back(compare);
    transaction.puts.push_back({key_text(rest), record.value().record});
  }
  if (request.query.contains("validate")) return answered(std::move(response));
  record_order(request, rest, moment, transaction);
  return {std::move(response), std::move(transaction)};
}

}  // namespace

ConfigDecision refused(int status, const std::string& reason) {
  return answered(problem(status, reason));
}

std::vector<std::string> config_reads(const Request& request, const std::string& rest) {
  const auto key = config_record(rest);
  if (!key) return {rest.empty() ? std::string(key_root) : key_below(key_text(rest))};
  std::vector<std::string> keys{key_text(rest)};
  if (key->kind == KeyKind::rollout) {
    for (std::string& needed : rollout_needs(request))
      keys.push_back(std::move(needed));
    return keys;
  }
  const auto body = parse_tree(request.body);
  if (!body) return keys;
  for (std::string& needed : config_needs(*key, body.value()))
    keys.push_back(std::move(needed));
  return keys;
}

ConfigDecision decide_config(const Request& request, const std::string& rest,
                             const Reading& reading, const ConfigMoment& moment) {
  if (request.too_long) return refused(400, "the body is too long for a record");
  if (const auto why = why_no_change(request)) return refused(400, *why);
  const bool looks = request.method == Method::get || request.method == Method::head;
  if (!config_record(rest)) {
    if (looks && is_config_list(rest)) return list(request, reading);
    return refused(404, "there is no " + rest + " that could be set");
  }
  const KeyValue* found = reading.find(key_text(rest));
  const bool changes = request.method == Method::patch || request.method == Method::erase;
  if (looks) return look(request, found, rest);
  if (!request.if_match.empty() &&
      (found == nullptr || !names_tag(request.if_match, tag_of(found->modified)))) {
    return refused(412, rest + " is not as it was when it was read");
  }
  if (found != nullptr && names_tag(request.if_none_match, tag_of(found->modified))) {
    return refused(412, rest + " is there already");
  }
  if (found == nullptr && changes) return refused(404, rest + " is not set");
  const auto key = *config_record(rest);
  if (key.kind != KeyKind::rollout) return write(request, rest, found, reading, moment);
  ConfigDecision decision = decide_rollout(request, key.names.front(), found, reading, moment);
  if (decision.transaction) record_order(request, rest, moment, *decision.transaction);
  return decision;
}

Transaction order_event(const Request& request, const std::string& rest,
                        const ConfigMoment& moment) {
  Transaction transaction;
  record_order(request, rest, moment, transaction);
  return transaction;
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
    if (!erased) response.etag = tag_of(done->revision);
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
