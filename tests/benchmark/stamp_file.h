// The file, mapped into memory, in which agents note their times, and the figures that can be
// computed from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/benchmark/stamps.h"

namespace benchmark {

using Milliseconds = double;

// Returns the time of CLOCK_MONOTONIC, which is the agents' clock.
[[nodiscard]] std::int64_t now_ns();

class StampFile {
 public:
  // Makes a new file for stamps at `path`. Ends the program if it cannot.
  explicit StampFile(std::string path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::size_t count(stamp_kind kind) const;
  [[nodiscard]] std::optional<std::int64_t> time_of(stamp_kind kind,
                                                    std::uint32_t generation) const;

  // Returns the times from the end of each agent until the next one begins to work.
  [[nodiscard]] std::vector<Milliseconds> gaps() const { return from(stamp_exiting); }
  // Returns the times from each agent's last work to the next agent's first work.
  [[nodiscard]] std::vector<Milliseconds> gaps_in_work() const { return from(stamp_last_tick); }

 private:
  struct Unmap {
    void operator()(stamp_page* page) const;
  };

  [[nodiscard]] std::vector<Milliseconds> from(stamp_kind last) const;

  std::string path_;
  std::unique_ptr<stamp_page, Unmap> page_;
};

}  // namespace benchmark
