// Records and keys as nobody should write them: each kind of record as it may be, and then changed
// by chance in its names, numbers, texts, lists, shape and bytes. A seed repeats all of it.
#pragma once

#include <string>
#include <vector>

#include "fleet/model/record_tree.h"
#include "tests/together/fleet/by_seed.h"

namespace fleet_test {

struct Written {
  std::string key = {};
  std::string value = {};
};

class RecordMaker {
 public:
  explicit RecordMaker(std::uint64_t seed) : random_(seed) {}

  // Every kind of record once, of the nodes e1 and e2, the rollout `evil` and the plan `evil-plan`.
  [[nodiscard]] static std::vector<Written> good();
  // One of them, changed or not.
  [[nodiscard]] Written next();

  // A text such as nobody expects.
  [[nodiscard]] std::string odd_text();
  [[nodiscard]] std::uint64_t below(std::uint64_t limit) {
    return fleet_test::below(random_, limit);
  }

 private:
  void change(fleet::JsonTree& tree);
  void change_value(fleet::JsonTree& value);
  [[nodiscard]] std::string odd_number();
  [[nodiscard]] std::string changed_key(std::string key);
  [[nodiscard]] std::string changed_bytes(std::string text);

  Random random_;
};

}  // namespace fleet_test
