// The watchdog device, which resets the machine if nothing feeds (writes to) it for its timeout.
// The class Device opens the device, sets its timeout, feeds it and stops it. A FIFO can take the
// place of the device.
#pragma once

#include <string>

#include "base/owned_fd.h"
#include "base/time.h"

namespace notify_watchdog {

class Device {
 public:
  // Opens the device, and so arms it. If the device cannot be opened, logs the reason and
  // continues, because a machine without a watchdog is better than a machine without its agent.
  // Each feed() then tries again to open the device. A device that is opened later is stopped if
  // its timeout is shorter than the timeout that the watched program was given at its start.
  Device(std::string path, upgrader::Duration timeout);

  // Returns the device's actual timeout, which may differ from the requested timeout: most devices
  // accept only whole seconds up to a maximum.
  [[nodiscard]] upgrader::Duration timeout() const { return timeout_; }
  // Returns true if the device is open. An open device resets the machine unless it is fed in time.
  [[nodiscard]] bool is_armed() const { return static_cast<bool>(descriptor_); }
  void feed();
  // Stops and closes the device. If the device cannot be stopped, logs the reason.
  void stop();

 private:
  [[nodiscard]] bool open();
  void set_timeout();
  void look_at_abilities() const;
  [[nodiscard]] bool keeps_promise(upgrader::Duration promised);
  void complain(const std::string& text);

  std::string path_;
  upgrader::Duration timeout_;
  upgrader::OwnedFd descriptor_;
  bool is_real_ = false;   // the path leads to a device, not to a FIFO
  bool given_up_ = false;  // the device was stopped for good because its timeout is too short
  std::string complaint_;  // the last error in the log, which is not logged twice in a row
};

}  // namespace notify_watchdog
