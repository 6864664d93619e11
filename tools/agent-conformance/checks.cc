#include "tools/agent-conformance/checks.h"

#include <algorithm>
#include <iterator>

namespace conformance {

const std::vector<Check>& all_checks() {
  static const std::vector<Check> all = [] {
    std::vector<Check> checks;
    for (const auto& part :
         {checks_of_start(), checks_of_work(), checks_of_stop(), checks_of_words(),
          checks_of_reading(), checks_of_surroundings(), checks_of_hand_overs()}) {
      std::copy(part.begin(), part.end(), std::back_inserter(checks));
    }
    return checks;
  }();
  return all;
}

const Check* find_check(std::string_view name) {
  const auto& all = all_checks();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Check& check) { return check.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace conformance
