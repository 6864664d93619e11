// Tests how fleetctl interprets the records that it reads and the certificate of the person who
// calls it. Also tests how foreign texts, such as those that nodes report, are made safe for
// fleetctl's tables, for its JSON and for logs.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "base/shown.h"
#include "fleet/common/authority.h"
#include "fleet/common/certificate.h"
#include "fleet/common/log_line.h"
#include "fleet/common/roles.h"
#include "fleet/common/text_file.h"
#include "fleet/fleetctl/asker.h"
#include "fleet/fleetctl/cell_view.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/options.h"
#include "fleet/fleetctl/plans.h"
#include "fleet/fleetctl/status_view.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/record_tree.h"
#include "tests/support/temporary_directory.h"

namespace fleetctl_test {

namespace {

using namespace fleet;

constexpr UnixSeconds day_s = 86'400;

KeyValue record(const std::string& key, const std::string& value) {
  return {.key = key, .value = value, .modified = 1};
}

// ---- the reason that fleetctl shows if the store refuses a transaction

TEST_CASE(
    "the reason for a refused transaction is the record that differs, not a list of guesses") {
  const std::string stop = key_of(KeyKind::stop);
  const std::string plan = key_of(KeyKind::plan, {"r1"});
  const std::string release = key_of(KeyKind::release, {"agent", "2"});
  const Transaction refused{
      .compares = {{.key = release, .revision = 1}, {.key = plan}, {.key = stop}}};
  const auto why = [&refused](const std::vector<KeyValue>& found) {
    return fleetctl::why_refused(refused, {1, found});
  };

  CHECK(why({record(plan, "{}"), record(release, "{}")}) == "the record plan/r1 is there already");
  CHECK(why({record(release, "{}"), record(stop, "{}")}) ==
        "nothing may begin now; fleetctl stop off ends the stop");
  CHECK(why({}) == "the record release/agent/2 has changed meanwhile");
  CHECK(why({record(release, "{}")}).empty());
}

// ---- the command line

// Returns the message with which the command line is refused, or an empty string.
std::string refusal_of(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words)
    argv.push_back(word.data());

  const auto asked = fleetctl::options_from(static_cast<int>(argv.size()), argv.data());

