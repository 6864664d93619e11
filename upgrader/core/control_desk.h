// What comes of a line of the control directory's FIFO before the supervisor sees it: a request
// whose name has been answered is not obeyed again, and neither is an upgrade that is known.
#pragma once

#include <cstdint>
#include <optional>

#include "upgrader/core/chronicle.h"
#include "upgrader/core/event.h"
#include "upgrader/wire/control_request.h"

namespace upgrader {

class ControlDesk {
 public:
  // The event for the supervisor. Nothing: it need not see the request, whose answer has just been
  // put into the chronicle, or stood there already.
  [[nodiscard]] std::optional<ControlRequested> take(ControlRequest request, Chronicle& chronicle);

 private:
  std::int64_t upgrades_ = 0;  // requests for one without an id
};

}  // namespace upgrader
