// Shows what a person has to take care of in a cell: certificates that end soon, and nodes that
// fill the store. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/model/identities.h"

namespace fleetctl {

// When the certificates of the person who runs fleetctl are valid; no value if none is used.
struct ShownCertificates {
  std::optional<fleet::Validity> own = {};
  std::optional<fleet::Validity> authority = {};
};

// How many people and nodes are enrolled. `ending` counts those whose certificate ends within 30
// days.
struct CertificateCount {
  std::size_t enrolled = 0;
  std::size_t ending = 0;
  std::size_t revoked = 0;
  std::size_t waiting = 0;  // how many nodes wait for a new certificate
};
[[nodiscard]] CertificateCount certificates_in(const fleet::Reading& reading,
                                               fleet::UnixSeconds now);

[[nodiscard]] std::vector<std::string> care_lines(const fleet::Reading& reading,
                                                  const ShownCertificates& shown,
                                                  fleet::UnixSeconds now);

}  // namespace fleetctl
