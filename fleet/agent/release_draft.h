// A release that is put together of its manifests, one for each architecture.
#pragma once

#include <string>

#include "agent-protocol/wire/result.h"
#include "fleet/model/cell_records.h"

namespace fleet {

class ReleaseDraft {
 public:
  // One more manifest, which is found at `url`. Empty: it is taken; otherwise why not.
  [[nodiscard]] std::string add(const std::string& manifest, const std::string& signature,
                                const std::string& url);

  [[nodiscard]] const std::string& version() const { return version_; }
  // With the digest that covers all of it. Refused where two manifests are for the same machines.
  [[nodiscard]] agent_protocol::Result<Release> release() const;

 private:
  Release release_ = {};
  std::string version_ = {};
};

}  // namespace fleet
