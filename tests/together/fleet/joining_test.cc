// Tests which machines may join a cell, how a controller answers a machine that wants to join,
// which records are written for this machine, and which labels it gets. agent_join_test.cc tests
// the machine's side.
#include "fleet/model/signer/joining.h"

#include <catch2/catch.hpp>

#include "fleet/common/authority.h"
#include "fleet/common/public_key.h"
#include "fleet/http/access.h"
#include "fleet/http/join_answer.h"
#include "fleet/http/message.h"
#include "fleet/model/drivers/windows.h"
#include "fleet/model/nodes/node_view.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace joining_test {

namespace {

using namespace fleet;
using Catch::Matchers::Contains;

// ---- machines that may join

const std::string secret(32, '5');
const std::string hash = digest_of(secret);
const std::string key_a(32, 'a');
const std::string key_b(32, 'b');
constexpr UnixSeconds noon = 10'000;

// The records of a cell with one token and one machine's request to join.
struct Cell {
  Token token{.hash = hash, .expires = noon + 100};
  JoinRequest request{.node = "n1", .pem = "R", .token = hash, .asked = noon};
  std::optional<Identity> identity = {};
  std::optional<Approval> approval = {};
  std::optional<Settings> settings = {};

  [[nodiscard]] RecordsByKey records() const {
    RecordsByKey all;
    Revision revision = 1;
    const auto add = [&](const std::string& key, const std::string& value) {
      ++revision;
      all[key] = {.key = key, .value = value, .created = revision, .modified = revision};
    };
    add(key_of(KeyKind::token, {token_id(hash)}), write_record(token));
    add(key_of(KeyKind::join, {key_a}), write_record(request));
    if (identity) add(key_of(KeyKind::identity, {"node", "n1"}), write_record(*identity));
    if (approval) add(key_of(KeyKind::approval, {key_a}), write_record(*approval));
    if (settings) add(key_of(KeyKind::settings), write_record(*settings));
    return all;
  }
  [[nodiscard]] JoinCase join() const { return join_case(records(), key_a).value(); }
  [[nodiscard]] JoinDecision decide(UnixSeconds now = noon) const {
    return decide_join(join(), now);
  }
  [[nodiscard]] std::string words(UnixSeconds now = noon) const {
    const JoinDecision decision = decide(now);
    if (const auto* refused = std::get_if<JoinRefused>(&decision)) return refused->why;
    if (std::holds_alternative<JoinWaits>(decision)) return "waits";
    return std::get<JoinSigned>(decision).costs_use ? "signed for a use" : "signed";
  }
};

Identity identity_with(const std::string& key) {
  return {.certificates = {{.serial = "0A", .issued = 1, .expires = noon + 50, .key = key}},
          .since = "then"};
}

TEST_CASE("a new name is signed for one use of its token") {
  CHECK(Cell{}.words() == "signed for a use");
}

TEST_CASE("a token that is unfit is refused with the reason") {
  Cell cell;
  SECTION("unknown") {
    cell.request.token = digest_of("another");
    CHECK(cell.words() == "the token is not known here");
  }
  SECTION("a hash that differs behind the ID") {
    cell.request.token.back() = cell.request.token.back() == '0' ? '1' : '0';
    CHECK(cell.words() == "the token is not known here");
  }
  SECTION("revoked") {
    cell.token.revoked = "today";
    CHECK(cell.words() == "the token is revoked");
  }
  SECTION("expired before the machine asked") {
    cell.token.expires = noon;
    CHECK(cell.words() == "the token has expired");
  }
  SECTION("used up") {
    cell.token.used = 1;
    CHECK(cell.words() == "the token is used up");
  }
  SECTION("for other names") {
    cell.token.nodes = "web-*";
    CHECK(cell.words() == "the token is for other names: web-*");
  }
}

TEST_CASE("a token that expires while its machine waits is good still") {
  CHECK(Cell{}.words(noon + 1'000) == "signed for a use");
}

TEST_CASE("the same key under the same name is signed again at no cost, with any token") {
  Cell cell{.identity = identity_with(key_a)};
  cell.token.used = 1;
  cell.token.revoked = "today";
  CHECK(cell.words() == "signed");
}

TEST_CASE("a certificate that has ended or was revoked does not let its key in again") {
  Cell cell{.identity = identity_with(key_a)};
  SECTION("ended") {
    CHECK(cell.words(noon + 50) == "waits");
  }
  SECTION("revoked itself") {
    cell.identity->certificates[0].revoked = true;
    CHECK(cell.words() == "waits");
  }
  SECTION("its owner revoked") {
    cell.identity = revoked(*cell.identity, "today");
    CHECK(cell.words() == "waits");
    CHECK(std::get<JoinWaits>(cell.decide()).shuts_out);
  }
}

TEST_CASE("a name that exists with another key waits, and an approval of this key lets it in") {
  Cell cell{.identity = identity_with(key_b)};
  CHECK(cell.words() == "waits");
  CHECK_FALSE(std::get<JoinWaits>(cell.decide()).shuts_out);
  cell.approval = Approval{.node = "n2"};
  CHECK(cell.words() == "waits");
  cell.approval = Approval{.node = "n1"};
  CHECK(cell.words() == "signed for a use");
  cell.token.used = 1;
  CHECK(cell.words() == "the token is used up");
}

TEST_CASE("an approval from before the name was revoked does not let its key in") {
  Cell cell{.identity = revoked(identity_with(key_b), "today"), .approval = Approval{.node = "n1"}};
  CHECK(cell.words() == "signed for a use");
  RecordsByKey records = cell.records();
  KeyValue& owner = records.at(key_of(KeyKind::identity, {"node", "n1"}));
  owner.modified = records.at(key_of(KeyKind::approval, {key_a})).modified + 1;
  const JoinCase one = join_case(records, key_a).value();
  const JoinDecision decision = decide_join(one, noon);
  REQUIRE(std::holds_alternative<JoinWaits>(decision));
  CHECK(std::get<JoinWaits>(decision).shuts_out);
  // A person approved the request before the node was revoked, so this approval is no longer valid.
  // The controller must remove the approval, even if the record of the request already says that
  // the machine must wait.
  const Transaction answered = answer_join(one, decision);
  REQUIRE(answered.erases.size() == 1);
  CHECK(answered.erases[0].key == key_of(KeyKind::approval, {key_a}));
  KeyValue& request = records.at(key_of(KeyKind::join, {key_a}));
  cell.request.waits = true;
  request.value = write_record(cell.request);
  CHECK(next_join(records, noon));
  // Now the node is not revoked, but its identity has changed since the approval, for example by a
  // renewed certificate. After such a change, the approval is still valid.
  owner.value = write_record(identity_with(key_b));
  CHECK(std::holds_alternative<JoinSigned>(decide_join(join_case(records, key_a).value(), noon)));
}

TEST_CASE("a node gets no certificate that its record could not list, however often it asks") {
  Cell cell{.identity = identity_with(key_a)};
  const auto asks_again = [&](bool costs_use) {
    const JoinCase one = cell.join();
    const JoinSigned is_signed{.costs_use = costs_use};
    const std::string why = why_no_more(one, is_signed, noon);
    if (!why.empty()) return why;
    const Transaction written = record_join(
        one, is_signed, "PEM", {.serial = "0B", .expires = noon + 9, .key = key_a}, "now", noon);
    for (const Put& put : written.puts) {
      if (put.key.starts_with(node_identities()))
        cell.identity = read_record<Identity>(put.value).value();
    }
    return std::string();
  };
  std::string why;
  for (int i = 0; i < 300 && why.empty(); ++i)
    why = asks_again(false);
  CHECK(why == "n1 has 16 certificates that have not expired, and gets no other until one has");
  CHECK(why_no_more(cell.join(), {}, noon + 9).empty());
  // Without a person's approval, the node can have at most 16 valid certificates. If a person
  // approves its requests, it can have up to 200: a record with more certificates could not be
  // read.
  for (why = ""; why.empty();)
    why = asks_again(true);
  CHECK_THAT(why, Contains("n1 has 200 certificates"));
}

TEST_CASE("with the setting join=ask a new name waits, too") {
  Cell cell{.settings = Settings{{{"join", "ask"}}}};
  CHECK(cell.words() == "waits");
  cell.approval = Approval{.node = "n1"};
  CHECK(cell.words() == "signed for a use");
}

TEST_CASE("an identity that cannot be read keeps its name from being given away") {
  RecordsByKey all = Cell{}.records();
  const std::string key = key_of(KeyKind::identity, {"node", "n1"});
  all[key] = {.key = key, .value = "{", .created = 9, .modified = 9};
  CHECK(std::holds_alternative<JoinWaits>(decide_join(join_case(all, key_a).value(), noon)));
}

TEST_CASE("a request is decided once, and again when an approval or a setting changes it") {
  Cell cell{.identity = identity_with(key_b)};
  CHECK(next_join(cell.records(), noon));
  cell.request.waits = true;
  CHECK_FALSE(next_join(cell.records(), noon));
  cell.approval = Approval{.node = "n1"};
  CHECK(next_join(cell.records(), noon));
  cell.request.refused = "no";
  CHECK_FALSE(next_join(cell.records(), noon));
}

TEST_CASE("a signed certificate is written with the use and the labels, or not at all") {
  Cell cell;
  cell.token.labels = {{"site", "north"}};
  const JoinCase one = cell.join();

  const Transaction written =
      record_join(one, {.costs_use = true}, "PEM",
                  {.serial = "0B", .expires = noon + 9, .key = key_a}, "now", noon);

  REQUIRE(written.puts.size() == 4);
  CHECK(read_record<Token>(written.puts[0].value).value().used == 1);
  const Identity identity = read_record<Identity>(written.puts[1].value).value();
  CHECK(identity.labels == std::map<std::string, std::string>{{"site", "north"}});
  CHECK(has_key(identity, key_a, noon));
  CHECK(written.compares.size() == 3);
}

TEST_CASE("the history says which token has let a machine in, and who made or approved it") {
  const auto note = [](const Cell& cell) {
    const Transaction written =
        record_join(cell.join(), {.costs_use = true}, "PEM",
                    {.serial = "0B", .expires = noon + 9, .key = key_a}, "now", noon);
    const Put& last = written.puts.back();
    CHECK(parse_key(last.key)->kind == KeyKind::order);
    return read_record<FleetEvent>(last.value).value();
  };
  Cell cell;
  cell.token.who = "operator:anna";
  CHECK(note(cell).subject == "identity/node/n1");
  CHECK(note(cell).text == "joins with the token " + token_id(cell.token.hash));
  CHECK(note(cell).who == "operator:anna");
  cell.approval = Approval{.node = "n1", .who = "operator:bert"};
  CHECK(note(cell).who == "operator:bert");
}

TEST_CASE("a machine that gets a certificate again is not in the history again") {
  const Cell cell{.identity = identity_with(key_a)};
  const Transaction written =
      record_join(cell.join(), {.costs_use = false}, "PEM",
                  {.serial = "0B", .expires = noon + 9, .key = key_a}, "now", noon);
  for (const Put& put : written.puts)
    CHECK(parse_key(put.key)->kind != KeyKind::order);
}

TEST_CASE("the history says that a request which has waited was refused, and no other refusal") {
  Cell cell;
  const JoinDecision used_up = JoinRefused{"the token is used up"};
  CHECK(answer_join(cell.join(), used_up).puts.size() == 1);
  cell.request.waits = true;
  const Transaction written = answer_join(cell.join(), used_up);
  REQUIRE(written.puts.size() == 2);
  CHECK(read_record<FleetEvent>(written.puts[1].value).value().text ==
        "waits no longer: the token is used up");
}

TEST_CASE("a certificate that was signed waits in its request, until its owner is known") {
  const JoinCase one = Cell{}.join();
  const IssuedCertificate issued{.serial = "0B", .expires = noon + 9, .key = key_a};

  const Transaction written = record_join(one, {.costs_use = true}, "PEM", issued, "now", noon);

  CHECK(written.puts[2].key == key_of(KeyKind::join, {key_a}));
  CHECK(read_record<JoinRequest>(written.puts[2].value).value().certificate == "PEM");
}

TEST_CASE("a certificate in a request is given away only if a signer has recorded it") {
  const IssuedCertificate issued{.serial = "0A", .issued = 1, .expires = noon + 50, .key = key_a};
  Cell cell{.identity = identity_with(key_a)};
  CHECK(was_signed(cell.join(), issued, noon));
  CHECK_FALSE(was_signed(cell.join(), issued, noon + 50));
  CHECK_FALSE(was_signed(Cell{}.join(), issued, noon));
  SECTION("another serial number") {
    CHECK_FALSE(was_signed(cell.join(), {.serial = "0B", .key = key_a}, noon));
  }
  SECTION("another key") {
    CHECK_FALSE(was_signed(cell.join(), {.serial = "0A", .key = key_b}, noon));
    cell.identity = identity_with(key_b);
    CHECK_FALSE(was_signed(cell.join(), issued, noon));
  }
  SECTION("revoked") {
    cell.identity = revoked(*cell.identity, "today");
    CHECK_FALSE(was_signed(cell.join(), issued, noon));
  }
}

TEST_CASE("another machine under the name shuts out the one that had it") {
  const Cell cell{.identity = identity_with(key_b), .approval = Approval{.node = "n1"}};

  const Transaction written =
      record_join(cell.join(), {.costs_use = true}, "PEM",
                  {.serial = "0B", .expires = noon + 9, .key = key_a}, "now", noon);

  const Identity identity = read_record<Identity>(written.puts[1].value).value();
  CHECK(has_key(identity, key_a, noon));
  CHECK_FALSE(has_key(identity, key_b, noon));
}

TEST_CASE("a certificate is given away only if its owner's record is as it was written") {
  const Transaction published = publish_join(Cell{}.join(), "PEM", 77);

  REQUIRE(published.compares.size() == 1);
  CHECK(published.compares[0] ==
        Compare{.key = key_of(KeyKind::identity, {"node", "n1"}), .revision = 77});
  CHECK(published.erases.size() == 2);
}

TEST_CASE("requests and tokens are removed when their time is over") {
  Cell cell;
  CHECK(forget_joins(cell.records(), noon + join_kept_s - 1).erases.empty());
  CHECK(forget_joins(cell.records(), noon + join_kept_s).erases.size() == 1);
  CHECK(forget_joins(cell.records(), noon + join_kept_s + 100).erases.size() == 2);
  cell.request.refused = "no";
  CHECK(forget_joins(cell.records(), noon + refusal_kept_s).erases.size() == 1);
}

TEST_CASE("the text of a token is read back, and one that lacks a part is refused") {
  const TokenText text{.controllers = {"https://[::1]:8443"},
                       .store = {"https://a.example:2379"},
                       .authority = digest_of("ca"),
                       .secret = secret};
  CHECK(token_in(write_record(text)).value() == text);
  for (const auto& change : std::vector<void (*)(TokenText&)>{
           [](TokenText& one) { one.controllers = {}; },
           [](TokenText& one) { one.controllers = {"http://a"}; },
           [](TokenText& one) { one.controllers = {"https://"}; },
           [](TokenText& one) { one.store = {"https://a\" --label=x"}; },
           [](TokenText& one) { one.authority.pop_back(); },
           [](TokenText& one) { one.secret = std::string(32, 'G'); }}) {
    TokenText wrong = text;
    change(wrong);
    CHECK_FALSE(token_in(write_record(wrong)));
  }
}

TEST_CASE("the fingerprint of a key is the same in a request, a certificate and the key itself") {
  const std::string key = new_private_key();
  const std::string authority_key = new_private_key();
  const Signed authority =
      sign_for_key({.name = "ca", .days = 9, .is_authority = true}, authority_key);
  const Signed made = sign_for_key(
      {.signer = {authority.certificate, authority_key}, .name = "node:n1", .days = 9}, key);
  const std::string fingerprint = fingerprint_of_key(key);

  CHECK(is_hexadecimal(fingerprint, fingerprint_digits));
  CHECK(key_of_request(request_for("node:n1", key)).fingerprint == fingerprint);
  CHECK(fingerprint_of_certificate(made.certificate) == fingerprint);
  CHECK(made.issued.key == fingerprint);
  CHECK(key_of_request("x").error == "the request is none in PEM");
  CHECK(fingerprint_of_key("x").empty());
}

KeyValue found_at(const std::string& key, const std::string& value) {
  return {.key = key, .value = value, .created = 1, .modified = 1};
}

TEST_CASE("labels of a token win over those that the node reports, in targets and in windows") {
  const KeyValue info =
      found_at(key_of(KeyKind::node_info, {"n1"}),
               write_record(NodeInfo{.labels = {{"group", "day"}, {"rack", "r1"}}}));
  Identity identity;
  identity.labels = {{"group", "night"}};
  const KeyValue given =
      found_at(key_of(KeyKind::identity, {"node", "n1"}), write_record(identity));
  const KeyValue alone =
      found_at(key_of(KeyKind::identity, {"node", "n2"}), write_record(identity));

  const auto nodes = nodes_in({.found = {given, alone, info}});

  REQUIRE(nodes.size() == 1);
  CHECK(nodes[0].info.labels ==
        std::map<std::string, std::string>{{"group", "night"}, {"rack", "r1"}});

  WindowView windows([](const std::string&) { return Result<TimeZone>(Refusal{"no"}); });
  // A window is the time in which work on nodes may begin. The record of this window is damaged, so
  // the window counts as closed.
  windows.take(found_at(key_of(KeyKind::window, {"night"}), "{"));
  windows.take(info);
  CHECK(windows.opening("n1", 1, 1).is_open);
  windows.take(given);
  CHECK_FALSE(windows.opening("n1", 1, 1).is_open);
  windows.take_absent(given.key);
  CHECK(windows.opening("n1", 1, 1).is_open);
}

// ---- a controller's answers to machines that want to join

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
  // The machine's certificate has the serial number 0A, but the record of its identity lists only
  // 0B. So the controller does not send the certificate, but writes the machine's request to the
  // store, so that fleet-signer makes a new certificate.
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

}  // namespace joining_test
