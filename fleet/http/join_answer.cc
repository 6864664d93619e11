#include "fleet/http/join_answer.h"

#include <algorithm>
#include <utility>

#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

Response join_refused(std::string_view why) {
  return problem(403, why);
}

// Returns the machine's valid certificate, if it has joined with the same key before, or no value.
std::optional<std::string> certificate_there(const JoinAsked& asked, const JoinMoment& moment) {
  const auto identity =
      record_there<Identity>(moment.records, key_of(KeyKind::identity, {node_kind, asked.node}));
  if (!identity || !has_key(*identity, asked.fingerprint, moment.now)) return std::nullopt;
  const auto there = record_there<NodeCertificate>(moment.records,
                                                   key_of(KeyKind::node_certificate, {asked.node}));
  if (!there || there->pem.empty()) return std::nullopt;
  const auto issued = moment.read_certificate(there->pem);
  if (!issued || issued->key != asked.fingerprint || issued->expires <= moment.now)
    return std::nullopt;
  const auto is_it = [&](const IssuedCertificate& one) {
    return one.serial == issued->serial && !one.revoked;
  };
  const auto& all = identity->certificates;
  if (std::none_of(all.begin(), all.end(), is_it)) return std::nullopt;
  return there->pem;
}

std::optional<Response> join_done(const JoinAsked& asked, const JoinMoment& moment) {
  const auto pem = certificate_there(asked, moment);
  if (!pem) return std::nullopt;
  JoinAnswer answer{
      .state = "joined", .words = asked.node + " is in the cell", .certificate = *pem};
  const KeyValue* token = token_with(moment.records, asked.hash);
  if (token != nullptr) answer.release_keys = read_record<Token>(token->value).value().release_keys;
  return Response{.body = write_record(answer)};
}

// Returns this machine's earlier request in the store, if it has the same node name and token.
std::optional<JoinRequest> same_request(const JoinAsked& asked, const JoinMoment& moment) {
  auto there =
      record_there<JoinRequest>(moment.records, key_of(KeyKind::join, {asked.fingerprint}));
  if (!there || there->node != asked.node || there->token != asked.hash) return std::nullopt;
  return there;
}

bool are_too_many(const JoinMoment& moment) {
  const std::string below = prefix_of(KeyKind::join);
  std::size_t count = 0;
  for (auto at = moment.records.lower_bound(below);
       at != moment.records.end() && at->first.starts_with(below); ++at) {
    if (++count >= join_requests_max) return true;
  }
  return false;
}

}  // namespace

bool JoinRate::take(Ms now) {
  constexpr std::int64_t one = 1'000;
  const Ms passed = counted_ ? std::max<Ms>(now - *counted_, 0) : 0;
  counted_ = now;
  // Limit `passed`, so that the product below cannot overflow.
  const Ms counts = std::min<Ms>(passed, join_burst * one);
  left_ = std::min(left_ + counts * joins_per_second, join_burst * one);
  if (left_ < one) return false;
  left_ -= one;
  return true;
}

JoinStep begin_join(const JoinAsked& asked, const JoinMoment& moment) {
  const KeyValue* found = token_with(moment.records, asked.hash);
  if (found == nullptr) return problem(401, "the token is not known here");
  if (auto done = join_done(asked, moment)) return *std::move(done);
  const auto there = same_request(asked, moment);
  if (there && there->refused.empty()) {
    if (there->waits) return join_waits(asked);
    return JoinHold{};
  }
  const auto identity =
      record_there<Identity>(moment.records, key_of(KeyKind::identity, {node_kind, asked.node}));
  const bool is_in = identity && has_key(*identity, asked.fingerprint, moment.now);
  const Token token = read_record<Token>(found->value).value();
  const std::string why = is_in ? "" : why_token_unfit(token, asked.node, moment.now);
  if (!why.empty()) return join_refused(why);
  if (are_too_many(moment))
    return problem(503, std::to_string(join_requests_max) + " machines wait already");
  const std::string key = key_of(KeyKind::join, {asked.fingerprint});
  const KeyValue* before = record_at(moment.records, key);
  const JoinRequest request{
      .node = asked.node, .pem = asked.pem, .token = asked.hash, .asked = moment.now};
  return JoinWrite{
      {.compares = {{.key = key, .revision = before == nullptr ? 0 : before->modified}},
       .puts = {{key, write_record(request)}}}};
}

std::optional<Response> answer_held_join(const JoinAsked& asked, const JoinMoment& moment) {
  const auto there = same_request(asked, moment);
  if (!there) return join_done(asked, moment);
  if (!there->refused.empty()) return join_refused(there->refused);
  if (there->waits) return join_waits(asked);
  return std::nullopt;
}

Response join_waits(const JoinAsked& asked) {
  return {.status = 202,
          .body = write_record(JoinAnswer{
              .state = "waits",
              .words = "waits until somebody approves it: fleetctl approve " + asked.node + " " +
                       asked.fingerprint + " (or until a fleet-signer runs, if none does)"})};
}

std::variant<Response, JoinQuestion> join_question_of(const Request& request) {
  if (request.method != Method::post) {
    Response refused = problem(405, "machines join by POST");
    refused.headers.emplace_back("Allow", "POST");
    return refused;
  }
  if (request.too_long || request.body.size() > join_bytes_max)
    return problem(413, "at most " + std::to_string(join_bytes_max) + " bytes are read");
  auto question = join_question_in(request.body);
  if (!question) return problem(400, question.reason());
  return question.value();
}

}  // namespace fleet
