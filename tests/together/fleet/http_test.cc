// Tests how a controller handles HTTP requests: which path leads to which answer, which clients are
// admitted, how answers are made from the store's records, and which metrics are served.
#include <catch2/catch.hpp>

#include "fleet/http/access.h"
#include "fleet/http/message.h"
#include "fleet/http/metrics.h"
#include "fleet/http/state.h"
#include "fleet/model/history/events.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/record_tree.h"
#include "fleet/orders/order.h"

namespace http_test {

namespace {

using namespace fleet;

int status_of(const Request& request, const Door& door) {
  const auto refused = why_not_let_in(request, route_of(request.path), door);
  return refused ? refused->status : 200;
}

Request from(const std::string& name, Method method, const std::string& path) {
  return {.method = method, .path = path, .host = "cell.example.org", .visitor = Visitor{name}};
}

TEST_CASE("every path has one meaning, which holds for no path that only begins alike") {
  CHECK(route_of("/") == Route{Place::page});
  CHECK(route_of("/metrics") == Route{Place::metrics});
  CHECK(route_of("/follow.js") == Route{Place::page});
  CHECK(route_of("/v1/state/") == Route{Place::state});
  CHECK(route_of("/v1/state/rollout/r1/") == Route{Place::state, "rollout/r1/"});
  CHECK(route_of("/v1/state/node/n1/info") == Route{Place::state, "node/n1/info"});
  CHECK(route_of("/v1/config//window/night/") == Route{Place::config, "window/night"});
  CHECK(route_of("/v1/changes") == Route{Place::changes});
  for (const char* path : {"", "/v1", "/v1/states", "/page.html", "/metrics/", "/v2/state"})
    CHECK(route_of(path).place == Place::nowhere);
}

TEST_CASE(
    "people set wishes, releases, windows, rollouts, plans, the stop, settings; nothing else") {
  for (const char* rest : {"desired/agent", "node/n1/desired/agent", "release/agent/1.0",
                           "window/night", "stop", "settings", "rollout/r1", "plan/p"})
    CHECK(config_record(rest).has_value());
  for (const char* rest : {"", "window", "node/n1/info", "driver/r1", "rollout/r1/batch/0",
                           "event/1", "epoch", "window/../stop", "window/Night", "node/n1/active"})
    CHECK_FALSE(config_record(rest).has_value());
}

// Requirements (tests/judging/rows): A-48
TEST_CASE("without certificates only a loopback name with our port is let in, to look") {
  const Door door{.certificates = false, .port = 8080};
  const auto ask = [&](const std::string& host, Method method) {
    return status_of({.method = method, .path = "/v1/config/stop", .host = host}, door);
  };

  for (const char* host : {"127.0.0.1:8080", "localhost:8080", "[::1]:8080", "127.1.2.3:8080"})
    CHECK(ask(host, Method::get) == 200);
  for (const char* host : {"", "localhost", "localhost:80", "evil.example:8080", "[::1]",
                           "127.evil.example:8080", "127.0.0.1:8080x", ":8080"})
    CHECK(ask(host, Method::get) == 403);
  CHECK(ask("localhost:8080", Method::head) == 200);
  CHECK(ask("localhost:8080", Method::put) == 403);
  CHECK(ask("localhost:8080", Method::other) == 405);
}

TEST_CASE("the answer about a path that is no text is JSON, which is always UTF-8") {
  CHECK(problem(404, "there is no \xff").body == R"({"status":404,"reason":"there is no )"
                                                 "\xef\xbf\xbd\"}");
}

TEST_CASE("with certificates the name's role decides, and nobody without one is let in") {
  const Door door{.certificates = true, .port = 443};

  CHECK(status_of({.path = "/", .host = "x"}, door) == 401);
  for (const char* name : {"node:n1", "anna", "operator:", "operators:anna", "root", ""})
    CHECK(status_of(from(name, Method::get, "/"), door) == 403);
  for (const char* name : {"viewer:v", "operator:o", "publisher:p", "controller:c", "admin:a"})
    CHECK(status_of(from(name, Method::get, "/v1/state"), door) == 200);
  CHECK(status_of(from("viewer:v", Method::get, "/nothing"), door) == 404);
  CHECK(status_of(from("admin:a", Method::put, "/v1/config/nothing"), door) == 404);
  CHECK(status_of(from("admin:a", Method::put, "/v1/config/window"), door) == 405);
  CHECK(status_of(from("admin:a", Method::put, "/v1/state/stop"), door) == 405);
}

TEST_CASE("of a URL with too many parameters, or with too many bytes, only a part is kept") {
  const auto url = [](std::size_t parameters) {
    std::string text = "/?";
    for (std::size_t i = 1; i < parameters; ++i)
      text += "a&";
    return text + "a";
  };
  for (const std::string& whole : {std::string(), std::string("/"), std::string("/?"), url(1),
                                   url(parameters_max), std::string(url_bytes_max, 'a')})
    CHECK(kept_bytes(whole) == whole.size());
  for (const std::size_t more : {1U, 2U, 400U})
    CHECK(kept_bytes(url(parameters_max + more)) == url(parameters_max).size());
  CHECK(kept_bytes("/?" + std::string(url_bytes_max, 'a')) == 2);
  CHECK(kept_bytes(std::string(url_bytes_max, 'a') + "?") == url_bytes_max);
  CHECK(kept_bytes(std::string(url_bytes_max + 9, 'a')) == url_bytes_max);
}

TEST_CASE("a request with too long a URL is refused, but first its sender must be let in") {
  const Door door{.certificates = true, .port = 443};
  Request request = from("viewer:v", Method::get, "/v1/state");
  request.url_too_long = true;
  CHECK(why_not_let_in(request, route_of(request.path), door)->body ==
        R"({"status":414,"reason":"the URL has more than 100 parameters or 16384 bytes"})");
  request.visitor.reset();
  CHECK(status_of(request, door) == 401);
}

TEST_CASE("the answer to a wrong method names the methods that the path has") {
  const auto allowed = [](Method method, const std::string& path) {
    const auto refused = why_not_let_in(from("admin:a", method, path), route_of(path),
                                        {.certificates = true, .port = 443});
    REQUIRE(refused.has_value());
    CHECK(refused->status == 405);
    REQUIRE(refused->headers.size() == 1);
    CHECK(refused->headers.front().first == "Allow");
    return refused->headers.front().second;
  };

  CHECK(allowed(Method::put, "/v1/state") == "GET, HEAD");
  CHECK(allowed(Method::put, "/v1/config/window") == "GET, HEAD");
  CHECK(allowed(Method::get, "/v1/apply") == "POST");
  const std::string all = "GET, HEAD, PUT, PATCH, DELETE";
  CHECK(allowed(Method::post, "/v1/config/window/night") == all);
  CHECK(allowed(Method::other, "/v1/config/stop") == all);
}

TEST_CASE("a browser changes something only from this server's own page, by the tag it has shown") {
  const Door door{.certificates = true, .port = 443};
  Request request = from("operator:olga", Method::patch, "/v1/config/rollout/r1");
  const auto ask = [&](const std::string& origin, const std::string& site) {
    request.origin = origin;
    request.fetch_site = site;
    return status_of(request, door);
  };

  CHECK(ask("", "") == 200);
  CHECK(ask("https://cell.example.org", "same-origin") == 428);
  request.if_match = "\"5\"";
  CHECK(ask("https://cell.example.org", "same-origin") == 200);
  CHECK(ask("https://Cell.example.org", "") == 200);
  CHECK(ask("", "same-origin") == 200);
  for (const char* origin : {"https://evil.example", "http://cell.example.org", "null",
                             "https://cell.example.org:8443", "https://cell.example.org.evil"})
    CHECK(ask(origin, "") == 403);
  for (const char* site : {"cross-site", "same-site", "none", "x"}) {
    CHECK(ask("https://cell.example.org", site) == 403);
    CHECK(ask("", site) == 403);
  }
  request.method = Method::get;
  CHECK(ask("https://evil.example", "cross-site") == 200);
  request.visitor = Visitor{"viewer:vera"};
  request.method = Method::patch;
  CHECK(ask("https://cell.example.org", "same-origin") == 403);
}

TEST_CASE("each role may write its own kinds of records") {
  const std::vector<KeyKind> kinds{KeyKind::desired, KeyKind::node_desired, KeyKind::window,
                                   KeyKind::stop,    KeyKind::release,      KeyKind::settings,
                                   KeyKind::driver,  KeyKind::node_info};
  const auto written = [&](Role role) {
    std::string text;
    for (const KeyKind kind : kinds)
      text += may_write(role, kind) ? 'w' : '-';
    return text;
  };

  CHECK(written(Role::none) == "--------");
  CHECK(written(Role::viewer) == "--------");
  CHECK(written(Role::controller) == "--------");
  CHECK(written(Role::operates) == "wwww----");
  CHECK(written(Role::publisher) == "----w---");
  CHECK(written(Role::admin) == "wwwwww--");
}

std::string refusal_of(const Visitor& visitor, const std::optional<Identity>& identity) {
  const KeyValue record{.value = identity ? write_record(*identity) : ""};
  const auto refused = why_not_enrolled(visitor, identity ? &record : nullptr, true);
  if (!refused) return "";
  CHECK(refused->status == 401);
  return parse_tree(refused->body).value().text_of("reason");
}

TEST_CASE("a certificate is let in while the record of its name lists it and is not revoked") {
  const Visitor eve{.name = "operator:eve", .serial = "0B"};
  Identity identity{.certificates = {{.serial = "0A"}, {.serial = "0B"}}};

  CHECK(refusal_of(eve, identity).empty());
  CHECK(refusal_of(eve, std::nullopt) ==
        "operator:eve is not enrolled: fleetctl enrol gives certificates that are let in");
  CHECK(refusal_of({.name = "operator:eve", .serial = "0C"}, identity) ==
        "operator:eve: the certificate 0C is not one that was given to this name");
  CHECK(refusal_of({.name = "operator:eve"}, Identity{}) ==
        "operator:eve: the certificate  is not one that was given to this name");

  identity.certificates[1].revoked = true;
  CHECK(refusal_of(eve, identity) == "operator:eve: the certificate 0B is revoked");
  CHECK(refusal_of({.name = "operator:eve", .serial = "0A"}, identity).empty());
  identity.revoked = "2026-01-01T00:00:00Z";
  CHECK(refusal_of({.name = "operator:eve", .serial = "0A"}, identity) ==
        "operator:eve is revoked");
}

TEST_CASE(
    "a record that cannot be read lets nobody in, and before the first look nobody is judged") {
  const Visitor eve{.name = "operator:eve", .serial = "0B"};
  const KeyValue damaged{.value = "{"};

  CHECK(why_not_enrolled(eve, &damaged, true)->status == 401);
  CHECK(why_not_enrolled(eve, nullptr, false)->status == 503);
}

TEST_CASE(
    "each name of a certificate has one record, and a name that cannot be enrolled has none") {
  CHECK(identity_key("operator:eve") == "/fleet/v1/identity/operator/eve");
  CHECK(identity_key("node:n1") == "/fleet/v1/identity/node/n1");
  for (const char* name : {"root", "", ":", "operator:", ":eve", "operator:eve/x", "operator:../x",
                           "operator/x:eve", "operator:eve\n"})
    CHECK_FALSE(identity_key(name));
}

TEST_CASE("an address is a host and a port, or a port of this machine alone") {
  const auto read = [](const char* text) {
    const auto address = address_of(text);
    return address ? address->host + " " + std::to_string(address->port) : "none";
  };

  CHECK(read("8080") == "127.0.0.1 8080");
  CHECK(read("[::1]:0") == "::1 0");
  CHECK(read("cell.example.org:443") == "cell.example.org 443");
  for (const char* text : {"", "x", ":80", "1.2.3.4:", "1.2.3.4:65536", "1.2.3.4:80x"})
    CHECK(read(text) == "none");
}

// A cell with a rollout and two nodes, one of which is silent.
struct Bench {
  std::map<std::string, KeyValue, std::less<>> records;
  CellState cell;
  Health health{.controller = "c1", .follows = true, .revision = 7};

