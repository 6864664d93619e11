#include "tools/agent-conformance/drain.h"

#include <unistd.h>

#include <array>
#include <cerrno>

namespace conformance {

bool drain(int fd, const std::function<void(std::string_view)>& take) {
  std::array<char, 65'536> bytes{};
  for (int reads = 0; reads < reads_a_turn_max; ++reads) {
    const ssize_t count = ::read(fd, bytes.data(), bytes.size());
    if (count == 0) return true;
    if (count > 0) {
      take({bytes.data(), static_cast<std::size_t>(count)});
    } else if (errno != EINTR) {
      return errno != EAGAIN;
    }
  }
  return false;
}

}  // namespace conformance
