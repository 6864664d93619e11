// The releases that have failed, kept in the state directory so that the agent after the failure
// does not try them again. A release is forgiven when its file changes.
#pragma once

#include <string>
#include <vector>

#include "sample-agent/durable_file.h"
#include "sample-agent/releases.h"

namespace sample_agent {

inline constexpr std::string_view failures_file_name = "failures";

// More are forgotten, the oldest first.
inline constexpr std::size_t failures_max = 1'000;

class Failures {
 public:
  explicit Failures(const std::string& state_directory);

  // What cannot be read counts as no failure: a release is then tried once more.
  void load();
  [[nodiscard]] bool contains(const Release& release) const;
  [[nodiscard]] Outcome remember(const Release& release);

 private:
  DurableFile file_;
  std::vector<Release> failed_;
};

}  // namespace sample_agent
