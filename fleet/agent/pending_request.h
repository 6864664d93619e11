// Decides when a request to upgrade is written to an upgrader. The upgrader may end before it has
// read the request. It may also refuse the request as busy: it has only just begun, is about to
// end, or carries out another upgrade. In these cases, the request is written again as soon as an
// upgrader can accept it.
#pragma once

#include <string>
#include <utility>

#include "agent-protocol/cpp/control/request.h"
#include "agent-protocol/cpp/control/status.h"

namespace fleet {

class PendingRequest {
 public:
  explicit PendingRequest(upgraderctl::UpgradeRequest request) : request_(std::move(request)) {}

  // Returns the request, with the name under which it was written last.
  [[nodiscard]] const upgraderctl::UpgradeRequest& request() const { return request_; }
  // Gives the request a new name. This is needed before the request is repeated: an upgrader
  // ignores a request under a name that it has already answered. Since the id of the upgrade stays
  // the same, the upgrader begins no second upgrade.
  void rename(std::string name) { request_.request = std::move(name); }

  // Returns true if the upgrader with this status does not have the request, and would accept it.
  [[nodiscard]] bool is_due(const upgraderctl::Status& status) const {
    return !has(status) && status.phase == "running";
  }
  // Notes that the request was written to the upgrader with this status.
  void written(const upgraderctl::Status& status) { life_ = status.upgrader.started; }
  // Notes that the upgrader did not accept the request that was written to it.
  void take_back() { life_.clear(); }

  // Returns true if the request was written to this upgrader.
  [[nodiscard]] bool has(const upgraderctl::Status& status) const {
    return is_written() && life_ == status.upgrader.started;
  }
  // Returns true if the request was written to an upgrader that may still accept it.
  [[nodiscard]] bool is_written() const { return !life_.empty(); }

  // Returns true if the status shows that its upgrader has accepted the request.
  [[nodiscard]] bool was_taken(const upgraderctl::Status& status) const {
    const upgraderctl::Answer* answer = find_answer(status, request_.request);
    return is_under_way(status, request_.id) || find_ending(status, request_.id) != nullptr ||
           (answer != nullptr && answer->ok != false);
  }
  // Returns true if an upgrader that refuses a request for this reason may take it later.
  [[nodiscard]] static bool is_busy(const std::string& reason) {
    return reason.starts_with("busy");
  }

 private:
  upgraderctl::UpgradeRequest request_;
  std::string life_;  // the start time of the upgrader that got the request; empty: none got it
};

}  // namespace fleet
