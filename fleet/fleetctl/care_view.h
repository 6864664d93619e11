// Shows what a person who keeps a cell has to care for: certificates that end, and nodes that fill
// the store. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/model/identities.h"

namespace fleetctl {

// The certificates of the asker; no value if the asker uses none.
struct ShownCertificates {
  std::optional<fleet::Validity> own = {};
  std::optional<fleet::Validity> authority = {};
};

// The numbers of people and nodes that were enrolled. `ending` counts certificates that end within
// 30 days.
struct CertificateCount {
  std::size_t enrolled = 0;
  std::size_t ending = 0;
  std::size_t revoked = 0;
  std::size_t waiting = 0;  // nodes that wait for their next certificate
};
[[nodiscard]] CertificateCount certificates_in(const fleet::Reading& reading,
                                               fleet::UnixSeconds now);

[[nodiscard]] std::vector<std::string> care_lines(const fleet::Reading& reading,
                                                  const ShownCertificates& shown,
                                                  fleet::UnixSeconds now);

}  // namespace fleetctl
