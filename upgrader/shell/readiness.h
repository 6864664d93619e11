// --notify-fd: tells init by one newline on a descriptor that the first agent is active, as s6,
// dinit and finit want it, and closes it.
#pragma once

#include "base/owned_fd.h"
#include "base/result.h"

namespace upgrader {

class Readiness {
 public:
  // Nobody is told.
  Readiness() = default;

  // Takes over descriptor `number`, which it moves to `lowest` or above: below that the numbers are
  // wanted for what agents inherit. Or why it cannot be written to, as a sentence without a full
  // stop.
  [[nodiscard]] static Result<Readiness> seize(int number, int lowest);

  // Writes the newline; after that, does nothing. Never waits. False if the pipe is full: call it
  // again later. If nobody reads the pipe, the news is lost, and true is returned.
  [[nodiscard]] bool tell();

 private:
  explicit Readiness(OwnedFd descriptor) : descriptor_(std::move(descriptor)) {}

  OwnedFd descriptor_;
};

}  // namespace upgrader
