// Shows the things of a cell that a person has to look after: certificates that end soon, and nodes
// that fill the store. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/model/identities.h"

namespace fleetctl {

// The validity of the asker's certificates; no value if the asker uses none.
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
  std::size_t waiting = 0;  // nodes that wait for a new certificate
};
[[nodiscard]] CertificateCount certificates_in(const fleet::Reading& reading,
                                               fleet::UnixSeconds now);

[[nodiscard]] std::vector<std::string> care_lines(const fleet::Reading& reading,
                                                  const ShownCertificates& shown,
                                                  fleet::UnixSeconds now);

}  // namespace fleetctl
