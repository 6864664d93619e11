#include "fleet/fleetctl/enrolment.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "fleet/common/certificate.h"
#include "fleet/common/identity.h"
#include "fleet/common/roles.h"
#include "fleet/common/text_file.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/ordering.h"
#include "fleet/model/identities.h"
#include "fleet/model/keys.h"
#include "fleet/model/settings.h"

namespace fleetctl {
namespace {

fleet::Signer signer_of(const Options& options) {
  return {fleet::content_of_file(options.signer), fleet::content_of_file(options.signer_key)};
}

// Returns why one of the files of the authority cannot be read, with the option that names it.
// Returns an empty text if both can be read.
std::string why_no_signer_files(const Options& options) {
  if (const std::string why = fleet::why_unread(options.signer); !why.empty())
    return "--signer: " + why;
  if (const std::string why = fleet::why_unread(options.signer_key); !why.empty())
    return "--signer-key: " + why;
  return "";
}

}  // namespace

int let_in(const Options& options, Asker& asker, const Owner& owner,
           const fleet::IssuedCertificate& issued) {
  const std::string key = fleet::key_of(fleet::KeyKind::identity, {owner.kind, owner.who});
  OneRecord<fleet::Identity> before;
  if (const int status = read_one(asker, key, before); status != exit_done) return status;
  fleet::Identity identity = before.record.value_or(fleet::Identity{});
  const auto is_this = [&issued](const auto& one) { return one.serial == issued.serial; };
  const bool is_recorded =
      std::any_of(identity.certificates.begin(), identity.certificates.end(), is_this);
  if (is_recorded && !identity.revoked.empty()) {
    complain(fleet::certificate_name(owner.kind, owner.who) + " was revoked at " +
             identity.revoked);
    return exit_refused;
  }
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

int name_controllers(const Options& options, Asker& asker, const std::vector<std::string>& urls) {
  OneRecord<fleet::Settings> set;
  const int status = read_one(asker, fleet::key_of(fleet::KeyKind::settings), set);
  if (status != exit_done) return status;
  if (set.record && cell_settings(*set.record).controllers == urls) return exit_done;
  Options wish = options;
  wish.setting = "controllers";
  wish.value.clear();
  for (const std::string& url : urls) {
    wish.value += (wish.value.empty() ? "" : ",") + url;
  }
  return set_setting(wish, asker);
}

int secure_store(Asker& asker) {
  if (const auto trouble = asker.grant({.user = "root", .all = true})) return unreachable(*trouble);
  if (const auto trouble = asker.enable_users()) return unreachable(*trouble);
  return exit_done;
}

// Enrols a node or a person. First signs the certificate, so that nothing is recorded if that
// fails. Then writes the permissions to the store, and only after that hands out the certificate.
int enrol(const Options& options, Asker& asker) {
  const fleet::Permissions permissions = fleet::permissions_of(options.role, options.node);
  const std::string not_enrolled = permissions.user + " is not enrolled: ";
  if (const std::string why = fleet::why_unread(options.request); !why.empty())
    return refuse(not_enrolled + "--request: " + why);
  if (const std::string why = why_no_signer_files(options); !why.empty())
    return refuse(not_enrolled + why);
  const fleet::Signed made = fleet::sign({.request = fleet::content_of_file(options.request),
                                          .signer = signer_of(options),
                                          .name = permissions.user,
                                          .days = options.days});
  if (!made.error.empty()) return refuse(not_enrolled + made.error);
  const int status = let_in(options, asker, {options.role, options.node}, made.issued);
  if (status != exit_done) return status;
  if (const auto why = fleet::replace_file(options.output, made.certificate); !why.empty()) {
    complain(why);
    return exit_failed;
  }
  say(permissions.user + " is enrolled for " + std::to_string(options.days) +
      " days: " + options.output);
  return exit_done;
}

// Renews the certificates of nodes, in a cell that has no fleet-signer to do so.
int renew(const Options& options, Asker& asker) {
  const auto reply = asker.read({std::string(fleet::key_root), true});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  fleet::RecordsByKey records;
  for (const fleet::KeyValue& found : std::get<fleet::Reading>(reply).found) {
    records[found.key] = found;
  }
  if (const std::string why = why_no_signer_files(options); !why.empty())
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

}  // namespace fleetctl
