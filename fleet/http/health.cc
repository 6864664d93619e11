#include "fleet/http/health.h"

#include <algorithm>

namespace fleet {

bool Health::has_quorum() const {
  const auto good = std::count_if(members.begin(), members.end(), [](const auto& one) {
    return one.second.answers && one.second.status.has_leader;
  });
  return 2 * good > static_cast<std::ptrdiff_t>(members.size());
}

bool Health::has_no_space() const {
  return std::any_of(members.begin(), members.end(), [](const auto& one) {
    const auto& errors = one.second.status.errors;
    return std::any_of(errors.begin(), errors.end(), [](const std::string& error) {
      return error.find("NOSPACE") != std::string::npos;
    });
  });
}

}  // namespace fleet
