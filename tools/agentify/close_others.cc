#include "tools/agentify/close_others.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "base/descriptors.h"

namespace agentify {

void close_others(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned first = upgrader::first_passed_descriptor;
  const auto close_from_to = [](unsigned from, unsigned to) {
    if (from > to) return;
#ifdef SYS_close_range
    if (::syscall(SYS_close_range, from, to, 0) == 0) return;
#endif
    const long limit = ::sysconf(_SC_OPEN_MAX);
    const unsigned end = limit > 0 ? static_cast<unsigned>(limit) : 1U << 16;
    for (unsigned fd = from; fd <= to && fd < end; ++fd)
      ::close(static_cast<int>(fd));
  };
  for (const int fd : kept) {
    if (fd < upgrader::first_passed_descriptor) continue;
    close_from_to(first, static_cast<unsigned>(fd) - 1);
    first = static_cast<unsigned>(fd) + 1;
  }
  close_from_to(first, ~0U);
}

}  // namespace agentify
