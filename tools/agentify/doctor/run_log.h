// Keeps what the doctor needs of the output of a run, however much a daemon writes. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace agentify {

// The most bytes that are kept of the lines of agentify and the upgrader. Of the end of the output,
// up to twice as many bytes are kept.
inline constexpr std::size_t run_log_bytes_max = 65'536;

class RunLog {
 public:
  // Adds the next bytes of the output.
  void add(std::string_view bytes);
  // Returns the lines of agentify and the upgrader and, behind them, the end of the output. A small
  // output is returned as it is.
  [[nodiscard]] std::string text() const { return told_ + end_; }

 private:
  std::string told_;  // lines of agentify and the upgrader that are older than `end_`
  std::string end_;
};

}  // namespace agentify
