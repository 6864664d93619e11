// Tests the decisions by which a cell is set up and checked: its terms, the files of its machines,
// and the findings of `fleetctl cell check`.
#include <algorithm>
#include <catch2/catch.hpp>

#include "fleet/cell/cell_check.h"
#include "fleet/cell/cell_order.h"
#include "fleet/cell/machine_files.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace cell_setup_test {

namespace {

using namespace fleet;

constexpr UnixSeconds day_s = 86'400;
constexpr UnixSeconds now = 1'800'000'000;  // 2027-01-15T08:00:00Z

CellTerms two() {
  return {.members = {{"m1", "192.0.2.1"}, {"m2", "2001:db8::2"}},
          .controllers = {{"m1", "192.0.2.1"}, {"c9", "192.0.2.9"}}};
}

// ---- terms

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
  CHECK(merged(two(), {.members = {{"m3", "192.0.2.3"}}})
            .reason()
            .starts_with("m3 is no member of this cell; "));
  CHECK(merged(two(), {.members = {{"m1", "192.0.2.3"}}}).reason() ==
        "m1 has the address 192.0.2.1 in this cell, not 192.0.2.3");
  CHECK(merged(two(), {.controllers = {{"c9", "192.0.2.3"}}}).reason() ==
        "c9 has the address 192.0.2.9 in this cell, not 192.0.2.3");
  CHECK(merged(std::nullopt, {}).reason() == "a cell needs at least one --member");
}

// ---- files

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

TEST_CASE("a directory's name is quoted for the shell") {
  const std::string text = shell_environment(two(), "/srv/it's", "root");
  CHECK(text.find("FLEET_CA='/srv/it'\\''s/ca.pem'\n") != std::string::npos);
  CHECK(text.find("FLEET_ENDPOINT='https://192.0.2.1:2379,https://[2001:db8::2]:2379'\n") !=
        std::string::npos);
}

// ---- a cell in which all is well

template <class Record>
KeyValue record(const std::string& key, const Record& value) {
  return {.key = key, .value = write_record(value), .modified = 1};
}

// Returns the facts of a cell in which all is well.
CellFacts facts() {
  return {.members = {{"https://m1", ""}, {"https://m2", ""}, {"https://m3", ""}},
          .records =
              Reading{.revision = 9,
                      .found = {record(key_of(KeyKind::driver, {"desired"}), DriverRecord{"c1"}),
                                record(key_of(KeyKind::identity, {"operator", "anna"}),
                                       Identity{.certificates = {{.serial = "1",
                                                                  .issued = now,
                                                                  .expires = now + 90 * day_s}}}),
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

TEST_CASE("in a cell in which all is well, each part has its line") {
  CHECK(wrong(facts()).empty());
  std::vector<std::string> parts;
  for (const CheckLine& line : judge_cell(facts())) {
    parts.push_back(line.text.substr(0, line.text.find(':')));
  }
  CHECK(parts ==
        std::vector<std::string>{"members", "clock", "certificates", "controllers", "nodes"});
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

TEST_CASE("a cell without controllers or nodes is told what to do, and one that is closed, too") {
  CellFacts empty = facts();
  empty.records->found.clear();
  CHECK(wrong(empty) ==
        std::vector<std::string>{"controllers: none drives the cell", "nodes: there is none yet"});
  CellFacts closed = facts();
  closed.records = std::nullopt;
  closed.unread = "permission denied";
  CHECK(wrong(closed) == std::vector<std::string>{"records: permission denied"});
}

TEST_CASE("nodes that do not report are counted") {
  CellFacts silent = facts();
  silent.records->found.push_back(record(key_of(KeyKind::node_info, {"n2"}), NodeInfo{}));
  CHECK(wrong(silent) == std::vector<std::string>{"nodes: 1 of 2 report"});
}

}  // namespace

}  // namespace cell_setup_test
