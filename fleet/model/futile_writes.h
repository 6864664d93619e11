// Counts how many writes of a driver have failed in a row, although the driver got news or read
// everything again in between. Decides whether the driver pauses before the next try, and when it
// gives up.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fleet/model/transaction.h"

namespace fleet {

// The driver gives up after the same write was refused this many times in a row.
inline constexpr int refusals_max = 20;

class FutileWrites {
 public:
  // Counts a write that was refused or got no answer. Returns true if the write before this one had
  // the same compares and failed, too. The driver must then pause before the next try.
  [[nodiscard]] bool again(const Transaction& write, const Outcome& outcome) {
    const bool same = compares_ == write.compares;
    if (!same) *this = {};
    compares_ = write.compares;
    if (std::holds_alternative<Refused>(outcome)) ++refusals_;
    return same;
  }
  void end() { *this = {}; }

  [[nodiscard]] bool is_for_good() const { return refusals_ >= refusals_max; }

  // Returns the counts as a text. Tests compare these texts to find out whether two states are
  // equal.
  [[nodiscard]] std::string words() const {
    if (!compares_) return "";
    std::string text = " refused " + std::to_string(refusals_);
    for (const Compare& one : *compares_)
      text += " " + one.key + "@" + std::to_string(one.revision);
    return text;
  }

 private:
  std::optional<std::vector<Compare>> compares_ = {};
  int refusals_ = 0;
};

}  // namespace fleet
