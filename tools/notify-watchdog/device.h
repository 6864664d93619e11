// The watchdog device: opens it, sets its time, feeds it, stops it. A FIFO may stand in for it.
#pragma once

#include <string>

#include "base/owned_fd.h"
#include "base/time.h"

namespace notify_watchdog {

class Device {
 public:
  // Opens the device, which arms it. If it cannot be opened, that is logged, and each feed() tries
  // again: a machine without a watchdog is better than one without its agent. A device that could
  // be opened only later is stopped again if its timeout is shorter than the program was told.
  Device(std::string path, upgrader::Duration timeout);

  // The device's own time: most know whole seconds alone, and not more than some.
  [[nodiscard]] upgrader::Duration timeout() const { return timeout_; }
  // Whether it is open, so that it resets the machine if it is not fed.
  [[nodiscard]] bool is_armed() const { return static_cast<bool>(descriptor_); }
  void feed();
  // Stops the device, and closes it; logs why it cannot be stopped.
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
  bool is_real_ = false;   // not a FIFO
  bool given_up_ = false;  // it is not opened any more
  std::string complaint_;  // the last one, which is not repeated
};

}  // namespace notify_watchdog
