#include "fleet/common/renewal_answer.h"

namespace fleet {

RenewalAnswer answer_of(const PendingRenewal& pending, const Signer& signer, int days,
                        UnixSeconds now) {
  if (const std::string why = why_not_renewed(pending, now); !why.empty()) return {.error = why};
  const std::string name = certificate_name(node_kind, pending.node);
  const KeyProof proof = proof_of_key(pending.pem, pending.certificate, signer.certificate, name);
  if (!proof.error.empty()) return {.error = proof.error};
  if (const std::string why = why_not_held(pending, proof.serial); !why.empty())
    return {.error = why};
  const Signed made = sign(
      {.request = pending.pem, .signer = signer, .name = name, .only_renews = true, .days = days});
  return {.pem = made.certificate, .issued = made.issued, .error = made.error};
}

}  // namespace fleet
