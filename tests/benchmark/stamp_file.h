// The page in which agents note their moments, and what can be read from it.
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

// CLOCK_MONOTONIC, the agents' clock.
[[nodiscard]] std::int64_t now_ns();

class StampFile {
 public:
  // A new page in a file at `path`. Ends the program if that cannot be had.
  explicit StampFile(std::string path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::size_t count(stamp_kind kind) const;
  [[nodiscard]] std::optional<std::int64_t> time_of(stamp_kind kind,
                                                    std::uint32_t generation) const;

  // From the end of each agent to the beginning of the next one's work.
  [[nodiscard]] std::vector<Milliseconds> gaps() const { return from(stamp_exiting); }
  // From the last that each agent did to the first that the next one does.
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
