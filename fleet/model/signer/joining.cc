#include "fleet/model/signer/joining.h"

#include <algorithm>
#include <utility>

#include "fleet/model/history/events.h"
#include "fleet/model/nodes/target_match.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/settings.h"

namespace fleet {
namespace {

// Returns the revision at which the record at the key was last written, or 0 if it is absent.
Revision revision_of(const RecordsByKey& records, const std::string& key) {
  const KeyValue* found = record_at(records, key);
  return found == nullptr ? 0 : found->modified;
}

// Calls `look` with the name and the record of each key of this kind, until `look` returns true.
template <class Look>
void look_through(const RecordsByKey& records, KeyKind kind, const Look& look) {
  const std::string below = prefix_of(kind);
  for (auto at = records.lower_bound(below); at != records.end() && at->first.starts_with(below);
       ++at) {
    const auto key = parse_key(at->first);
    if (key && key->kind == kind && look(key->names.front(), at->second)) return;
  }
}

// Returns whether the URL has only a host and a port. A shell can read such a URL without quotes
// from a settings file.
bool is_plain_url(std::string_view url) {
  static constexpr std::string_view marks = ".-:[]";
  constexpr std::string_view scheme = "https://";
  if (!url.starts_with(scheme) || url.size() == scheme.size()) return false;
  return std::all_of(url.begin() + scheme.size(), url.end(), [](char c) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return is_letter || (c >= '0' && c <= '9') || marks.find(c) != marks.npos;
  });
}

// Compares two digests in constant time, so that the time does not reveal where they differ.
bool are_same(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  unsigned int difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    difference |= static_cast<unsigned char>(one[i]) ^ static_cast<unsigned char>(other[i]);
  }
  return difference == 0;
}

std::string request_key(const JoinCase& one) {
  return key_of(KeyKind::join, {one.fingerprint});
}

std::string owner_key(const JoinCase& one) {
  return key_of(KeyKind::identity, {node_kind, one.request.node});
}

// Returns an event about a machine that wants to join. The event's trace is the beginning of the
// fingerprint of the machine's key. `who` is the person who has let the machine in, or empty.
FleetEvent joining_event(const JoinCase& one, const std::string& text, const std::string& who) {
  constexpr std::size_t id_digits = 8;
  return {.kind = "ordered",
          .subject = "identity/node/" + one.request.node,
          .text = brief(text),
          .trace = one.fingerprint.substr(0, id_digits),
          .who = who};
}

bool is_revoked(const JoinCase& one) {
  return one.identity && !one.identity->revoked.empty();
}

bool has_approval(const JoinCase& one) {
  return one.approval && one.approval->node == one.request.node;
}

// Returns whether the approval was written before the name was revoked. Such an approval is
// invalid, since the revocation is the later decision.
bool is_outdated(const JoinCase& one) {
  return has_approval(one) && is_revoked(one) && one.approval_revision < one.identity_revision;
}

}  // namespace

bool is_hexadecimal(std::string_view text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

bool is_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
}

bool is_release_key_name(std::string_view name) {
  constexpr std::string_view end = ".pub";
  return name.size() > end.size() && name.ends_with(end) && is_version_name(name);
}

Result<TokenText> token_in(std::string_view text) {
  if (text.size() > join_bytes_max)
    return Refusal{"it has more than " + std::to_string(join_bytes_max) + " bytes"};
  auto read = read_record<TokenText>(text);
  if (!read) return Refusal{"it " + read.reason()};
  const TokenText& token = read.value();
  const auto are_urls = [](const std::vector<std::string>& urls) {
    return !urls.empty() && std::all_of(urls.begin(), urls.end(), &is_plain_url);
  };
  if (!are_urls(token.controllers)) return Refusal{"it names no controller's https:// address"};
  if (!are_urls(token.store)) return Refusal{"it names no https:// address of the store"};
  if (!is_hexadecimal(token.authority, hash_digits))
    return Refusal{"it does not have the digest of an authority"};
  if (!is_hexadecimal(token.secret, secret_digits)) return Refusal{"it does not have its secret"};
  return read;
}

Result<JoinQuestion> join_question_in(std::string_view text) {
  auto read = read_record<JoinQuestion>(text);
  if (!read) return Refusal{"the question " + read.reason()};
  const JoinQuestion& question = read.value();
  if (!is_id(question.node)) return Refusal{"`node` is not a node's name"};
  if (!is_hexadecimal(question.secret, secret_digits))
    return Refusal{"`secret` is not a token's secret"};
  if (question.request.empty()) return Refusal{"there is no `request` for a certificate"};
  return read;
}

