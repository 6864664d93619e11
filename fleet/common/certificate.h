// Certificates and requests, as texts in PEM: who signs gives the name, since that is what the
// store knows somebody by, and takes nothing but the key from a request. Keys stay where they were
// made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fleet/model/cell_records.h"
#include "fleet/model/identities.h"

namespace fleet {

// An authority, by its certificate and its key.
struct Signer {
  std::string certificate = {};
  std::string key = {};
};

struct Signing {
  std::string request = {};
  Signer signer = {};
  std::string name = {};     // KIND:WHO
  bool only_renews = false;  // refuse a request that is for another name
  int days = 0;
};

struct Signed {
  std::string certificate = {};  // empty: there is none
  IssuedCertificate issued = {};
  std::string error = {};
};

// Dated back a day, for machines whose clocks are behind.
[[nodiscard]] Signed sign(const Signing& signing);

// That a request was made with the key of a certificate which the authority has given to the name.
struct KeyProof {
  std::string serial = {};  // of that certificate
  std::string error = {};   // why it is no proof; empty: it is one
};
[[nodiscard]] KeyProof proof_of_key(const std::string& request, const std::string& certificate,
                                    const std::string& authority, const std::string& name);

// A request for the name, signed with that key; empty: the key is none.
[[nodiscard]] std::string request_for(const std::string& name, const std::string& key);

// KIND:WHO, whom a certificate names. No value if it is no certificate.
[[nodiscard]] std::optional<std::string> name_in(const std::string& certificate);

// No value if it is no certificate.
[[nodiscard]] std::optional<Validity> validity_of(const std::string& certificate);

// Whether the first of these authorities has signed the certificate, whatever the time.
[[nodiscard]] bool is_signed_by(const std::string& certificate, const std::string& authority);

// Why somebody with this key cannot use the certificate under that name; empty: he can.
[[nodiscard]] std::string why_not_usable(const std::string& certificate, const std::string& name,
                                         const std::string& key);

// The list of what is revoked, with these serial numbers more, good for so many days. `before` may
// be empty: then it is a new one.
struct RevocationList {
  std::string list = {};  // empty: there is none
  std::string error = {};
};
[[nodiscard]] RevocationList with_revoked(const std::string& before,
                                          const std::vector<std::string>& serials,
                                          const Signer& signer, int days);

}  // namespace fleet
