// The watchdog device: opens it, sets its timeout, feeds it, stops it. A FIFO can be used instead
// of a device.
#pragma once

#include <string>

#include "base/owned_fd.h"
#include "base/time.h"

namespace notify_watchdog {

class Device {
 public:
  // Opens the device, which arms it. If it cannot be opened, logs that, and each feed() tries
  // again: a machine without a watchdog is better than one without its agent. The program was
  // started with a certain timeout; if a device that is opened later has a shorter one, it is
  // stopped.
  Device(std::string path, upgrader::Duration timeout);

  // Returns the device's real timeout, which may differ from the requested one: most devices know
  // only whole seconds, and have a maximum.
  [[nodiscard]] upgrader::Duration timeout() const { return timeout_; }
  // Returns true if the device is open, so that it resets the machine if it is not fed.
  [[nodiscard]] bool is_armed() const { return static_cast<bool>(descriptor_); }
  void feed();
  // Stops the device and closes it. If it cannot be stopped, logs why.
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
  bool is_real_ = false;   // the path leads to a device, and not to a FIFO
  bool given_up_ = false;  // the device was stopped for good, because its timeout is too short
  std::string complaint_;  // the last complaint, so that it is not repeated
};

}  // namespace notify_watchdog
