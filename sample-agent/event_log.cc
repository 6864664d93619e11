#include "sample-agent/event_log.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "sample-agent/clock.h"

namespace sample_agent {

EventLog::EventLog(const std::string& path, std::string version) : version_(std::move(version)) {
  if (path.empty()) return;
  Result<File> file = File::open(path, O_WRONLY | O_APPEND | O_CREAT);
  if (file) file_ = std::move(file.value());
}

void EventLog::note(std::string_view event) {
  if (!file_) return;
  std::string line = std::to_string(now_us()) + " " + std::to_string(getpid()) + " " + version_ +
                     " " + std::string(event);
  std::ranges::replace(line, '\n', ' ');
  static_cast<void>(file_->write(line + "\n"));
}

}  // namespace sample_agent
