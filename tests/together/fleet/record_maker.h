// Makes records and keys that no program of the fleet would write: RecordMaker takes a well-formed
// record, and changes names, numbers, strings, lists, the structure or single bytes at random. The
// same seed makes the same records.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/records/record_tree.h"
#include "tests/together/fleet/long_run.h"

namespace fleet_test {

struct Written {
  std::string key = {};
  std::string value = {};
};

class RecordMaker {
 public:
  explicit RecordMaker(std::uint64_t seed) : random_(seed) {}

  // The hash of the secret of a token, which lets a new machine join the cell. The records have
  // only this one token.
  static constexpr std::string_view hash_of_token =
      "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

  // Returns one well-formed record of every kind, for the nodes e1 and e2, the rollout `evil` and
  // the plan `evil-plan`.
  [[nodiscard]] static std::vector<Written> good();
  // Returns a randomly chosen one of the records that good() returns, often with random changes.
  [[nodiscard]] Written next();

  // Returns a random string of up to 70,000 bytes, which a reader must not trust. The string may
  // begin with a word that occurs in real records. Terminal escapes, control characters and invalid
  // UTF-8 may follow.
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