std::string token_id(std::string_view hash) {
  return std::string(hash.substr(0, token_id_digits));
}

const KeyValue* token_with(const RecordsByKey& records, std::string_view hash) {
  if (!is_hexadecimal(hash, hash_digits)) return nullptr;
  const KeyValue* found = record_at(records, key_of(KeyKind::token, {token_id(hash)}));
  if (found == nullptr) return nullptr;
  const auto read = read_record<Token>(found->value);
  return read && are_same(read.value().hash, hash) ? found : nullptr;
}

std::string why_token_unfit(const Token& token, std::string_view node, UnixSeconds asked) {
  if (!token.revoked.empty()) return "the token is revoked";
  if (asked >= token.expires) return "the token has expired";
  if (token.used >= token.uses) return "the token is used up";
  if (!token.nodes.empty() && !glob_matches(token.nodes, node))
    return "the token is for other names: " + token.nodes;
  return "";
}

bool has_key(const Identity& identity, std::string_view fingerprint, UnixSeconds now) {
  if (!identity.revoked.empty()) return false;
  return std::any_of(identity.certificates.begin(), identity.certificates.end(),
                     [&](const IssuedCertificate& one) {
                       return !one.revoked && one.expires > now && one.key == fingerprint;
                     });
}

std::optional<JoinCase> join_case(const RecordsByKey& records, const std::string& fingerprint) {
  JoinCase one{.fingerprint = fingerprint};
  auto request = record_there<JoinRequest>(records, request_key(one));
  if (!request || !is_id(request->node)) return std::nullopt;
  one.request = *std::move(request);
  one.request_revision = revision_of(records, request_key(one));
  if (const KeyValue* token = token_with(records, one.request.token); token != nullptr) {
    one.token = record_there<Token>(records, token->key);
    one.token_revision = token->modified;
  }
  one.identity = record_there<Identity>(records, owner_key(one));
  one.identity_revision = revision_of(records, owner_key(one));
  one.is_identity_damaged = one.identity_revision != 0 && !one.identity;
  const std::string approval = key_of(KeyKind::approval, {fingerprint});
  one.approval = record_there<Approval>(records, approval);
  one.approval_revision = revision_of(records, approval);
  const auto settings = record_there<Settings>(records, key_of(KeyKind::settings));
  one.all_wait = settings && cell_settings(*settings).joins_wait;
  return one;
}

JoinDecision decide_join(const JoinCase& one, UnixSeconds now) {
  if (one.identity && has_key(*one.identity, one.fingerprint, now)) return JoinSigned{};
  if (!one.token) return JoinRefused{"the token is not known here"};
  if (std::string why = why_token_unfit(*one.token, one.request.node, one.request.asked);
      !why.empty())
    return JoinRefused{std::move(why)};
  if (one.is_identity_damaged) return JoinWaits{};
  if (has_approval(one) && !is_outdated(one)) return JoinSigned{.costs_use = true};
  if (one.identity || one.all_wait) {
    return JoinWaits{.shuts_out = is_revoked(one), .drops_approval = is_outdated(one)};
  }
  return JoinSigned{.costs_use = true};
}

std::string why_no_more(const JoinCase& one, const JoinSigned& decision, UnixSeconds now) {
  if (!one.identity) return "";
  const std::size_t most = decision.costs_use ? certificates_max : certificates_again_max;
  return why_no_more_certificates(*one.identity, one.request.node, now, most);
}

std::optional<JoinCase> next_join(const RecordsByKey& records, UnixSeconds now,
                                  const std::set<std::string, std::less<>>& put_off) {
  std::optional<JoinCase> next;
  look_through(records, KeyKind::join, [&](const std::string& fingerprint, const KeyValue& found) {
    if (put_off.contains(found.key)) return false;
    auto one = join_case(records, fingerprint);
    if (!one || !one->request.refused.empty()) return false;
    const JoinDecision decision = decide_join(*one, now);
    const auto* waits = std::get_if<JoinWaits>(&decision);
    if (one->request.waits && waits != nullptr && !waits->drops_approval) return false;
    next = std::move(one);
    return true;
  });
  return next;
}