  Bench() {
    put("node/n1/info", R"({"v":1})");
    put("node/n1/versions", R"({"agent":"1.0"})");
    put("node/n1/instance/i1", R"({"version":"1.0"})");
    put("node/n1/upgrade/agent", R"({"phase":"soaking"})");
    put("node/n2/info", R"({"v":1})");
    put("rollout/r1", R"({"terms":{"component":"agent","version":"2"},"state":"rolling"})");
    put("rollout/r1/batch/0", R"({"nodes":["n1","n2"]})");
    put("rollout/r1/node/n1", R"({"stage":"applying"})");
  }

  void put(const std::string& rest, const std::string& value) {
    const KeyValue record{.key = std::string(key_root) + rest, .value = value, .modified = 5};
    records[record.key] = record;
    cell.take(record);
  }
  void erase(const std::string& rest) {
    records.erase(std::string(key_root) + rest);
    cell.take_absent(std::string(key_root) + rest);
  }
  [[nodiscard]] Response get(const std::string& rest,
                             std::map<std::string, std::string> query = {}) const {
    return state_answer({.query = std::move(query)}, rest, {records, cell, health}, {});
  }
};

TEST_CASE("the summary counts the cell's records, and forgets erased ones") {
  Bench bench;
  CHECK(write_tree(*parse_tree(bench.get("").body).value().find("nodes")) ==
        R"({"all":2,"degraded":{},"reporting":1,"silent":["n2"],"upgrading":1})");

  bench.erase("node/n1/instance/i1");
  bench.put("node/n1/upgrade/agent", R"({"phase":"done"})");
  bench.erase("node/n2/info");

  CHECK(write_tree(*parse_tree(bench.get("").body).value().find("nodes")) ==
        R"({"all":1,"degraded":{},"reporting":0,"silent":["n1"],"upgrading":0})");
}

TEST_CASE("a cell is idle while nothing is desired, although two drivers always exist") {
  Bench bench;
  const auto status = [&bench] { return parse_tree(bench.get("").body).value().text_of("status"); };
  for (const std::string id : {"events", "desired"})
    bench.put("driver/" + id, R"({"controller":"c1"})");
  CHECK(status() == "idle");

  bench.put("desired/agent", R"({"version":"2"})");
  CHECK(status() == "running");
  bench.erase("driver/desired");
  CHECK(status() == "idle");
  bench.put("driver/r1", R"({"controller":"c1"})");
  CHECK(status() == "running");
}

TEST_CASE("a rollout that cannot begin its batch says what it waits for, and for whom") {
  Bench bench;
  bench.put("driver/r1", R"({"controller":"c1"})");
  const auto lines = [&bench](const char* list) {
    const Response answer = bench.get("", {{"fields", std::string("outlook.") + list}});
    const JsonTree tree = parse_tree(answer.body).value();
    std::string texts;
    for (const JsonTree& line : tree.find("outlook")->find(list)->elements) {
      if (line.text_of("subject") == "rollout/r1") texts += line.text_of("text");
    }
    return texts;
  };
  CHECK(lines("moves").find("waits for") == std::string::npos);
  bench.put("window/all", R"({"start":"03:00","duration_s":3600})");
  CHECK(lines("moves").ends_with("; waits for n1: its window opens in 3h"));
  bench.put("window/all", R"({"start":"03:00","duration_s":60})");
  CHECK(lines("moves").empty());
  CHECK(lines("waits").ends_with("; waits for n1: it takes longer than its window is open"));
  bench.put("rollout/r1/node/n2", R"({"stage":"applying"})");
  CHECK(lines("moves").find("waits for") == std::string::npos);
}

TEST_CASE("the summary tells clients who they are, and whether they may order") {
  Bench bench;
  const auto you = [&](const std::optional<Visitor>& visitor) {
    const Response response =
        state_answer({.visitor = visitor}, "", {bench.records, bench.cell, bench.health}, {});
    return write_tree(*parse_tree(response.body).value().find("you"));
  };

  CHECK(you(std::nullopt) == R"({"name":"","orders":false})");
  CHECK(you(Visitor{"viewer:vera"}) == R"({"name":"viewer:vera","orders":false})");
  CHECK(you(Visitor{"operator:olga"}) == R"({"name":"operator:olga","orders":true})");
}

// Requirements (tests/judging/rows): A-55
TEST_CASE("each host is shown with its applications, and a plan with its members") {
  Bench bench;
  bench.put("node/n2/versions", R"({"agent":"1.0","web":"2.0"})");
  bench.put("plan/p", R"({"version":"2"})");
  bench.put("plan/p/member/n2", R"({"phase":"waiting"})");

  CHECK(bench.get("node/n1/versions").body == R"({"v":1,"agent":"1.0"})");
  CHECK(bench.get("node/n2/versions").body == R"({"v":1,"agent":"1.0","web":"2.0"})");
  CHECK(bench.get("plan/p/member").body == R"({"n2":{"phase":"waiting"}})");
  bench.put("node/n2/versions", R"({"agent":"1.0"})");
  CHECK(bench.get("node/n2/versions").body == R"({"v":1,"agent":"1.0"})");
}

TEST_CASE("a damaged record is counted, its fault is shown, and it hides nothing beside it") {
  Bench bench;
  bench.put("node/n1/info", "{");
  bench.put("plan/p", "[");

  CHECK(bench.cell.damaged() == 2);
  CHECK(bench.get("plan").body.starts_with(R"({"p":"the record is damaged: no JSON at byte 2 )"));
  CHECK(bench.get("node/n1").body.find(R"("info":"the record is damaged: )") != std::string::npos);
  bench.erase("plan/p");
  bench.put("node/n1/info", R"({"v":1})");
  CHECK(bench.cell.damaged() == 0);
}

TEST_CASE("unknown keys are ignored, and no text of a node breaks the answer") {
  Bench bench;
  bench.put("node/n1/x\"y\n\033[31m", R"({"v":1})");
  bench.put("node/n2/versions", "{\"agent\":\"\xff\\\"\"}");
  bench.put("node/n2/desired/agent", "\xc3\x28\"\n");

  const auto all = parse_tree(bench.get("node").body);
  REQUIRE(all);
  CHECK(all.value().members.size() == 7);
  CHECK(all.value().text_of("n2/desired/agent") ==
        "the record is damaged: no JSON at byte 1 (expected a value)");
  CHECK(bench.get("node/n1").body.find("31m") == std::string::npos);
  CHECK(bench.get("node/n1/x\"y\n\033[31m").status == 404);
}

TEST_CASE("only the host of a webhook is shown, and without a certificate no setting") {
  CHECK(shown_url("https://hooks.example.org/services/T/B/X") == "https://hooks.example.org/...");
  CHECK(shown_url("http://anna:secret@h:8080?token=x") == "http://h:8080/...");
  CHECK(shown_url("secret") == "...");
  const std::string set = R"({"v":1,"webhook":"https://h/SECRET"})";
  CHECK(shown_record(KeyKind::settings, set) == R"({"v":1,"webhook":"https://h/..."})");
  CHECK(shown_record(KeyKind::notified, set) == R"({"v":1,"webhook":"https://h/..."})");
  CHECK(shown_record(KeyKind::settings, R"({"v":1,"odd":1.5,"webhook":"https://h/SECRET"})") ==
        R"({"v":1,"webhook":"https://h/..."})");
  CHECK(shown_record(KeyKind::settings, R"({"webhook":"https://h/SECRET")") ==
        R"("the record cannot be read")");
  CHECK(shown_record(KeyKind::window, set) == set);

  Bench bench;
  bench.put("settings", set);
  bench.put("notified", R"({"event":1,"webhook":"https://h/SECRET"})");
  CHECK(bench.get("settings").status == 404);
  CHECK(bench.get("notified").status == 404);
  CHECK(changes_event(9, {Change{{.key = std::string(key_root) + "notified", .value = set}, false}})
            .empty());
}

TEST_CASE("a node's records do not include those of a node whose name begins alike") {
  Bench bench;
  bench.put("node/n10/info", R"({"v":1})");

  CHECK(bench.get("node/n1").body.find("n10") == std::string::npos);
  CHECK(bench.get("node/n3").status == 404);
  CHECK(bench.get("window").body == "{}");
  CHECK(bench.get("rollout/r1").body.find("batch/0") == std::string::npos);
  CHECK(bench.get("rollout/r1/").body.find("batch/0") != std::string::npos);
  CHECK(bench.get("rollout/r1/batch/0/").body == "{}");
  CHECK(is_about("node/n1/upgrade/agent", "node/n1"));
  CHECK_FALSE(is_about("node/n10", "node/n1"));
}

// Requirements (tests/judging/rows): H-85
TEST_CASE("events are listed in their order, by subject, and limited to the last ones") {
  Bench bench;
  bench.put("event/000000000001", R"({"subject":"node/n1","text":"a"})");
  bench.put("event/000000000002", R"({"subject":"node/n2","text":"b"})");
  bench.put("event/000000000010", R"({"subject":"node/n1/upgrade/agent","text":"c"})");

  CHECK(bench.get("event", {{"fields", "text"}}).body ==
        "{\"000000000001\":{\"text\":\"a\"},\n\"000000000002\":{\"text\":\"b\"},\n"
        "\"000000000010\":{\"text\":\"c\"}}");
  CHECK(bench.get("event", {{"fields", "text"}, {"subject", "node/n1"}, {"limit", "1"}}).body ==
        R"({"000000000010":{"text":"c"}})");
  CHECK(bench.get("event", {{"fields", "text"}, {"before", "000000000010"}, {"limit", "1"}}).body ==
        R"({"000000000002":{"text":"b"}})");
  CHECK(bench.get("event", {{"before", "000000000001"}}).body == "{}");
  bench.put("event/000000000011",
            R"({"subject":"stop","text":"d","who":"operator:anna","trace":"t1"})");
  CHECK(bench.get("event", {{"fields", "text"}, {"trace", "t1"}}).body ==
        R"({"000000000011":{"text":"d"}})");
  CHECK(bench.get("event", {{"trace", "t"}}).body == "{}");
  CHECK(bench.get("event", {{"fields", "text"}, {"who", "anna"}}).body ==
        R"({"000000000011":{"text":"d"}})");
}

TEST_CASE("state that may be outdated is not shown: 503") {
  Bench bench;
  bench.health.follows = false;

  CHECK(bench.get("").status == 503);
  CHECK(bench.get("node/n1/info").status == 503);
}

TEST_CASE("metrics name the things that they count, and escape text that would break a line") {
  Bench bench;
  bench.put("node/n1/versions", "{\"agent\":\"a\\\"b\\\\c\\nd\"}");
  bench.health.members["m"] = {.answers = true,
                               .status = {.has_leader = true, .errors = {"alarm:NOSPACE"}}};

  bench.cell.take(
      {.key = "/fleet/v1/signer/s1",
       .value = write_record(SignerAtWork{.takes_snapshots = true, .snapshot = 1'800'000'000})});
  bench.cell.take({.key = "/fleet/v1/signer/s2", .value = write_record(SignerAtWork{})});

  const std::string text = metrics_text(bench.cell, bench.health);

  CHECK(text.find("\nfleet_signers 2\n") != std::string::npos);
  CHECK(text.find("\nfleet_snapshot_seconds 1800000000\n") != std::string::npos);
  CHECK(text.find(R"(fleet_node_versions{component="agent",version="a\"b\\c\nd"} 1)") !=
        std::string::npos);
  CHECK(text.find("\nfleet_store_quorum 1\n") != std::string::npos);
  CHECK(text.find("\nfleet_store_no_space 1\n") != std::string::npos);
  CHECK(text.find("\nfleet_rollout_nodes{rollout=\"r1\",stage=\"applying\"} 1\n") !=
        std::string::npos);
}

TEST_CASE("half of the members is no quorum") {
  Health health;
  health.members["a"] = {.answers = true, .status = {.has_leader = true}};
  health.members["b"] = {};
  CHECK_FALSE(health.has_quorum());

  health.members["c"] = {.answers = true, .status = {.has_leader = true}};
  CHECK(health.has_quorum());
  health.members["c"].status.has_leader = false;
  CHECK_FALSE(health.has_quorum());
}

TEST_CASE("followers get the new records, and of nodes only that they have changed") {
  const auto change = [](const std::string& rest, const std::string& value, bool erased = false) {
    return Change{{.key = std::string(key_root) + rest, .value = value}, erased};
  };

  CHECK(changes_event(9, {change("stop", R"({"why":"x"})"), change("stop", "", true),
                          change("node/n2/info", "{}"), change("node/n1/info", "{}"),
                          change("node/n2/versions", "{}"), change("settings", "{}")}) ==
        "event: changes\n"
        "data: {\"nodes\":[\"n1\",\"n2\"],\"records\":{\"stop\":null},\"revision\":9}\n\n");
  CHECK(changes_event(9, {change("settings", "{}")}).empty());
  CHECK(beat_event(9, true) == "event: beat\ndata: {\"follows\":true,\"revision\":9}\n\n");
}

TEST_CASE("a new follower gets the reason if the controller does not hear the store") {
  Health health;
  health.trouble = "no answer";
  CHECK(hello_events(9, health) ==
        "retry: 2000\n"
        "event: hello\ndata: {\"follows\":false,\"revision\":9}\n\n"
        "event: trouble\ndata: {\"reason\":\"no answer\"}\n\n");

  health.follows = true;
  CHECK(hello_events(9, health) ==
        "retry: 2000\nevent: hello\ndata: {\"follows\":true,\"revision\":9}\n\n");
}

}  // namespace

}  // namespace http_test
