#include "tools/agentify/doctor/run_log.h"

#include <algorithm>

namespace agentify {
namespace {

constexpr std::string_view speakers[] = {"agentify: ", "upgrader: "};
// Of a longer line, so many bytes from the speaker's name on are kept.
constexpr std::size_t kept_line_bytes = 1'024;

// Returns the lines of agentify and of the upgrader in the text.
std::string told_in(std::string_view text) {
  std::string told;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    std::size_t at = line.npos;
    for (const std::string_view speaker : speakers)
      at = std::min(at, line.find(speaker));
    if (at != line.npos) told.append(line.substr(at, kept_line_bytes)).append("\n");
  }
  return told;
}

}  // namespace

void RunLog::add(std::string_view bytes) {
  end_ += bytes;
  if (end_.size() <= 2 * run_log_bytes_max) return;
  std::size_t cut = end_.size() - run_log_bytes_max;
  // A line is not cut in two, unless it is longer than all that is kept.
  if (const std::size_t line = end_.find('\n', cut); line != end_.npos) cut = line + 1;
  told_ += told_in(std::string_view(end_).substr(0, cut));
  end_.erase(0, cut);
  if (told_.size() > run_log_bytes_max) told_.erase(0, told_.size() - run_log_bytes_max);
}

}  // namespace agentify
