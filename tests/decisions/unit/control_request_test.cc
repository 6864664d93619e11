// Tests the requests of an operator: each request with all its members, and every kind of malformed
// request.
#include "upgrader/wire/control_request.h"

#include <catch2/catch.hpp>
#include <string>

namespace control_request_test {

namespace {

using namespace upgrader;

ControlRequest read(const std::string& line) {
  const ControlLine decoded = decode_control_line(line);
  INFO(line);
  REQUIRE(std::holds_alternative<ControlRequest>(decoded));
  return std::get<ControlRequest>(decoded);
}

ControlRefused refused(const std::string& line) {
  const ControlLine decoded = decode_control_line(line);
  INFO(line);
  REQUIRE(std::holds_alternative<ControlRefused>(decoded));
  return std::get<ControlRefused>(decoded);
}

ControlRequest about(Deed deed, const std::string& name, const std::string& id,
                     std::optional<std::string> reason = std::nullopt) {
  ControlRequest request{.deed = deed, .name = name, .upgrade = {}, .reason = std::move(reason)};
  request.upgrade.id = id;
  return request;
}

}  // namespace

TEST_CASE("a request for an upgrade needs nothing but its type and its name") {
  CHECK(read(R"({"request":"r1","type":"upgrade"})") == about(Deed::upgrade, "r1", ""));
}

TEST_CASE("a request for an upgrade takes every term that an agent may give") {
  const auto request = read(
      R"({"type":"upgrade","request":"r1","id":"u1","executable":"/bin/true","args":["a",""],)"
      R"("mode":"parallel","gate":"confirm","commit":"healthy","start_timeout_ms":1,)"
      R"("confirm_timeout_ms":2,"stop_timeout_ms":3,"trial_ms":4,"on_unclean_stop":"continue",)"
      R"("fallback":"warm",)"
      R"("not known":[{}]})");

  CHECK(request.name == "r1");
  const agent_protocol::Upgrade& upgrade = request.upgrade;
  CHECK(upgrade.id == "u1");
  CHECK(upgrade.executable == "/bin/true");
  CHECK(upgrade.args == std::vector<std::string>{"a", ""});
  CHECK(upgrade.mode == agent_protocol::Mode::parallel);
  CHECK(upgrade.gate == agent_protocol::Gate::confirm);
  CHECK(upgrade.commit == agent_protocol::CommitRule::healthy);
  CHECK(upgrade.start_timeout_ms == 1);
  CHECK(upgrade.confirm_timeout_ms == 2);
  CHECK(upgrade.stop_timeout_ms == 3);
  CHECK(upgrade.trial_ms == 4);
  CHECK(upgrade.on_unclean_stop == agent_protocol::UncleanStop::carry_on);
  CHECK(upgrade.fallback == agent_protocol::FallbackMode::warm);
}

TEST_CASE("the other requests name the upgrade by its id, where there is one") {
  CHECK(read(R"({"type":"confirm","request":"r","id":"u"})") == about(Deed::confirm, "r", "u"));
  CHECK(read(R"({"type":"cancel","request":"r","id":"u","reason":"why"})") ==
        about(Deed::cancel, "r", "u", "why"));
  CHECK(read(R"({"type":"commit","request":"r","id":"u"})") == about(Deed::commit, "r", "u"));
  CHECK(read(R"({"type":"rollback","request":"r","id":"u"})") == about(Deed::rollback, "r", "u"));
  CHECK(read(R"({"type":"shutdown","request":"r"})") == about(Deed::shutdown, "r", ""));
}

TEST_CASE("members that a request has no use for are not looked at") {
  CHECK(read(R"({"type":"confirm","request":"r","id":"u","reason":5})") ==
        about(Deed::confirm, "r", "u"));
  CHECK(read(R"({"type":"commit","request":"r","id":"u","reason":5})") ==
        about(Deed::commit, "r", "u"));
  CHECK(read(R"({"type":"shutdown","request":"r","id":5,"reason":5})") ==
        about(Deed::shutdown, "r", ""));
}

TEST_CASE("a request that is malformed is refused under its name, with the member that is wrong") {
  CHECK(refused(R"({"type":"confirm","request":"r"})") ==
        ControlRefused{"r", "confirm", "\"id\" is missing"});
  CHECK(refused(R"({"type":"restart","request":"r"})") ==
        ControlRefused{"r", "restart", "this type of request is not known here"});
  CHECK(refused(R"({"type":"commit","request":"r","id":null})").reason.find("\"id\"") == 0);
  CHECK(refused(R"({"type":"commit","request":"r","id":"u","id":"u"})").reason.find("twice") !=
        std::string::npos);
  CHECK(refused(R"({"type":"upgrade","request":"r","executable":"true"})").reason ==
        "\"executable\" is no absolute path");
  CHECK(refused(R"({"type":"upgrade","request":"r","id":""})").reason.find("\"id\"") == 0);
  CHECK(refused(R"({"type":"upgrade","request":"r","trial_ms":1.0})").type == "upgrade");
  CHECK(
      refused(R"({"type":"upgrade","request":"r","gate":"confirm","mode":"sequential"})").reason ==
      R"("gate" is "confirm"; that needs "mode" to be "parallel")");
  CHECK(refused(R"({"type":")" + std::string(100, 'x') + R"(","request":"r"})").type.size() ==
        agent_protocol::about_bytes_max);
}

TEST_CASE("a line that can be answered to nobody is stray") {
  for (const char* line :
       {"", "x", "[]", R"({"request":"r"})", R"({"type":"confirm","id":"u"})",
        R"({"type":1,"request":"r"})", R"({"type":"commit","type":"commit","request":"r"})",
        R"({"type":"commit","request":""})", R"({"type":"commit","request":"r","request":"r"})",
        "{\"type\":\"commit\",\"request\":\"\xc3\xa4\"}"}) {
    INFO(line);
    CHECK(std::holds_alternative<ControlStray>(decode_control_line(line)));
  }
}

}  // namespace control_request_test
