#include "tools/upgraderctl/shell/process_age.h"

#include <time.h>  // for CLOCK_BOOTTIME
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "tools/upgraderctl/core/todays_clock.h"

namespace upgraderctl {

std::optional<Duration> age_of_upgrader(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name_ends = text.rfind(')');
  if (name_ends == std::string::npos || text.find("(upgrader)") == std::string::npos) {
    return std::nullopt;
  }
  // The fields of /proc/PID/stat after the process's name begin with field 3. Field 22 is the time
  // of the process's start, in ticks since the boot.
  std::istringstream fields(text.substr(name_ends + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field)
    fields >> skipped;
  std::int64_t ticks = 0;
  const std::int64_t ticks_a_second = ::sysconf(_SC_CLK_TCK);
  timespec since_boot{};
  if (!(fields >> ticks) || ticks_a_second <= 0 ||
      ::clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0) {
    return std::nullopt;
  }
  const auto now =
      std::chrono::seconds(since_boot.tv_sec) + std::chrono::nanoseconds(since_boot.tv_nsec);
  const Duration started{ticks * 1'000 / ticks_a_second};
  return std::chrono::floor<Duration>(now) - started;
}

Status for_people(const Status& status, Hearing hearing, Moment now) {
  if (status.ended || has_gone(hearing) || !status.upgrader.pid) return status;
  const auto age = age_of_upgrader(*status.upgrader.pid);
  return age ? in_todays_clock(status, now, *age) : status;
}

}  // namespace upgraderctl
