// Makes the reports on the checks: in plain text, as TAP, as JUnit's XML and as JSON. All functions
// return strings, which the caller prints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/agent-conformance/script.h"
#include "tools/agent-conformance/transcript.h"

namespace conformance {

// The result of one check.
struct Result {
  enum class Verdict : std::uint8_t { passed, failed, advised, not_judged };
  const Check* check = nullptr;
  Verdict verdict = Verdict::passed;
  Fault fault;  // what is wrong, if the verdict is `failed` or `advised`
  // for the verdict `not_judged`: the name of a check that must pass before this one, and did not
  std::string_view missing;
  std::vector<std::string> notes;
  Transcript transcript;
  Time took{0};
};

using Results = std::vector<Result>;

// Returns the name of a check in `check.needs` that has not passed, or nothing if all have passed.
[[nodiscard]] inline std::optional<std::string_view> missing_need(const Check& check,
                                                                  const Results& results) {
  for (const std::string_view need : check.needs) {
    for (const Result& result : results) {
      if (result.check->name == need && result.verdict != Result::Verdict::passed) return need;
    }
  }
  return std::nullopt;
}

[[nodiscard]] inline std::size_t count(const Results& results, Result::Verdict verdict) {
  std::size_t found = 0;
  for (const Result& result : results)
    found += result.verdict == verdict ? 1 : 0;
  return found;
}

// Returns the sentence of agent-protocol(7) that a result is about: the sentence in the result's
// fault, or else the first sentence that the check quotes.
[[nodiscard]] inline Quote quote_of(const Result& result) {
  return result.fault.quote.value_or(result.check->quotes.front());
}

struct Subject {
  std::vector<std::string> command;  // the command line of the agent: AGENT and its arguments
  std::string kit_version;
};

// ---- reports for people

[[nodiscard]] std::string in_words(const Result& result);
[[nodiscard]] std::string sum_in_words(const Subject& subject, const Results& results);
// These functions return the descriptions of `checks` for --describe: described() as text, and
// described_as_json() as JSON.
[[nodiscard]] std::string described(const std::vector<const Check*>& checks);
[[nodiscard]] std::string described_as_json(const std::vector<const Check*>& checks);

// ---- reports for programs

[[nodiscard]] std::string tap_head(std::size_t checks);
[[nodiscard]] std::string as_tap(std::size_t number, const Result& result);
[[nodiscard]] std::string as_junit(const Subject& subject, const Results& results);
[[nodiscard]] std::string as_json(const Subject& subject, const Results& results);

// Returns true if every check was judged and no check has failed. A fault in a check that only
// gives advice (Check::is_advice) does not count as a failure.
[[nodiscard]] bool conforms(const Results& results);

}  // namespace conformance
