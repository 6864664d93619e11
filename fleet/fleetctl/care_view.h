// What somebody who keeps a cell has to look after, beside what it does: when certificates end, and
// who fills the store. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/model/identities.h"

namespace fleetctl {

// Of whoever asks; none: he has shown none.
struct ShownCertificates {
  std::optional<fleet::Validity> own = {};
  std::optional<fleet::Validity> authority = {};
};

[[nodiscard]] std::vector<std::string> care_lines(const fleet::Reading& reading,
                                                  const ShownCertificates& shown,
                                                  fleet::UnixSeconds now);

}  // namespace fleetctl
