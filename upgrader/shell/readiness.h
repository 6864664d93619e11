// --notify-fd: tells init by one newline on a descriptor that the first agent is active, as s6,
// dinit and finit want it, and closes it.
#pragma once

#include "base/owned_fd.h"
#include "base/result.h"

namespace upgrader {

class Readiness {
 public:
  // Makes an object that tells nobody.
  Readiness() = default;

  // Takes descriptor `number`, and moves it to `lowest` or above, since lower numbers are needed
  // for descriptors that agents inherit. Otherwise returns why it cannot be written to, as a
  // sentence without a full stop.
  [[nodiscard]] static Result<Readiness> seize(int number, int lowest);

  // Writes the newline; after that, does nothing. Never waits. Returns false if the pipe is full:
  // the caller must try again later. If nobody reads the pipe, the newline is lost, and true is
  // returned.
  [[nodiscard]] bool tell();

 private:
  explicit Readiness(OwnedFd descriptor) : descriptor_(std::move(descriptor)) {}

  OwnedFd descriptor_;
};

}  // namespace upgrader
