#include "fleet/agent/renewal_answer.h"

namespace fleet {

RenewalAnswer answer_of(const PendingRenewal& pending, const Signer& signer, int days,
                        UnixSeconds now) {
  if (const std::string why = why_not_renewed(pending, now); !why.empty()) return {.error = why};
  const Signed made = sign({.request = pending.pem,
                            .signer = signer,
                            .name = certificate_name(node_kind, pending.node),
                            .only_renews = true,
                            .days = days});
  return {.pem = made.certificate, .issued = made.issued, .error = made.error};
}

}  // namespace fleet