  const auto* const wrong = std::get_if<Text>(&asked);
  if (wrong == nullptr) return "";
  CHECK(wrong->status != 0);
  return wrong->text;
}

TEST_CASE("an option with an empty value does not use the next option as its value") {
  CHECK(refusal_of({"fleetctl", "desire", "agent", "1.0.0", "--why=", "--node=n1"}) ==
        "fleetctl: --why: its value is empty; see --help\n");
}

TEST_CASE("a token whose label would be changed, or that has expired at once, is refused") {
  const auto refusal = [](const std::string& option) {
    return refusal_of({"fleetctl", "--endpoint=http://m1", "token", "create", option});
  };
  CHECK(refusal("--label=site=" + std::string(label_bytes_max, 'x')).empty());
  CHECK(refusal("--expires=1s").empty());
  const std::string label =
      "fleetctl: --label: site: needs a value in UTF-8 of at most 255 bytes in JSON; see --help\n";
  CHECK(refusal("--label=site=" + std::string(70'000, 'x')) == label);
  CHECK(refusal("--label=site=a\xff") == label);
  CHECK(refusal("--expires=0s") ==
        "fleetctl: --expires: 0s: needs a time longer than 0; see --help\n");
}

// ---- the table of nodes

TEST_CASE("a new version that runs beside the old one is shown as ready, in plain words") {
  const Reading reading{.revision = 1,
                        .found = {record("/fleet/v1/node/n1/info", "{}"),
                                  record("/fleet/v1/node/n1/upgrade/agent",
                                         R"({"phase":"cutover-ready","to":"2"})")}};

  const std::vector<std::string> table = fleetctl::node_table(nodes_in(reading));

  REQUIRE(table.size() == 2);
  CHECK(table[1].ends_with("agent ready, waits for its turn: 2"));
}

TEST_CASE("a new version that has replaced the old one is shown as on trial, not as waiting") {
  const auto runs = GENERATE(as<std::string>(), R"({"shop":"2"})", R"({"shop":"2+b7"})");
  const Reading reading{.revision = 1,
                        .found = {record("/fleet/v1/node/n1/versions", runs),
                                  record("/fleet/v1/node/n1/upgrade/shop",
                                         R"({"phase":"cutover-ready","from":"1","to":"2",)"
                                         R"("attempt":"r.apply.1"})")}};
  const auto nodes = nodes_in(reading);

  CHECK(fleetctl::node_table(nodes).back().ends_with("  shop on trial: 2"));
  CHECK(fleetctl::node_page(nodes.front()).back() == "  upgrade  shop on trial: 2 (r.apply.1)");
}

TEST_CASE("a node that a person has pinned to a version is shown as pinned, by whom and why") {
  Reading reading{.revision = 1, .found = {record("/fleet/v1/node/n1/info", "{}")}};
  const Desired pin{.version = "1", .why = "too slow", .pinned = true, .who = "anna"};
  const Desired moved{.version = "1", .why = "rollout/r"};
  reading.found.push_back(record(key_of(KeyKind::node_desired, {"n1", "shop"}), write_record(pin)));
  reading.found.push_back(
      record(key_of(KeyKind::node_desired, {"n1", "till"}), write_record(moved)));
  const auto news = [&reading] { return fleetctl::node_table(nodes_in(reading)).back(); };

  CHECK(news().ends_with("  pinned to shop 1"));
  const auto page = fleetctl::node_page(nodes_in(reading).front());
  CHECK(page == std::vector<std::string>{"n1: silent", "  pinned  shop 1, by anna: too slow"});
  const auto lines = fleetctl::wish_lines(reading, nodes_in(reading), WindowView({}));
  CHECK(lines == std::vector<std::string>{"desired of n1: shop 1"});

  reading.found.push_back(record(key_of(KeyKind::node_upgrade, {"n1", "shop"}),
                                 R"({"phase":"failed","to":"2","error":"it ended"})"));
  CHECK(news().ends_with("  shop failed 2: it ended; pinned to shop 1"));
}

// ---- a command of fleetctl that waits until a plan has ended

TEST_CASE("a plan is waited for by its own record alone, until it has ended") {
  Plan running{.version = "2",
               .steps = {{.name = "fetch", .kind = StepClass::any, .hook = "storage"}},
               .state = PlanState::running,
               .step = 1};
  Plan completed = running;
  completed.state = PlanState::completed;
  const std::vector<Plan> states{running, running, completed};
  const std::string key = key_of(KeyKind::plan, {"p"});
  std::vector<Keys> asked;
  std::vector<std::string> said;
  int rests = 0;
  const int status = fleetctl::wait_for_plan(
      {.read = [&](const Keys& keys) -> Reply<Reading> {
         asked.push_back(keys);
         const Plan& now = states.at(asked.size() - 1);
         return Reading{.revision = 1, .found = {record(key, write_record(now))}};
       },
       .rest = [&rests] { ++rests; },
       .say = [&said](const std::string& line) { said.push_back(line); }},
      "p");
  CHECK(status == fleetctl::exit_done);
  CHECK(asked == std::vector<Keys>{{key}, {key}, {key}});
  CHECK(rests == 2);
  CHECK(said ==
        std::vector<std::string>{"running, step 1 fetch of 1", "completed, step 1 fetch of 1"});
}

TEST_CASE("a plan that is not there, or halts, is not waited for any longer") {
  const auto status_of = [](const std::vector<KeyValue>& found) {
    return fleetctl::wait_for_plan({.read = [&found](const Keys&) -> Reply<Reading> {
                                      return Reading{1, found};
                                    },
                                    .rest = [] { FAIL("it goes on waiting"); },
                                    .say = [](const std::string&) {}},
                                   "p");
  };
  const std::string key = key_of(KeyKind::plan, {"p"});
  const Plan halted{.version = "2",
                    .steps = {{.name = "fetch", .kind = StepClass::any, .hook = "storage"}},
                    .state = PlanState::halted};
  CHECK(status_of({}) == fleetctl::exit_refused);
  CHECK(status_of({record(key, "damaged")}) == fleetctl::exit_refused);
  CHECK(status_of({record(key, write_record(halted))}) == fleetctl::exit_failed);
}

// ---- the output of `fleetctl status`

Reading cell_of(int nodes) {
  Reading reading{.revision = 9};
  const auto add = [&reading](const std::string& key, const std::string& value) {
    reading.found.push_back(record(key, value));
  };
  add(key_of(KeyKind::desired, {"agent"}), R"({"version":"2"})");
  for (int i = 1'000; i < 1'000 + nodes; ++i) {
    const std::string id = "n" + std::to_string(i);
    add(key_of(KeyKind::node_info, {id}), "{}");
    if (i % 2 == 0) add(key_of(KeyKind::node_instance, {id, "a"}), "{}");
  }
  const auto identity = [](UnixSeconds until) {
    return write_record(Identity{.certificates = {{.serial = "0A", .expires = until}}});
  };
  add(key_of(KeyKind::identity, {"node", "n1000"}), identity(10 * day_s));
  add(key_of(KeyKind::identity, {"controller", "c1"}), identity(20 * day_s));
  add(key_of(KeyKind::identity, {"operator", "anna"}), identity(90 * day_s));
  return reading;
}

TEST_CASE("status for programs has numbers about the store, and no records") {
  const std::string text = fleetctl::status_json(cell_of(10), {3, 2}, 0);
  const auto tree = parse_tree(text);
  REQUIRE(tree);
  const auto number = [&tree](const char* of, const char* name) {
    return tree.value().find(of)->find(name)->text;
  };
  CHECK(number("members", "all") == "3");
  CHECK(number("members", "good") == "2");
  CHECK(number("nodes", "all") == "10");
  CHECK(number("nodes", "reporting") == "5");
  CHECK(number("certificates", "ending") == "2");
  CHECK(tree.value().find("desired")->text_of("agent") == "2");
  CHECK_FALSE(tree.value().is_true("stopped"));
  CHECK(fleetctl::status_json(cell_of(1'000), {3, 2}, 0).size() < text.size() + 10);
}

TEST_CASE("status says why no node moves to a desired version, and how it goes on") {
  const Upgrade at_gate{.phase = UpgradePhase::cutover_ready, .to = "2", .changed = "12:00"};
  Reading reading;
  const auto line = [&reading](const Desired& wish) {
    reading.found.push_back(record(key_of(KeyKind::desired, {"shop"}), write_record(wish)));
    const auto lines = fleetctl::wish_lines(reading, nodes_in(reading), WindowView({}));
    reading.found.pop_back();
    return lines.size() == 1 ? lines.front() : "";
  };
  CHECK(line({.version = "2"}) == "desired: shop 2");
  CHECK(line({.version = "2", .refused = "rollout/r is undone"}) ==
        "desired: shop 2, but moves no node: rollout/r is undone");
  CHECK(line({.version = "2", .why = "plan/p", .pending = true}) ==
        "desired: shop 2, but moves no node before plan/p has migrated");

  reading.found.push_back(
      record(key_of(KeyKind::node_upgrade, {"n1", "shop"}), write_record(at_gate)));
  CHECK(line({.version = "2"}) ==
        "desired: shop 2; these nodes do not report, and their new version waits to be activated: "
        "n1 (since 12:00); to go on without them: fleetctl desire shop 2");
  CHECK(line({.version = "3"}) == "desired: shop 3");
  reading.found.push_back(record(key_of(KeyKind::node_instance, {"n1", "i"}), "{}"));
  CHECK(line({.version = "2"}) == "desired: shop 2");
}

TEST_CASE("a node at its gate is shown with what it waits for, or with who moves it") {
  Reading cell;
  const auto add = [&cell](const std::string& key, const std::string& value, Revision modified) {
    cell.found.push_back({.key = "/fleet/v1/" + key, .value = value, .modified = modified});
    put_in_order(cell);
  };
  const auto waits = [&cell] {
    return fleetctl::waits_at_gate(nodes_in(cell).front(), cell, WindowView({}));
  };
  add("desired/shop", R"({"version":"2"})", 5);
  add("controller/c1", "{}", 1);
  add("controller/c1/life/i", "{}", 1);
  add("driver/desired", "{}", 1);
  add("node/n1/versions", R"({"shop":"1"})", 6);
  add("node/n1/active", R"({"instance":"i"})", 6);
  add("node/n1/instance/i", R"({"ready":true})", 6);
  add("node/n1/desired/shop", R"({"version":"2","trace":"desired-5"})", 7);
  CHECK(waits().empty());
  add("node/n1/upgrade/shop", R"({"phase":"cutover-ready","attempt":"desired.7.7","to":"2"})", 8);
  CHECK(waits().empty());

  SECTION("a stop") {
    add("stop", "{}", 9);
    CHECK(waits() == fleetctl::Waits{{"shop", "the end of the stop (fleetctl stop off)"}});
    const auto page = fleetctl::node_page(nodes_in(cell).front(), waits());
    CHECK(page.back() == "  waits     shop for the end of the stop (fleetctl stop off)");
  }
  SECTION("no controller") {
    std::erase_if(cell.found, [](const KeyValue& one) {
      return one.key.find("/life/") != one.key.npos || one.key.find("driver") != one.key.npos;
    });
    CHECK(waits() == fleetctl::Waits{{"shop", "a controller: c1 is silent"}});
  }
  SECTION("a refused version") {
    std::erase_if(cell.found,
                  [](const KeyValue& one) { return one.key == "/fleet/v1/desired/shop"; });
    add("desired/shop", R"({"version":"2","refused":"it has failed on n2"})", 9);
    CHECK(waits() ==
          fleetctl::Waits{{"shop", "a person, since 2 moves no node: it has failed on n2"}});
  }
  SECTION("a claim") {
    add("node/n1/claim/shop", R"({"by":"rollout/r1"})", 9);
    CHECK(waits().empty());
    const auto page = fleetctl::node_page(nodes_in(cell).front(), waits());
    CHECK(page.back() == "  claimed   shop by rollout/r1: no desired version moves it meanwhile");
  }
}

TEST_CASE("status names the nodes that a rollout has moved away from the desired version") {
  Reading reading;
  const auto add = [&reading](const std::string& key, const std::string& value, Revision modified) {
    reading.found.push_back({.key = "/fleet/v1/" + key, .value = value, .modified = modified});
  };
  add("desired/shop", R"({"version":"1"})", 5);
  for (const std::string node : {"n1", "n2", "n3", "n4"})
    add("node/" + node + "/versions", R"({"shop":"2"})", 6);
  const std::string moved = R"({"version":"2","why":"rollout/r"})";
  add("node/n1/desired/shop", moved, 7);
  add("node/n2/desired/shop", moved, 8);
  add("node/n3/desired/shop", moved, 4);  // older than the cell's desired version
  add("node/n4/desired/shop", R"({"version":"2","pinned":true})", 9);
  const auto line = [&reading] {
    return fleetctl::wish_lines(reading, nodes_in(reading), WindowView({})).front();
  };

  CHECK(line() ==
        "desired: shop 1; n1, n2 keep the version of a later rollout; to move them, too: "
        "fleetctl desire shop 1 --downgrade");
  reading.found[0].value = R"({"version":"3"})";
  CHECK(line().ends_with("; to move them, too: fleetctl desire shop 3"));
  reading.found[0].value = R"({"version":"2"})";
  CHECK(line() == "desired: shop 2");
}

TEST_CASE("status names the revoked until their connections have ended") {
  Reading reading = cell_of(1);
  const auto line = [&reading]() -> std::string {
    for (const std::string& one : fleetctl::care_lines(reading, {}, 0))
      if (one.starts_with("not yet shut out")) return one;
    return "";
  };
  CHECK(line().empty());
  Identity eve{.revoked = "2026-01-01T00:00:00Z"};
  const std::string key = key_of(KeyKind::identity, {"operator", "eve"});
  reading.found.push_back(record(key, write_record(eve)));
  CHECK(line() ==
        "not yet shut out: operator:eve: open connections to the store last until each member is "
        "restarted (fleetctl revoke --restart)");
  CHECK(fleetctl::certificates_in(reading, 0).not_yet == 1);
  eve.shut_out = "2026-01-01T00:01:00Z";
  reading.found.back() = record(key, write_record(eve));
  CHECK(line().empty());
  CHECK(fleetctl::certificates_in(reading, 0).not_yet == 0);
  CHECK(fleetctl::certificates_in(reading, 0).revoked == 1);
}

TEST_CASE("status names the controllers and people whose certificates end soon, and no nodes") {
  std::vector<std::string> named;
  for (const std::string& line : fleetctl::care_lines(cell_of(1), {}, 0))
    if (line.starts_with("enrol ")) named.push_back(line);
  CHECK(named == std::vector<std::string>{
                     "enrol controller:c1 anew: its certificate is renewed by nobody, and ends: "
                     "20 days"});
}

// ---- a person's own certificate

struct Files : TemporaryDirectory {
  // Makes a key NAME.key and a certificate NAME.pem. The authority `authority` signs the
  // certificate; if `authority` is empty, the certificate is self-signed.
  void make(const std::string& name, const std::string& authority = "") const {
    std::string command = "cd '" + path() +
                          "' && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 "
                          "-nodes -days 2 -subj /CN=" +
                          name + " -keyout " + name + ".key -out " + name + ".pem";
    if (!authority.empty()) {
      command += " && openssl x509 -in " + name + ".pem -CA " + authority + ".pem -CAkey " +
                 authority + ".key -CAcreateserial -days 2 -out " + name + ".pem";
    }
    REQUIRE(std::system((command + " 2>'" + (*this / "said") + "' >&2").c_str()) == 0);
  }
};

TEST_CASE("an expired, early, foreign or missing certificate is explained in words") {
  const Files files;
  files.make("ca");
  files.make("other");
  files.make("anna", "ca");
  files.make("berta", "other");
  const UnixSeconds now = std::time(nullptr) + 60;
  const auto why = [&](const std::string& who, UnixSeconds at) {
    return fleetctl::why_not_let_in({.authority = files / "ca.pem", .own = files / who, .key = ""},
                                    at);
  };
  const auto says = [](const std::string& text, const std::string& part) {
    INFO(text);
    return text.find(part) != std::string::npos;
  };
  CHECK(why("anna.pem", now) == "");
  CHECK(fleetctl::why_not_let_in({}, now) == "");
  CHECK(says(why("anna.pem", now - 2 * day_s), "anna.pem begins at "));
  CHECK(says(why("anna.pem", now + 3 * day_s), "anna.pem ended at "));
  CHECK(says(why("berta.pem", now), "berta.pem is not signed by the authority of "));
  CHECK(says(why("anna.key", now), "anna.key is none in PEM"));
  CHECK(says(why("absent.pem", now), "your certificate: "));
  CHECK(says(why("absent.pem", now), "absent.pem: No such file or directory"));
  const auto with_key = [&](const std::string& key) {
    return fleetctl::why_not_let_in(
        {.authority = files / "ca.pem", .own = files / "anna.pem", .key = files / key}, now);
  };
  CHECK(with_key("anna.key") == "");
  CHECK(says(with_key("other.key"), "other.key is not that of your certificate "));
  CHECK(says(with_key("absent.key"), "your key: "));
}

TEST_CASE("options that a cell with certificates needs, and that are missing, are named") {
  const fleet::Certificates all{.authority = "ca.pem", .own = "anna.pem", .key = "anna.key"};
  const std::vector<std::string> https = {"https://a:2379", "https://b:2379"};
  CHECK(fleetctl::why_not_asked(https, all) == "");
  CHECK(fleetctl::why_not_asked({"http://a:2379"}, {}) == "");
  fleet::Certificates lacking = all;
  lacking.authority = "";
  CHECK(fleetctl::why_not_asked(https, lacking) == "--ca, or FLEET_CA, is missing");
  lacking = {.authority = "ca.pem", .own = "", .key = ""};
  CHECK(fleetctl::why_not_asked(https, lacking) == "--cert, or FLEET_CERT, is missing");
  lacking.own = "anna.pem";
  CHECK(fleetctl::why_not_asked(https, lacking) == "--key, or FLEET_KEY, is missing");
  CHECK(fleetctl::why_not_asked({"a:2379"}, all) ==
        "--endpoint: a:2379 does not begin with https://, so no certificate is used");
}

TEST_CASE("an authority that the store does not trust is told by the user's own files") {
  const Files files;
  files.make("ca");
  files.make("clients");
  files.make("other");
  files.make("anna", "ca");
  files.make("carla", "clients");
  const auto why = [&](const std::string& own, const std::string& signer) {
    return fleet::why_other_authority({.authority = files / "ca.pem", .own = files / own},
                                      files / signer);
  };
  CHECK(why("anna.pem", "ca.pem") == "");
  CHECK(why("anna.pem", "other.pem") ==
        files / "other.pem" + std::string(" is another authority than that of --ca, ") +
            files / "ca.pem" + ", so the store would refuse what it signs");
  // The authority that signs clients' certificates may differ from the authority of --ca, which has
  // signed the store's certificate. So fleetctl must accept it.
  CHECK(why("carla.pem", "clients.pem") == "");
  // While a cell replaces its authority, the file of --ca has the old and the new authority.
  // fleetctl must accept both of them.
  REQUIRE(std::system(
              ("cat '" + (files / "other.pem") + "' >>'" + (files / "ca.pem") + "'").c_str()) == 0);
  CHECK(why("anna.pem", "other.pem") == "");
  CHECK(fleet::why_other_authority({}, files / "other.pem") == "");
}

// ---- private keys: for which of them fleetctl signs a certificate

TEST_CASE("a key that is weak, or on a curve that nobody knows, is not signed, in words") {
  struct Case {
    std::string kind;
    std::string why;
  };
  const Case one = GENERATE(
      values<Case>({{"rsa:1024", "RSA of 1024 bits; "},
                    {"ec -pkeyopt ec_paramgen_curve:secp256k1", "on the curve secp256k1; "},
                    {"ec -pkeyopt ec_paramgen_curve:P-224", "on the curve secp224r1; "},
                    {"ec -pkeyopt ec_paramgen_curve:P-256 -pkeyopt ec_param_enc:explicit", "on "},
                    {"ed25519", ""},
                    {"ec -pkeyopt ec_paramgen_curve:P-384", ""},
                    {"rsa:2048", ""}}));
  const Files files;
  files.make("ca");
  REQUIRE(std::system(("openssl req -new -newkey " + one.kind + " -nodes -subj /CN=x -keyout '" +
                       (files / "key") + "' -out '" + (files / "csr") + "' >'" + (files / "said") +
                       "' 2>&1")
                          .c_str()) == 0);
  const Signed made =
      sign({.request = content_of_file(files / "csr"),
            .signer = {content_of_file(files / "ca.pem"), content_of_file(files / "ca.key")},
            .name = "node:n1",
            .days = 1});
  INFO(one.kind << ": " << made.error);
  CHECK(made.certificate.empty() != one.why.empty());
  CHECK((one.why.empty() ? made.error.empty()
                         : made.error.starts_with("the request: its key is " + one.why)));
}

// ---- the rights in the store that each role has

TEST_CASE("a controller reads all, and writes no record that lets somebody in") {
  for (const std::string kind : {"node", "viewer", "operator", "publisher", "controller"})
    CHECK_FALSE(fleet::permissions_of(kind, "x").all);
  CHECK(fleet::permissions_of("admin", "x").all);
  const Permissions controller = fleet::permissions_of("controller", "x");
  // An earlier version of fleetctl let controllers write all keys. In the store, a new right for a
  // range of keys replaces an older one for the same range. So controllers lose the right to write
  // all keys when they get the right to read all keys.
  CHECK(controller.reads == std::vector<Keys>{{std::string(key_root), true}});
  const auto may_write = [&controller](const std::string& key) {
    return std::any_of(controller.writes.begin(), controller.writes.end(),
                       [&key](const Keys& keys) { return keys.have(key); });
  };
  CHECK_FALSE(may_write(key_of(KeyKind::epoch)));
  for (const KeyKind kind : {KeyKind::token, KeyKind::approval, KeyKind::signer})
    CHECK_FALSE(may_write(key_of(kind, {"0a"})));
  CHECK_FALSE(may_write(key_of(KeyKind::identity, {"node", "n1"})));
  for (const KeyKind kind : {KeyKind::rollout, KeyKind::plan, KeyKind::join, KeyKind::driver})
    CHECK(may_write(key_of(kind, {"0a"})));
  for (const KeyKind kind : {KeyKind::stop, KeyKind::settings, KeyKind::notified})
    CHECK(may_write(key_of(kind)));
  CHECK(may_write(key_of(KeyKind::place, {"site", "0a", "0"})));
}

// ---- texts from nodes, made safe for fleetctl's output and for logs

using fleetctl::table;
using upgraderctl::shown_json;

TEST_CASE("a table shows what nodes have written escaped, and in columns of their own") {
  const auto lines = table(
      {{"NODE", "NEWS"}, {"n1\n$ FAKE", "\x1b[31mred \u009b31m\u202e\xff\r"}, {"n2", "well"}});

  CHECK(lines == std::vector<std::string>{"NODE        NEWS",
                                          "n1\\n$ FAKE  \\x1b[31mred \\u{9b}31m\\u{202e}\\xff\\r",
                                          "n2          well"});
}

TEST_CASE("no cell is so wide that it pushes the others away") {
  const auto lines = table({{std::string(60'000, 'x'), "a"}, {"n2", std::string(60'000, 'y')}});

  CHECK(lines[0] == std::string(fleetctl::cell_columns_max - 3, 'x') + "...  a");
  CHECK(lines[1].size() == fleetctl::cell_columns_max + 2 + fleetctl::last_cell_columns_max);
}

TEST_CASE("JSON is the same to whoever reads it, and no command to a terminal") {
  const std::string text = "{\"a\":\"\u009b\u202e\U000e0041\u00e4\x7f\"}";

  CHECK(shown_json(text) == "{\"a\":\"\\u009b\\u202e\\udb40\\udc41\u00e4\\u007f\"}");
  CHECK(fleet::parse_tree(shown_json(text)).value() == fleet::parse_tree(text).value());
  CHECK(shown_json("{\r\n\t\"a\":\"\xff\"}") == "{ \n\t\"a\":\"\\ufffd\"}");
}

TEST_CASE("records that are not JSON are texts in fleetctl's JSON") {
  const std::string root(fleet::key_root);
  const std::string json =
      fleetctl::as_json({.revision = 7,
                         .found = {{.key = root + "stop", .value = "\xff{\"a\":1"},
                                   {.key = root + "epoch", .value = R"({"v":1,"v":2})"},
                                   {.key = root + "settings", .value = R"({"v":1})"}}});

  const auto tree = fleet::parse_tree(shown_json(json));
  REQUIRE(tree);
  CHECK(tree.value().find("records")->text_of("stop") == "\ufffd{\"a\":1");
  CHECK(tree.value().find("records")->text_of("epoch") == R"({"v":1,"v":2})");
  CHECK(tree.value().find("records")->find("settings")->is_object());
}

TEST_CASE("a line of a log is one line, escaped and cut") {
  CHECK(fleet::log_text("a version \x1b[2J\nfleet-agent: forged \u009b") ==
        "a version \\x1b[2J\\nfleet-agent: forged \\u{9b}");
  CHECK(fleet::log_text(std::string(70'000, 'x')).size() == fleet::log_columns_max);
}

TEST_CASE("a log that nobody reads keeps no program waiting") {
  constexpr int more_lines_than_fit = 100;
  constexpr unsigned patience_s = 60;
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGALRM, SIG_DFL);
    ::alarm(patience_s);
    ::dup2(ends[1], STDERR_FILENO);
    for (int i = 0; i < more_lines_than_fit; ++i)
      fleet::log_line("fleet-agent", std::string(fleet::log_columns_max, 'x'));
    ::_exit(0);
  }
  REQUIRE(child > 0);
  int status = -1;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  for (const int end : ends)
    ::close(end);
}

}  // namespace

}  // namespace fleetctl_test
