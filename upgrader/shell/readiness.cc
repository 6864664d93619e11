#include "upgrader/shell/readiness.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "upgrader/core/words.h"

namespace upgrader {

Result<Readiness> Readiness::seize(int number, int lowest) {
  const int flags = ::fcntl(number, F_GETFL);
  if (flags < 0) return Refusal{in_words(SystemError{errno})};
  const int access = flags & O_ACCMODE;
  if (access != O_WRONLY && access != O_RDWR) return Refusal{"it is not open for writing"};
  OwnedFd original(number);
  if (number >= lowest) return Readiness(std::move(original));
  OwnedFd moved(::fcntl(number, F_DUPFD_CLOEXEC, lowest));
  if (!moved) return Refusal{in_words(SystemError{errno})};
  return Readiness(std::move(moved));
}

bool Readiness::tell() {
  OwnedFd descriptor = std::move(descriptor_);
  if (!descriptor) return true;
  // Other processes may share the descriptor, so its flags are restored afterwards.
  const int flags = ::fcntl(descriptor.get(), F_GETFL);
  if (flags < 0 || ::fcntl(descriptor.get(), F_SETFL, flags | O_NONBLOCK) != 0) return true;
  const bool full = ::write(descriptor.get(), "\n", 1) < 0 && errno == EAGAIN;
  ::fcntl(descriptor.get(), F_SETFL, flags);
  if (full) descriptor_ = std::move(descriptor);
  return !full;
}

}  // namespace upgrader
