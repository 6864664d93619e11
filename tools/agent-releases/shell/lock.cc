#include "tools/agent-releases/shell/lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// The pauses between two tries to lock a file. The first pauses are short, since most locks are
// held only for moments. Later pauses are longer, since some locks are held while a release is
// fetched or unpacked.
constexpr auto shortest_pause = 2ms;
constexpr auto longest_pause = 100ms;

}  // namespace

bool is_cancelled(const Patience& patience) {
  return patience.cancelled && patience.cancelled();
}

Refusal cancelled_refusal() {
  return Refusal{"it was cancelled", Trouble::cut_off};
}

Result<std::optional<upgrader::OwnedFd>> try_lock(const Directory& directory,
                                                  const std::string& name, int flags) {
  const std::string path = directory.path_of(name);
  while (true) {
    Result<upgrader::OwnedFd> file = directory.open_file(name, O_RDWR | O_CREAT | flags, lock_mode);
    if (!file) return file.refusal();
    const int descriptor = file.value().get();
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) return refusal_from_errno("read", path);
    if (!S_ISREG(status.st_mode)) return Refusal{path + " is not a regular file"};
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) return std::optional<upgrader::OwnedFd>{};
      return refusal_from_errno("lock", path);
    }
    const auto named = directory.status(name);
    if (!named) return named.refusal();
    const auto& there = named.value();
    if (!there || there->st_ino != status.st_ino || there->st_dev != status.st_dev) continue;
    // Change the mode only now that this process holds the lock. While another process holds it,
    // that process may have set the file's final mode, which must stay.
    if ((status.st_mode & permission_bits) != lock_mode && ::fchmod(descriptor, lock_mode) != 0) {
      return refusal_from_errno("change the mode of", path);
    }
    return std::optional(std::move(file.value()));
  }
}

bool is_locked(const Directory& directory, const std::string& name) {
  const Result<upgrader::OwnedFd> file = directory.open_file(name, O_RDONLY);
  if (!file) {
    const int error = file.refusal().error_number;
    return error != ENOENT && error != ELOOP;
  }
  return ::flock(file.value().get(), LOCK_EX | LOCK_NB) != 0;
}

Result<upgrader::OwnedFd> wait_for_lock(const Directory& directory, const std::string& name,
                                        const Patience& patience, int flags) {
  const auto deadline = Clock::now() + patience.limit;
  for (Clock::duration pause = shortest_pause;;
       pause = std::min<Clock::duration>(2 * pause, longest_pause)) {
    Result<std::optional<upgrader::OwnedFd>> lock = try_lock(directory, name, flags);
    if (!lock) return lock.refusal();
    if (lock.value()) return std::move(*lock.value());
    if (is_cancelled(patience)) return cancelled_refusal();
    if (Clock::now() >= deadline) {
      return Refusal{"cannot lock " + directory.path_of(name) + ": another process holds it",
                     Trouble::system};
    }
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace agent_releases
