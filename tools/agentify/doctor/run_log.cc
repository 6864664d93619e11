#include "tools/agentify/doctor/run_log.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace agentify {
namespace {

constexpr std::string_view speakers[] = {"agentify: ", "upgrader: "};
// The most bytes that are kept of a line of agentify or the upgrader.
constexpr std::size_t kept_line_bytes = 1'024;

// Returns the lines of agentify and of the upgrader in the text. Searches for their names, and does
// not cut the text into lines: a daemon may write millions of lines.
std::string told_in(std::string_view text) {
  std::string told;
  std::array<std::size_t, std::size(speakers)> next{};
  for (std::size_t end = 0;;) {
    for (std::size_t i = 0; i < next.size(); ++i)
      if (next[i] <= end) next[i] = text.find(speakers[i], end);
    const std::size_t at = *std::min_element(next.begin(), next.end());
    if (at == text.npos) return told;
    end = std::min(text.find('\n', at), text.size());
    told.append(text.substr(at, std::min(end - at, kept_line_bytes))).append("\n");
  }
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
