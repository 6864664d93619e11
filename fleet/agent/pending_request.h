// Decides when a request to upgrade is sent to a component's upgrader. The upgrader may exit before
// it reads the request, or may refuse it as busy, for example during another upgrade. The request
// is then sent again as soon as this upgrader, or the next one, can accept it.
#pragma once

#include <string>
#include <utility>

#include "agent-protocol/cpp/control/request.h"
#include "agent-protocol/cpp/control/status.h"

namespace fleet {

class PendingRequest {
 public:
  explicit PendingRequest(upgraderctl::UpgradeRequest request) : request_(std::move(request)) {}

  // Returns the request, with the name under which it was most recently sent.
  [[nodiscard]] const upgraderctl::UpgradeRequest& request() const { return request_; }
  // Gives the request a new name, since an upgrader ignores a request whose name it has answered
  // before. The id of the upgrade stays the same, so no second upgrade begins.
  void rename(std::string name) { request_.request = std::move(name); }

  // Returns whether to send the request now to the upgrader that has written this status: it has
  // not got the request yet, and would accept it.
  [[nodiscard]] bool is_due(const upgraderctl::Status& status) const {
    return !has(status) && status.phase == "running";
  }
  // Records that the request was sent to the upgrader that has written this status.
  void written(const upgraderctl::Status& status) { life_ = status.upgrader.started; }
  // Records that the upgrader did not accept the request, so that it can be sent again.
  void take_back() { life_.clear(); }

  // Returns true if the request was sent to the upgrader process that has written this status.
  [[nodiscard]] bool has(const upgraderctl::Status& status) const {
    return is_written() && life_ == status.upgrader.started;
  }
  // Returns whether an upgrader has got the request and may still accept it.
  [[nodiscard]] bool is_written() const { return !life_.empty(); }

  // Returns whether this status shows that the upgrader has accepted the request.
  [[nodiscard]] bool was_taken(const upgraderctl::Status& status) const {
    const upgraderctl::Answer* answer = find_answer(status, request_.request);
    return is_under_way(status, request_.id) || find_ending(status, request_.id) != nullptr ||
           (answer != nullptr && answer->ok != false);
  }
  // Returns true if an upgrader that refuses a request for this reason may accept it later.
  [[nodiscard]] static bool is_busy(const std::string& reason) {
    return reason.starts_with("busy");
  }

 private:
  upgraderctl::UpgradeRequest request_;
  std::string life_;  // start time of the upgrader that was sent the request; or empty
};

}  // namespace fleet
