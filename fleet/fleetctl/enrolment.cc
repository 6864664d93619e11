// fleetctl enrol lets a node or a person in, with a certificate for the name. fleetctl renew
// answers the requests of nodes for new certificates.
#include <ctime>

#include "fleet/common/identity.h"
#include "fleet/common/renewal_answer.h"
#include "fleet/common/roles.h"
#include "fleet/common/text_file.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/exit_status.h"
#include "fleet/fleetctl/letting_in.h"
#include "fleet/model/identities.h"
#include "fleet/model/keys.h"

namespace fleetctl {
namespace {

fleet::Signer signer_of(const Options& options) {
  return {fleet::content_of_file(options.signer), fleet::content_of_file(options.signer_key)};
}

}  // namespace

// Enrols a node or a person. Signs the certificate first, since a failure to sign then leaves no
// record behind. Writes the rights before it hands out the certificate.
int enrol(const Options& options, Asker& asker) {
  const fleet::Permissions permissions = fleet::permissions_of(options.role, options.node);
  const fleet::Signed made = fleet::sign({.request = fleet::content_of_file(options.request),
                                          .signer = signer_of(options),
                                          .name = permissions.user,
                                          .days = options.days});
  if (!made.error.empty()) {
    complain(made.error);
    return exit_refused;
  }
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

// Renews the certificates of nodes, for a cell without a fleet-signer.
int renew(const Options& options, Asker& asker) {
  const auto reply = asker.read({std::string(fleet::key_root), true});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  fleet::RecordsByKey records;
  for (const fleet::KeyValue& found : std::get<fleet::Reading>(reply).found) {
    records[found.key] = found;
  }
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