Transaction answer_join(const JoinCase& one, const JoinDecision& decision) {
  JoinRequest answered = one.request;
  answered.waits = std::holds_alternative<JoinWaits>(decision);
  const auto* refused = std::get_if<JoinRefused>(&decision);
  if (refused != nullptr) answered.refused = refused->why;
  Transaction transaction{.compares = {{.key = request_key(one), .revision = one.request_revision}},
                          .puts = {{request_key(one), write_record(answered)}}};
  if (const auto* waits = std::get_if<JoinWaits>(&decision); waits && waits->drops_approval) {
    const std::string key = key_of(KeyKind::approval, {one.fingerprint});
    transaction.compares.push_back({.key = key, .revision = one.approval_revision});
    transaction.erases.push_back({key});
  }
  if (refused != nullptr && one.request.waits)
    add_note(transaction, joining_event(one, "waits no longer: " + refused->why, ""));
  return transaction;
}

Transaction record_join(const JoinCase& one, const JoinSigned& decision, const std::string& pem,
                        const IssuedCertificate& issued, const std::string& time, UnixSeconds now) {
  Identity identity = one.identity.value_or(Identity{});
  if (identity.since.empty()) identity.since = time;
  // If a person has approved this machine for a name that another machine had, the certificates of
  // the other machine are revoked.
  const bool is_another = decision.costs_use && one.identity.has_value();
  if (is_another) identity = revoked(std::move(identity), time);
  identity = with_certificate(std::move(identity), issued, now);
  Transaction transaction{.compares = {{.key = request_key(one), .revision = one.request_revision},
                                       {.key = owner_key(one), .revision = one.identity_revision}}};
  if (decision.costs_use && one.token) {
    const std::string key = key_of(KeyKind::token, {token_id(one.request.token)});
    Token token = *one.token;
    ++token.used;
    identity.labels = token.labels;
    transaction.compares.push_back({.key = key, .revision = one.token_revision});
    transaction.puts.push_back({key, write_record(token)});
  }
  transaction.puts.push_back({owner_key(one), write_record(identity)});
  JoinRequest signed_one = one.request;
  signed_one.waits = false;
  signed_one.certificate = pem;
  transaction.puts.push_back({request_key(one), write_record(signed_one)});
  if (decision.costs_use && one.token) {
    const std::string& who = has_approval(one) ? one.approval->who : one.token->who;
    const std::string text = "joins with the token " + token_id(one.request.token);
    add_note(transaction, joining_event(one, text, who));
  }
  return transaction;
}

bool was_signed(const JoinCase& one, const IssuedCertificate& issued, UnixSeconds now) {
  if (issued.key != one.fingerprint || !one.identity || !one.identity->revoked.empty())
    return false;
  const auto& all = one.identity->certificates;
  return std::any_of(all.begin(), all.end(), [&](const IssuedCertificate& recorded) {
    return recorded.serial == issued.serial && recorded.key == issued.key && !recorded.revoked &&
           recorded.expires > now;
  });
}

Transaction publish_join(const JoinCase& one, const std::string& pem, Revision recorded) {
  return {.compares = {{.key = owner_key(one), .revision = recorded}},
          .puts = {{key_of(KeyKind::node_certificate, {one.request.node}),
                    write_record(NodeCertificate{.pem = pem})}},
          .erases = {{request_key(one)}, {key_of(KeyKind::approval, {one.fingerprint})}}};
}

Transaction forget_joins(const RecordsByKey& records, UnixSeconds now) {
  constexpr std::size_t most = 50;  // the most removals in one call; further calls remove the rest
  Transaction transaction;
  const auto forget = [&transaction](const KeyValue& found) {
    transaction.compares.push_back({.key = found.key, .revision = found.modified});
    transaction.erases.push_back({found.key});
    return transaction.erases.size() >= most;
  };
  look_through(records, KeyKind::join, [&](const std::string&, const KeyValue& found) {
    const auto read = read_record<JoinRequest>(found.value);
    const UnixSeconds kept = read && read.value().refused.empty() ? join_kept_s : refusal_kept_s;
    const bool is_over = !read || now >= read.value().asked + kept;
    return is_over && forget(found);
  });
  if (transaction.erases.size() >= most) return transaction;
  look_through(records, KeyKind::token, [&](const std::string&, const KeyValue& found) {
    const auto read = read_record<Token>(found.value);
    return read && now >= read.value().expires + join_kept_s && forget(found);
  });
  if (transaction.erases.size() >= most) return transaction;
  look_through(records, KeyKind::approval, [&](const std::string& name, const KeyValue& found) {
    return record_at(records, key_of(KeyKind::join, {name})) == nullptr && forget(found);
  });
  return transaction;
}

}  // namespace fleet
