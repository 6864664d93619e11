// Makes the reports on the checks: in plain text, as TAP, as JUnit's XML, as JSON. All functions
// return texts; the caller prints them.
#pragma once

#include <string>
#include <vector>

#include "tools/agent-conformance/result.h"

namespace conformance {

struct Subject {
  std::vector<std::string> command;  // the command line of the agent: AGENT and its arguments
  std::string kit_version;
};

// ---- reports for people

[[nodiscard]] std::string in_words(const Result& result);
[[nodiscard]] std::string sum_in_words(const Subject& subject, const Results& results);
// The next two functions return the list of `checks` that --describe prints, as text and as JSON.
[[nodiscard]] std::string described(const std::vector<const Check*>& checks);
[[nodiscard]] std::string described_as_json(const std::vector<const Check*>& checks);

// ---- reports for programs

[[nodiscard]] std::string tap_head(std::size_t checks);
[[nodiscard]] std::string as_tap(std::size_t number, const Result& result);
[[nodiscard]] std::string as_junit(const Subject& subject, const Results& results);
[[nodiscard]] std::string as_json(const Subject& subject, const Results& results);

// Returns true if every check was judged, and none found a fault. Advice does not count as a fault.
[[nodiscard]] bool conforms(const Results& results);

}  // namespace conformance
