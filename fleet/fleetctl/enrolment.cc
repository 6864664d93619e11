#include "fleet/fleetctl/enrolment.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <utility>

#include "fleet/common/authority.h"
#include "fleet/common/certificate.h"
#include "fleet/common/identity.h"
#include "fleet/common/public_key.h"
#include "fleet/common/roles.h"
#include "fleet/common/text_file.h"
#include "fleet/fleetctl/cell_view.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/ordering.h"
#include "fleet/model/nodes/identities.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/settings.h"
#include "fleet/model/signer/joining.h"

namespace fleetctl {
fleet::Signer signer_of(const Options& options) {
  return {fleet::content_of_file(options.signer), fleet::content_of_file(options.signer_key)};
}

std::string why_no_signer(const Options& options) {
  if (const std::string why = fleet::why_unread(options.signer); !why.empty())
    return "--signer: " + why;
  if (const std::string why = fleet::why_unread(options.signer_key); !why.empty())
    return "--signer-key: " + why;
  const fleet::Signer signer = signer_of(options);
  if (std::string why = fleet::why_cannot_sign(signer); !why.empty()) return why;
  const std::string why = fleet::why_other_authority(options.store.certificates, options.signer);
  return why.empty() ? "" : "--signer: " + why;
}

int let_in(const Options& options, Asker& asker, const Owner& owner,
           const fleet::IssuedCertificate& issued) {
  const std::string key = fleet::key_of(fleet::KeyKind::identity, {owner.kind, owner.who});
  OneRecord<fleet::Identity> before;
  if (const int status = read_one(asker, key, before); status != exit_done) return status;
  const std::string name = fleet::certificate_name(owner.kind, owner.who);
  if (!before.damage.empty()) return refuse(name + " is not enrolled: its record " + before.damage);
  fleet::Identity identity = before.record.value_or(fleet::Identity{});
  const auto is_this = [&issued](const auto& one) { return one.serial == issued.serial; };
  const bool is_recorded =
      std::any_of(identity.certificates.begin(), identity.certificates.end(), is_this);
  if (is_recorded && !identity.revoked.empty()) {
    return refuse(name + " was revoked at " + identity.revoked);
  }
  const std::string why =
      fleet::why_no_more_certificates(identity, name, std::time(nullptr), fleet::certificates_max);
  if (!is_recorded && !why.empty()) return refuse(why);
  if (!is_recorded) {
    if (identity.since.empty()) identity.since = fleet::time_text();
    identity = with_certificate(std::move(identity), issued, std::time(nullptr));
    const int status =
        write(asker, key, fleet::write_record(identity), before.revision,
              note_of(options, "identity/" + owner.kind + "/" + owner.who, "is enrolled"));
    if (status != exit_done) return status;
  }
  if (const auto trouble = asker.grant(fleet::permissions_of(owner.kind, owner.who)))
    return unreachable(*trouble);
  return exit_done;
}

std::string controllers_value(const std::vector<std::string>& urls) {
  std::string value;
  for (const std::string& url : urls) {
    value += (value.empty() ? "" : ",") + url;
  }
  return value;
}

int name_controllers(const Options& options, Asker& asker, const std::vector<std::string>& urls) {
  OneRecord<fleet::Settings> set;
  const int status = read_one(asker, fleet::key_of(fleet::KeyKind::settings), set);
  if (status != exit_done) return status;
  if (set.record && cell_settings(*set.record).controllers == urls) return exit_done;
  Options wish = options;
  wish.setting = "controllers";
  wish.value = controllers_value(urls);
  return set_setting(wish, asker);
}

int secure_store(Asker& asker) {
  if (const auto trouble = asker.grant({.user = "root", .all = true})) return unreachable(*trouble);
  if (const auto trouble = asker.enable_users()) return unreachable(*trouble);
  return exit_done;
}

// Enrols a node or a person. Signs the certificate first, so that a failure leaves no record. Then
// writes the record and the permissions to the store, and at last the certificate's file.
int enrol(const Options& options, Asker& asker) {
  const fleet::Permissions permissions = fleet::permissions_of(options.role, options.node);
  const std::string not_enrolled = permissions.user + " is not enrolled: ";
  if (const std::string why = fleet::why_unread(options.request); !why.empty())
    return refuse(not_enrolled + "--request: " + why);
  if (const std::string why = why_no_signer(options); !why.empty())
    return refuse(not_enrolled + why);
  const fleet::Signed made = fleet::sign({.request = fleet::content_of_file(options.request),
                                          .signer = signer_of(options),
                                          .name = permissions.user,
                                          .days = options.days});
  if (!made.error.empty()) return refuse(not_enrolled + made.error);
  const int status = let_in(options, asker, {options.role, options.node}, made.issued);
  if (status != exit_done) return status;
  if (const auto why = fleet::replace_file(options.output, made.certificate); !why.empty()) {
    return fail(why, exit_failed);
  }
  return say(permissions.user + " is enrolled for " + std::to_string(options.days) +
             " days: " + options.output);
}

// Renews the certificates that nodes have requested, in a cell without a fleet-signer.
int renew(const Options& options, Asker& asker) {
  const auto reply = asker.read({std::string(fleet::key_root), true});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  fleet::RecordsByKey records;
  for (const fleet::KeyValue& found : std::get<fleet::Reading>(reply).found) {
    records[found.key] = found;
  }
  if (const std::string why = why_no_signer(options); !why.empty())
    return refuse("nothing is renewed: " + why);
  const fleet::Signer signer = signer_of(options);
  bool all_signed = true;
  for (const fleet::PendingRenewal& pending : pending_renewals(records)) {
    const std::int64_t now = std::time(nullptr);
    const fleet::RenewalAnswer answer = answer_of(pending, signer, options.days, now);
    const bool is_signed = answer.error.empty();
    const std::string words = pending.node + (is_signed ? ": renewed" : ": " + answer.error);
    all_signed = all_signed && is_signed;
    const int status = commit(asker, answer_renewal(pending, answer, now), words);
    if (status != exit_done) return status;
  }
  return all_signed ? exit_done : exit_refused;
}

// ---- machines that join, by tokens and approvals

namespace {

using fleet::KeyKind;

std::string labels_of(const fleet::Token& token) {
  std::string words;
  for (const auto& [name, value] : token.labels) {
    words += (words.empty() ? "" : ",") + name + "=" + value;
  }
  return words.empty() ? "-" : words;
}

// Returns `good` if the token can still be used, or else the reason why it cannot.
std::string state_of(const fleet::Token& token, std::int64_t now) {
  const std::string why = why_token_unfit(token, "", now);
  const bool fits = why.empty() || why.starts_with("the token is for");
  return fits ? "good" : why.substr(std::string("the token ").size());
}

// Reads the files with the public keys for releases. Returns why a file cannot be used, or an empty
// string on success.
std::string read_keys_of_releases(const Options& options, fleet::Token& token,
                                  fleet::TokenText& text) {
  for (const std::string& file : options.release_keys) {
    const std::string content = fleet::content_of_file(file);
    constexpr std::size_t longest = 1'024;  // a public key of minisign has about 110 bytes
    if (content.empty() || content.size() > longest || !fleet::is_text(content))
      return file + " cannot be read, or is not a public key of agent-releases";
    const std::string name = std::filesystem::path(file).filename();
    if (!fleet::is_release_key_name(name))
      return file + ": needs a name of letters, digits, `.`, `_` and `-` that ends in .pub";
    if (!token.release_keys.emplace(name, content).second) return name + " is there twice";
    text.release_keys.push_back(fleet::digest_of(content));
  }
  return "";
}

// Completes a new token with the controllers' URLs, the digest of the authority's public key, and
// the secret. Prints the reason for a failure. Returns the exit status.
int fill_in(const Options& options, Asker& asker, fleet::TokenText& text) {
  OneRecord<fleet::Settings> set;
  const int status = read_one(asker, fleet::key_of(KeyKind::settings), set);
  if (status != exit_done) return status;
  text.controllers = cell_settings(set.record.value_or(fleet::Settings{})).controllers;
  if (text.controllers.empty()) {
    return refuse(
        "no machine can reach a controller: name their addresses by "
        "`fleetctl settings set controllers https://ADDRESS:PORT,...`");
  }
  text.store = options.store.endpoints;
  const std::string& file = options.store.certificates.authority;
  text.authority = fleet::key_digest_of_certificate(fleet::content_of_file(file));
  if (text.authority.empty())
    return refuse("--ca: " +
                  (file.empty() ? "is needed for a token" : file + " is no certificate"));
  text.secret = fleet::random_hexadecimal(fleet::secret_digits / 2);
  return text.secret.empty() ? refuse("this machine has no random numbers") : exit_done;
}

int list_waiting(const Options& options, Asker& asker) {
  const auto reply = read_keys(
      asker, {fleet::prefix_of(KeyKind::join), fleet::prefix_of(KeyKind::identity) + "node/"});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  const auto& reading = std::get<fleet::Reading>(reply);
  std::vector<upgraderctl::Row> rows{{"NODE", "FINGERPRINT", "SINCE", "TOKEN", "NAME"}};
  fleet::Reading waiting{.revision = reading.revision};
  for (const fleet::KeyValue& found : reading.found) {
    const auto key = fleet::parse_key(found.key);
    if (!key || key->kind != KeyKind::join) continue;
    const auto read = fleet::read_record<fleet::JoinRequest>(found.value);
    if (!read || !read.value().refused.empty()) continue;
    waiting.found.push_back(found);
    const fleet::JoinRequest& one = read.value();
    const auto owner = fleet::key_if(KeyKind::identity, {fleet::node_kind, one.node});
    const bool is_there = owner && reading.find(*owner) != nullptr;
    rows.push_back({one.node, key->names.front(), fleet::time_text_of(one.asked),
                    fleet::token_id(one.token), is_there ? "exists with another key" : "is new"});
  }
  if (options.json) return say_json(as_json(waiting));
  return say_all(table(rows));
}

}  // namespace

int create_token(const Options& options, Asker& asker) {
  fleet::Token token = options.token;
  fleet::TokenText text;
  if (const int status = fill_in(options, asker, text); status != exit_done) return status;
  if (const std::string why = read_keys_of_releases(options, token, text); !why.empty())
    return refuse(why);
  token.hash = fleet::digest_of(text.secret);
  token.expires = std::time(nullptr) + options.expires_s;
  token.created = fleet::time_text();
  token.who = who_asks(options);
  const std::string line = fleet::write_record(text);
  if (const auto read = fleet::token_in(line); !read) return refuse("the token: " + read.reason());
  const std::string id = fleet::token_id(token.hash);
  return write(asker, fleet::key_of(KeyKind::token, {id}), fleet::write_record(token), 0,
               note_of(options, "token/" + id, "is created"), line);
}

int list_tokens(const Options& options, Asker& asker) {
  const auto reply = asker.read({fleet::prefix_of(KeyKind::token), true});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  if (options.json) return say_json(as_json(std::get<fleet::Reading>(reply)));
  std::vector<upgraderctl::Row> rows{
      {"TOKEN", "NODES", "LABELS", "USED", "EXPIRES", "STATE", "WHO"}};
  for (const fleet::KeyValue& found : std::get<fleet::Reading>(reply).found) {
    const auto key = fleet::parse_key(found.key);
    const auto read = fleet::read_record<fleet::Token>(found.value);
    if (key && read) {
      const fleet::Token& one = read.value();
      rows.push_back({key->names.front(), one.nodes.empty() ? "*" : one.nodes, labels_of(one),
                      std::to_string(one.used) + "/" + std::to_string(one.uses),
                      fleet::time_text_of(one.expires), state_of(one, std::time(nullptr)),
                      one.who});
    } else if (key) {
      complain("token/" + key->names.front() + " " + read.reason());
    }
  }
  return say_all(table(rows));
}

int revoke_token(const Options& options, Asker& asker) {
  const auto key = fleet::key_if(KeyKind::token, {options.subject});
  if (!key) return refuse(options.subject + ": no such token");
  OneRecord<fleet::Token> there;
  if (const int status = read_one(asker, *key, there); status != exit_done) return status;
  if (!there.damage.empty()) return refuse("the token " + there.damage);
  if (!there.record) return refuse(options.subject + ": no such token");
  if (!there.record->revoked.empty()) return say(options.subject + " is revoked, as before");
  there.record->revoked = fleet::time_text();
  return write(asker, *key, fleet::write_record(*there.record), there.revision,
               note_of(options, "token/" + options.subject, "is revoked"),
               options.subject + " is revoked");
}

int approve(const Options& options, Asker& asker) {
  if (options.node.empty()) return list_waiting(options, asker);
  const std::string none = options.node + ": no machine with this fingerprint waits for that name";
  const auto key = fleet::key_if(KeyKind::join, {options.fingerprint});
  if (!key) return refuse(none);
  OneRecord<fleet::JoinRequest> there;
  if (const int status = read_one(asker, *key, there); status != exit_done) return status;
  if (!there.record || there.record->node != options.node) return refuse(none);
  if (!there.record->refused.empty())
    return refuse(options.node + " was refused: " + there.record->refused);
  const fleet::Approval approval{
      .node = options.node, .who = who_asks(options), .time = fleet::time_text()};
  const std::string key_of_approval = fleet::key_of(KeyKind::approval, {options.fingerprint});
  fleet::Transaction transaction{.compares = {{.key = *key, .revision = there.revision}},
                                 .puts = {{key_of_approval, fleet::write_record(approval)}}};
  add_note(transaction, note_of(options, "identity/node/" + options.node,
                                "is approved with the key " + options.fingerprint));
  return commit(asker, transaction,
                options.node + " is approved; it joins as soon as fleet-signer has signed");
}

}  // namespace fleetctl
