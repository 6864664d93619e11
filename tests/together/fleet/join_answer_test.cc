// Tests how a controller answers a machine that wants to join, and which records it writes in the
// store for that machine.
#include "fleet/http/join_answer.h"

#include <catch2/catch.hpp>

#include "fleet/common/key_fingerprint.h"
#include "fleet/http/access.h"
#include "fleet/http/route.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace join_answer_test {

namespace {

using namespace fleet;
using Catch::Matchers::Contains;

constexpr UnixSeconds noon = 10'000;
const std::string key_a(32, 'a');
const JoinAsked asked{.node = "n1", .pem = "R", .fingerprint = key_a, .hash = digest_of("secret")};

struct Door {
  RecordsByKey records = {};

  Door() { token({.hash = asked.hash, .expires = noon + 9}); }
  void put(const std::string& key, const std::string& value) {
    records[key] = {.key = key, .value = value, .created = 3, .modified = 3};
  }
  void token(const Token& one) {
    put(key_of(KeyKind::token, {token_id(asked.hash)}), write_record(one));
  }
  void request(const JoinRequest& one) { put(key_of(KeyKind::join, {key_a}), write_record(one)); }
  void join(const std::string& serial = "0A") {
    put(key_of(KeyKind::identity, {"node", "n1"}),
        write_record(
            Identity{.certificates = {{.serial = serial, .expires = noon + 9, .key = key_a}}}));
    put(key_of(KeyKind::node_certificate, {"n1"}), write_record(NodeCertificate{.pem = "C"}));
  }
  [[nodiscard]] JoinMoment moment() const {
    return {records, noon, [](const std::string&) {
              return IssuedCertificate{.serial = "0A", .expires = noon + 9, .key = key_a};
            }};
  }
  [[nodiscard]] JoinStep begin(const JoinAsked& one = asked) const {
    return begin_join(one, moment());
  }
  [[nodiscard]] int status() const {
    const auto step = begin();
    const auto* response = std::get_if<Response>(&step);
    return response == nullptr ? 0 : response->status;
  }
};

const JoinRequest pending{.node = "n1", .pem = "R", .token = asked.hash, .asked = noon};

TEST_CASE("a request with a good token is written once, with the hash and without the secret") {
  Door door;
  const auto step = door.begin();
  const auto* wanted = std::get_if<JoinWrite>(&step);
  REQUIRE(wanted != nullptr);
  CHECK(read_record<JoinRequest>(wanted->transaction.puts[0].value).value() == pending);
  CHECK(wanted->transaction.compares[0].revision == 0);

  door.request(pending);
  CHECK(std::holds_alternative<JoinHold>(door.begin()));
}

TEST_CASE("a token that is not known, or no longer good, writes nothing") {
  Door door;
  JoinAsked other = asked;
  other.hash = digest_of("another");
  CHECK(std::get<Response>(door.begin(other)).status == 401);
  door.token({.hash = asked.hash, .expires = noon});
  CHECK(door.status() == 403);
}

TEST_CASE("a machine that has joined gets its certificate, whatever its token is by now") {
  Door door;
  door.join();
  door.token({.hash = asked.hash, .uses = 1, .used = 1, .expires = noon, .revoked = "today"});
  const auto step = door.begin();
  const auto& response = std::get<Response>(step);
  CHECK(response.status == 200);
  CHECK(read_record<JoinAnswer>(response.body).value().certificate == "C");
}

TEST_CASE("a certificate that is not listed in its owner's record is not given away") {
  Door door;
  door.join("0B");
  // Fleet-signer makes another certificate here.
  CHECK(std::holds_alternative<JoinWrite>(door.begin()));
}

TEST_CASE("a machine that waits is told so at once, and one that was refused may ask again") {
  Door door;
  JoinRequest there = pending;
  there.waits = true;
  door.request(there);
  CHECK(door.status() == 202);
  CHECK(answer_held_join(asked, door.moment())->status == 202);
  there.refused = "no";
  door.request(there);
  CHECK(answer_held_join(asked, door.moment())->status == 403);
  CHECK(std::holds_alternative<JoinWrite>(door.begin()));
  door.request(pending);
  CHECK_FALSE(answer_held_join(asked, door.moment()));
}

TEST_CASE("at most a thousand requests stand in the store") {
  Door door;
  for (std::size_t i = 0; i < join_requests_max; ++i)
    door.put(key_of(KeyKind::join, {"k" + std::to_string(i)}), write_record(pending));
  CHECK(door.status() == 503);
}

TEST_CASE("three hundred requests are written at once, and then twenty a second") {
  JoinRate rate;
  int taken = 0;
  while (rate.take(0))
    ++taken;
  CHECK(taken == 300);
  CHECK_FALSE(rate.take(49));
  CHECK(rate.take(50));
  CHECK_FALSE(rate.take(51));
  taken = 0;
  while (rate.take(1'000'000'000))
    ++taken;
  CHECK(taken == 300);
}

TEST_CASE("a question of a wrong form is refused before it is looked at") {
  const auto status_of = [](const Request& request) {
    const auto question = join_question_of(request);
    const auto* refused = std::get_if<Response>(&question);
    return refused == nullptr ? 0 : refused->status;
  };
  const std::string good =
      write_record(JoinQuestion{.node = "n1", .secret = std::string(32, '0'), .request = "R"});
  CHECK(status_of({.method = Method::get, .body = good}) == 405);
  CHECK(status_of({.method = Method::post, .body = good, .too_long = true}) == 413);
  CHECK(status_of({.method = Method::post, .body = std::string(8'193, ' ')}) == 413);
  CHECK(status_of({.method = Method::post, .body = "{"}) == 400);
  CHECK(status_of({.method = Method::post, .body = good}) == 0);
}

TEST_CASE("without TLS nobody joins, and nothing but joining is done by POST") {
  CHECK(route_of("/v1/join") == Route{Place::join});
  for (const char* path : {"/v1/join", "/v1/config/stop", "/v1/state", "/"}) {
    const Request request{.method = Method::post, .path = path, .host = "127.0.0.1:80"};
    const auto refused = why_not_let_in(request, route_of(path), {.port = 80});
    REQUIRE(refused);
    CHECK(refused->status == 405);
  }
}

}  // namespace

}  // namespace join_answer_test
