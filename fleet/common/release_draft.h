// A release that is put together of its manifests, one for each architecture: the same checks for
// whoever publishes, by fleetctl, by HTTP or from a source. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/model/cell_records.h"

namespace fleet {

class ReleaseDraft {
 public:
  // One more manifest, which is found at `url`. Returns an empty text if it is taken, otherwise the
  // reason why not.
  [[nodiscard]] std::string add(const std::string& manifest, const std::string& signature,
                                const std::string& url);

  [[nodiscard]] const std::string& version() const { return version_; }
  // With the digest that covers all of it. Refused where there is no manifest, where two are for
  // the same machines, or where they are not those of the component.
  [[nodiscard]] agent_protocol::Result<Release> release(std::string_view component) const;

 private:
  Release release_ = {};
  std::string version_ = {};
  std::string name_ = {};
};

}  // namespace fleet
