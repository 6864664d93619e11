// Handles a request of the control directory's FIFO before the supervisor sees it: a request whose
// name has been answered is not obeyed again, and neither is an upgrade whose id is known.
#pragma once

#include <cstdint>
#include <optional>

#include "upgrader/core/chronicle.h"
#include "upgrader/core/event.h"
#include "upgrader/wire/control_request.h"

namespace upgrader {

class ControlDesk {
 public:
  // Returns the event for the supervisor; or nothing if the request has been answered here, because
  // its name or its upgrade is known.
  [[nodiscard]] std::optional<ControlRequested> judge(ControlRequest request, Chronicle& chronicle);

 private:
  std::int64_t upgrades_ = 0;  // the number of requested upgrades that had no id
};

}  // namespace upgrader
