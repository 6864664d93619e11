#include "tools/upgraderctl/core/missing_rights.h"

#include "tools/upgraderctl/core/options.h"

namespace upgraderctl {

bool MissingRights::looked(const Look& look, Duration now) {
  if (look.status || !is_forbidden(look.error_number)) {
    since_.reset();
    return false;
  }
  if (!since_) since_ = now;
  return now >= *since_ + missing_rights_longest;
}

std::optional<Duration> MissingRights::next_deadline() const {
  return since_ ? std::optional(*since_ + missing_rights_longest) : std::nullopt;
}

}  // namespace upgraderctl
