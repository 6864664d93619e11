// Tests in which order fleet-signer handles the requests for certificates.
#include "fleet/model/signer/signer_queue.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace signer_queue_test {

using namespace fleet;

constexpr UnixSeconds noon = 1'000;
const std::string key_a(32, 'a');
const std::string key_b(32, 'b');

TEST_CASE("a request whose write has failed waits for all others, and is then tried again") {
  std::map<std::string, KeyValue, std::less<>> records;
  SignerQueue queue;
  const auto put = [&](const std::string& key, const std::string& value) {
    records[key] = {.key = key, .value = value, .created = 1, .modified = 1};
    queue.take(key);
  };
  const auto put_join = [&](const std::string& fingerprint, const std::string& node) {
    put(key_of(KeyKind::join, {fingerprint}), write_record(JoinRequest{.node = node, .pem = "R"}));
  };
  const auto next = [&]() -> std::string {
    const auto request = queue.next(records, noon);
    if (const auto* join = std::get_if<JoinCase>(&request)) return join->request.node;
    const auto* renewal = std::get_if<PendingRenewal>(&request);
    return renewal == nullptr ? "" : renewal->node;
  };
  CHECK(next() == "");
  queue.failed();
  put_join(key_a, "a");
  put_join(key_b, "b");
  put(key_of(KeyKind::node_csr, {"r1"}), write_record(CertificateRequest{.pem = "R"}));
  put(key_of(KeyKind::node_csr, {"r2"}), write_record(CertificateRequest{.pem = "R"}));

  const std::string first = next();
  const std::string second = first == "a" ? "b" : "a";
  CHECK(next() == first);
  for (const std::string& one : {first, second, std::string("r1"), std::string("r2")}) {
    CHECK(next() == one);
    queue.failed();
  }
  CHECK(next() == first);

  queue.failed();
  records.erase(key_of(KeyKind::join, {second == "a" ? key_a : key_b}));
  CHECK(next() == "r1");
}

}  // namespace signer_queue_test
