// Tests how a cell is set up and checked: the options of `fleetctl cell init`, the files for each
// machine, and the findings of `fleetctl cell check`.
#include <algorithm>
#include <catch2/catch.hpp>

#include "fleet/cell/cell_check.h"
#include "fleet/cell/cell_terms.h"
#include "fleet/cell/machine_files.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace cell_setup_test {

namespace {

using namespace fleet;

constexpr UnixSeconds day_s = 86'400;
constexpr UnixSeconds now = 1'800'000'000;  // this is 2027-01-15T08:00:00Z

CellTerms two() {
  return {.members = {{"m1", "192.0.2.1"}, {"m2", "2001:db8::2"}},
          .controllers = {{"m1", "192.0.2.1"}, {"c9", "192.0.2.9"}}};
}

// ---- the file with a cell's terms: its members of etcd and its controllers

TEST_CASE("the terms of a cell are read as they were written, and no other text") {
  const std::string text = cell_text(two());
  CHECK(text ==
        "member m1 192.0.2.1\nmember m2 2001:db8::2\ncontroller m1 192.0.2.1\n"
        "controller c9 192.0.2.9\n");
  const auto read = cell_in(text);
  REQUIRE(read);
  CHECK(cell_text(read.value()) == text);
  CHECK(cell_in("member m1 192.0.2.1\nnode n1 192.0.2.2\n").reason() ==
        "line 2 is not `member NAME ADDRESS`, `controller NAME ADDRESS` or `signer NAME`");
  CHECK_FALSE(cell_in("member m1\n"));
  CHECK_FALSE(cell_in("member  192.0.2.1\n"));
  CHECK(cell_in("").reason() == "a cell needs at least one --member");
}

TEST_CASE("a machine is given as its name and its address") {
  const auto machine = machine_in("m1=::1");
  REQUIRE(machine);
  CHECK(std::pair{machine->name, machine->address} ==
        std::pair<std::string, std::string>{"m1", "::1"});
  for (const std::string_view wrong : {"", "m1", "m1=", "=::1", "="}) {
    CHECK_FALSE(machine_in(wrong));
  }
}

TEST_CASE("a cell keeps its terms, but for a controller that is added") {
  CHECK(cell_text(merged(std::nullopt, two()).value()) == cell_text(two()));
  CHECK(cell_text(merged(two(), {}).value()) == cell_text(two()));
  CHECK(cell_text(merged(two(), {.controllers = {{"c3", "192.0.2.3"}}}).value()) ==
        cell_text(two()) + "controller c3 192.0.2.3\n");
  CHECK(cell_text(merged(two(), {.signers = {"s1"}}).value()) == cell_text(two()) + "signer s1\n");
  CHECK(cell_in(cell_text(two()) + "signer s1\n").value().signers ==
        std::vector<std::string>{"s1"});
  CHECK_FALSE(cell_in(cell_text(two()) + "signer S\n"));
  const std::string advice =
      "; fleet(7), Replacing a member, says how a store gets a member with another name or address";
  CHECK(merged(two(), {.members = {{"m3", "192.0.2.3"}}}).reason() ==
        "m3 is no member of this cell" + advice);
  CHECK(merged(two(), {.members = {{"m1", "192.0.2.3"}}}).reason() ==
        "m1 has the address 192.0.2.1 in this cell, not 192.0.2.3" + advice);
  CHECK(merged(two(), {.controllers = {{"c9", "192.0.2.3"}}}).reason() ==
        "c9 has the address 192.0.2.9 in this cell, not 192.0.2.3");
  CHECK(merged(std::nullopt, {}).reason() == "a cell needs at least one --member");
}

// ---- the files for each machine

std::string text_of(const std::vector<MachineFile>& files, const std::string& path) {
  for (const MachineFile& file : files) {
    if (file.path == path) return file.content;
  }
  return "";
}

TEST_CASE("a machine gets the files of its parts, and the README names the packages of these") {
  const auto content = [](const std::string& file) { return "<" + file + ">"; };
  const auto both = machine_files(two(), "m1", content);
  const auto member = machine_files(two(), "m2", content);
  const auto controller = machine_files(two(), "c9", content);

  CHECK(machines_of(two()) == std::vector<std::string>{"m1", "m2", "c9"});
  CHECK(text_of(both, "etc/fleet/README").find("install etcd-server upgrader-fleet\n") !=
        std::string::npos);
  CHECK(text_of(member, "etc/fleet/README").find("install etcd-server\n") != std::string::npos);
  CHECK(text_of(controller, "etc/fleet/README").find("install upgrader-fleet\n") !=
        std::string::npos);
  CHECK(text_of(member, "etc/fleet/m2-members.key") == "<m2-members.key>");
  CHECK(
      text_of(member, "etc/default/etcd")
          .find("ETCD_INITIAL_CLUSTER=m1=https://192.0.2.1:2380,m2=https://[2001:db8::2]:2380\n") !=
      std::string::npos);
  CHECK(text_of(controller, "etc/fleet/controller.key") == "<c9-controller.key>");
  CHECK(text_of(controller, "etc/default/fleet-controller")
            .starts_with("FLEET_CONTROLLER_OPTIONS=\"--name=c9 --endpoint=https://192.0.2.1:2379 "
                         "--endpoint=https://[2001:db8::2]:2379 --http=192.0.2.9:8443 "));
  CHECK(text_of(controller, "etc/default/etcd").empty());
  CHECK(text_of(member, "etc/default/fleet-controller").empty());
}

TEST_CASE("the authorities' keys are in no archive") {
  std::vector<std::string> asked;
  for (const std::string& machine : machines_of(two())) {
    static_cast<void>(machine_files(two(), machine, [&asked](const std::string& file) {
      asked.push_back(file);
      return file;
    }));
  }
  for (const char* secret : {"ca.key", "members.key", "root.key"}) {
    CHECK(std::find(asked.begin(), asked.end(), secret) == asked.end());
  }
  CHECK(std::find(asked.begin(), asked.end(), "ca.pem") != asked.end());
}

TEST_CASE("the machine that signs has the keys of the authority and of root, and takes snapshots") {
  CellTerms terms = two();
  terms.signers = {"s1"};
  const auto files =
      machine_files(terms, "s1", [](const std::string& file) { return "<" + file + ">"; });

  CHECK(text_of(files, "etc/fleet/ca.key") == "<ca.key>");
  CHECK(text_of(files, "etc/fleet/root.key") == "<root.key>");
  CHECK(text_of(files, "etc/default/fleet-signer") ==
        "FLEET_SIGNER_OPTIONS=\"--name=s1 --endpoint=https://192.0.2.1:2379 "
        "--endpoint=https://[2001:db8::2]:2379 --snapshots=/var/lib/fleet-signer\"\n");
}

TEST_CASE("a directory's name is quoted for the shell") {
  const std::string text = shell_environment(two(), "/srv/it's", "root");
  CHECK(text.find("FLEET_CA='/srv/it'\\''s/ca.pem'\n") != std::string::npos);
  CHECK(text.find("FLEET_ENDPOINT='https://192.0.2.1:2379,https://[2001:db8::2]:2379'\n") !=
        std::string::npos);
}

// ---- `fleetctl cell check` in a cell without faults

template <class Record>
KeyValue record(const std::string& key, const Record& value) {
  return {.key = key, .value = write_record(value), .modified = 1};
}

// Returns the facts that `fleetctl cell check` finds in a cell without faults.
CellFacts facts() {
  return {.members = {{"https://m1", ""}, {"https://m2", ""}, {"https://m3", ""}},
          .records =
              Reading{.revision = 9,
                      .found = {record(key_of(KeyKind::driver, {"desired"}), DriverRecord{"c1"}),
                                record(key_of(KeyKind::identity, {"operator", "anna"}),
                                       Identity{.certificates = {{.serial = "1",
                                                                  .issued = now,
                                                                  .expires = now + 90 * day_s}}}),
                                record(key_of(KeyKind::signer, {"s1"}),
                                       SignerAtWork{.takes_snapshots = true, .snapshot = now - 60}),
                                record(key_of(KeyKind::node_instance, {"n1", "i1"}),
                                       Instance{.version = "1.0.0"})}},
          .own = Validity{now, now + 90 * day_s},
          .authority = Validity{now, now + 900 * day_s},
          .now = now};
}

std::vector<std::string> wrong(const CellFacts& facts) {
  std::vector<std::string> texts;
  for (const CheckLine& line : judge_cell(facts)) {
    CHECK(line.is_well == line.advice.empty());
    if (!line.is_well) texts.push_back(line.text);
  }
  return texts;
}

CheckLine line_about(const CellFacts& facts, const std::string& part) {
  for (const CheckLine& line : judge_cell(facts)) {
    if (line.text.starts_with(part + ": ")) return line;
  }
  return {};
}

CellFacts with_signer(const SignerAtWork& signer) {
  CellFacts one = facts();
  one.records->found.push_back(record(key_of(KeyKind::signer, {"s1"}), signer));
  return one;
}

TEST_CASE("in a cell in which all is well, each part has its line") {
  CHECK(wrong(facts()).empty());
  std::vector<std::string> parts;
  for (const CheckLine& line : judge_cell(facts())) {
    parts.push_back(line.text.substr(0, line.text.find(':')));
  }
  CHECK(parts == std::vector<std::string>{"members", "clock", "certificates", "controllers",
                                          "signers", "snapshots", "joins", "nodes"});
}

TEST_CASE("a member that does not answer is named, and so is a lost majority") {
  CellFacts some = facts();
  some.members[1].trouble = "refused";
  CHECK(wrong(some) == std::vector<std::string>{"member https://m2: refused"});
  some.members[2].trouble = "has no leader";
  CHECK(wrong(some) == std::vector<std::string>{"member https://m2: refused",
                                                "member https://m3: has no leader",
                                                "members: 1 of 3 answer and have a leader"});
}

TEST_CASE("a clock that is behind the events of the cell is noticed") {
  CellFacts late = facts();
  late.records->found.push_back(
      record(key_of(KeyKind::event, {"000000000001"}), FleetEvent{.time = "2027-01-15T08:02:00Z"}));
  CHECK(wrong(late) ==
        std::vector<std::string>{
            "clock: the newest event is 120 seconds later than this machine's clock"});
  late.now += 60;
  CHECK(wrong(late).empty());
}

TEST_CASE("the clocks of members and controllers are compared with this machine's") {
  CellFacts some = facts();
  some.servers = {{.url = "https://m1", .clock = now + 60, .asked = now},
                  {.url = "https://m2", .trouble = "refused"}};
  some.controllers = {{.url = "https://c1", .clock = now - 40, .asked = now + 20}};
  CHECK(line_about(some, "clock").text ==
        "clock: those of 2 servers differ from this machine's by a minute at most");
  some.servers[0].clock = now + 61;
  some.controllers[0].clock = now - 41;
  CHECK(wrong(some) ==
        std::vector<std::string>{"clock: that of https://m1 is 61 seconds ahead of this machine's",
                                 "clock: that of https://c1 is 61 seconds behind this machine's"});
}

TEST_CASE("certificates of servers and of the signer that end soon are named") {
  CellFacts old =
      with_signer({.takes_snapshots = true, .snapshot = now, .certificate_ends = now + 2 * day_s});
  old.servers = {{.url = "https://m1", .certificate = Validity{now, now + 29 * day_s}}};
  old.controllers = {{.url = "https://c1", .certificate = Validity{now, now + 90 * day_s}},
                     {.url = "https://c2", .trouble = "refused"}};
  CHECK(wrong(old) ==
        std::vector<std::string>{"certificate: that of the server https://m1 ends in 29 days",
                                 "certificate: that of the signer s1 ends in 2 days",
                                 "controller https://c2: refused"});
}

TEST_CASE("certificates that end soon, or have ended, are named") {
  CellFacts old = facts();
  old.own->until = now + 29 * day_s;
  old.authority->until = now;
  old.records->found.push_back(
      record(key_of(KeyKind::identity, {"controller", "c1"}),
             Identity{.certificates = {{.serial = "2", .issued = now, .expires = now + day_s}}}));
  CHECK(wrong(old) == std::vector<std::string>{"certificate: that of this command ends in 29 days",
                                               "certificate: that of the authority has ended",
                                               "certificate: that of controller:c1 ends in 1 day"});
}

TEST_CASE(
    "an authority is reported a year before it expires, since all machines have its certificate") {
  CellFacts old = facts();
  old.authority->until = now + 365 * day_s;
  CHECK(wrong(old).empty());
  old.authority->until -= 1;
  CHECK(wrong(old) ==
        std::vector<std::string>{"certificate: that of the authority ends in 364 days"});
}

TEST_CASE(
    "the check names missing controllers, signers and nodes, and records that cannot be read") {
  CellFacts empty = facts();
  empty.records->found.clear();
  CHECK(wrong(empty) == std::vector<std::string>{
                            "controllers: none drives the cell",
                            "signers: none is at work; no machine joins, and no snapshot is taken",
                            "nodes: there is none yet"});
  CellFacts closed = facts();
  closed.records = std::nullopt;
  closed.unread = "permission denied";
  CHECK(wrong(closed) == std::vector<std::string>{"records: permission denied"});
}

TEST_CASE("a controller that is gone is named, and those that are at work") {
  CellFacts some = facts();
  const auto add = [&some](const std::string& key) {
    some.records->found.push_back({.key = std::string(key_root) + key, .value = "{}"});
  };
  add("controller/c1");
  add("controller/c1/life/p");
  add("controller/c2");
  CHECK(wrong(some) == std::vector<std::string>{"controllers: c2 is silent"});
  CHECK(line_about(some, "controllers").advice.ends_with("fleetctl forget c2 --controller"));
  add("controller/c2/life/p");
  CHECK(line_about(some, "controllers").text == "controllers: c1 drives the cell, c2 waits");
}

TEST_CASE("a full store is named, with the commands that make room") {
  CellFacts some = facts();
  some.members[1].is_full = true;
  CHECK(line_about(some, "store") ==
        CheckLine{false, "store: full (NOSPACE), and takes no more writes: https://m2",
                  "etcdctl compact 9; etcdctl defrag; etcdctl alarm disarm"});
  CHECK(wrong(some).size() == 1);
}

TEST_CASE("a node whose renewal is late is named while it reports, and not when it is gone") {
  CellFacts some = facts();
  const Identity late{
      .certificates = {{.serial = "3", .issued = now - 90 * day_s, .expires = now + day_s}}};
  some.records->found.push_back(record(key_of(KeyKind::identity, {"node", "n1"}), late));
  CHECK(wrong(some) ==
        std::vector<std::string>{"certificates: overdue for renewal: 1 node, such as n1"});
  std::erase_if(some.records->found, [](const KeyValue& one) {
    return one.key == key_of(KeyKind::node_instance, {"n1", "i1"});
  });
  CHECK(wrong(some) == std::vector<std::string>{"nodes: there is none yet"});
}

TEST_CASE("snapshots that are old, or that nobody takes, are reported with the reason") {
  CHECK(line_about(facts(), "snapshots").text == "snapshots: the last is 1 minute old");
  CHECK(wrong(with_signer({})) == std::vector<std::string>{"snapshots: no fleet-signer takes any"});
  CHECK(wrong(with_signer({.takes_snapshots = true, .trouble = "/s: No space left"})) ==
        std::vector<std::string>{"snapshots: none has been taken; s1: /s: No space left"});
  SignerAtWork old{.takes_snapshots = true, .snapshot = now - 2 * 3'600};
  CHECK(wrong(with_signer(old)).empty());
  old.snapshot -= 1;
  old.trouble = "no";
  CHECK(wrong(with_signer(old)) ==
        std::vector<std::string>{"snapshots: the last is 120 minutes old; s1: no"});
}

TEST_CASE("a machine that waits for a person is named, with the command that lets it in") {
  const std::string fingerprint(32, 'a');
  CellFacts some = facts();
  const auto wait = [&some](const std::string& key, JoinRequest request) {
    some.records->found.push_back(record(key_of(KeyKind::join, {key}), request));
  };
  wait(fingerprint, {.node = "n2", .waits = true});
  wait("0b", {.node = "n3"});  // no signer has handled this request yet
  wait("0c", {.node = "n4", .waits = true, .refused = "no"});

  CHECK(line_about(some, "joins") ==
        CheckLine{false, "joins: n2 waits for a person",
                  "if the machine shows this fingerprint: fleetctl approve n2 " + fingerprint});

  some.records->found.push_back(record(key_of(KeyKind::approval, {fingerprint}), Approval{}));
  CHECK(line_about(some, "joins").is_well);
  some.records->found.pop_back();

  some.records->found.push_back(record(key_of(KeyKind::identity, {"node", "n2"}), Identity{}));
  CHECK(line_about(some, "joins").text ==
        "joins: n2 waits for a person; the name exists with another key");
  for (int i = 0; i < 11; ++i)
    wait("f" + std::to_string(100 + i), {.node = "m" + std::to_string(i), .waits = true});
  const auto all = wrong(some);
  REQUIRE(all.size() == 11);
  CHECK(all.back() == "joins: 2 more wait for a person");
}

TEST_CASE("a node that should have renewed its certificate is named, and one that waits for that") {
  CellFacts late = facts();
  const auto until = [&late](UnixSeconds expires) {
    late.records->found.push_back(
        record(key_of(KeyKind::identity, {"node", "n1"}),
               Identity{.certificates = {
                            {.serial = "1", .issued = expires - 90 * day_s, .expires = expires}}}));
  };
  until(now + 16 * day_s);
  CHECK(wrong(late).empty());
  until(now + 15 * day_s);
  CHECK(wrong(late) ==
        std::vector<std::string>{"certificates: overdue for renewal: 1 node, such as n1"});
  CellFacts waits = facts();
  waits.records->found.push_back(record(key_of(KeyKind::node_csr, {"n1"}), CertificateRequest{}));
  CHECK(wrong(waits) == std::vector<std::string>{"certificates: the next is awaited by 1 node"});
}

TEST_CASE("orders that keep nodes from moving are named: a stop, and a refused desired version") {
  CellFacts some = facts();
  some.records->found.push_back(
      record(key_of(KeyKind::stop), Stop{.who = "anna", .why = "repair", .since = "noon"}));
  some.records->found.push_back(record(key_of(KeyKind::desired, {"shop"}),
                                       Desired{.version = "1.2.0", .refused = "it died"}));
  some.records->found.push_back(
      record(key_of(KeyKind::desired, {"agent"}), Desired{.version = "1.0.0"}));

  CHECK(wrong(some) ==
        std::vector<std::string>{"stop: nothing may begin; anna ordered the stop at noon: repair",
                                 "desired: shop 1.2.0 moves no node: it died"});
  CHECK(line_about(some, "stop").advice == "fleetctl stop off");
  CHECK(line_about(some, "desired").advice == "to try it again: fleetctl desire shop 1.2.0");
}

TEST_CASE("an epoch that nobody has accepted is named, with the order that accepts it") {
  CellFacts some = facts();
  some.records->found.push_back(record(key_of(KeyKind::epoch), Epoch{.number = 7, .why = "fire"}));

  CHECK(wrong(some) ==
        std::vector<std::string>{"epoch: the store was restored, and no node acts: fire"});
  CHECK(line_about(some, "epoch").advice ==
        "when no rollout is under way any more: fleetctl accept-epoch");
  some.records->found.back() = record(key_of(KeyKind::epoch), Epoch{.number = 7, .accepted = true});
  CHECK(wrong(some).empty());
}

TEST_CASE("nodes that do not report are counted") {
  CellFacts silent = facts();
  silent.records->found.push_back(record(key_of(KeyKind::node_info, {"n2"}), NodeInfo{}));
  CHECK(wrong(silent) == std::vector<std::string>{"nodes: 1 of 2 report"});
}

}  // namespace

}  // namespace cell_setup_test
