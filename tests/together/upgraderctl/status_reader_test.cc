// Tests how upgraderctl reads status.json, whatever the file contains.
#include "agent-protocol/cpp/control/status_reader.h"

#include <catch2/catch.hpp>

namespace status_reader_test {

using namespace upgraderctl;

namespace {

const std::string whole = R"({"upgrader":{"pid":4020,"version":"0.1.0",)"
                          R"("started":"2026-11-22T08:00:00.000Z","protocol":1},)"
                          R"("phase":"trial","since":"2026-11-22T08:00:12.500Z",)"
                          R"("deadline":"2026-11-22T08:00:42.500Z",)"
                          R"("active":{"generation":2,"role":"candidate","pid":4022,)"
                          R"("version":"1.1","executable":"/opt/agent/1.1","args":["-v"],)"
                          R"("started":"2026-11-22T08:00:10Z","silent":true,"status":"ok"},)"
                          R"("upgrade":{"id":"u1","origin":"control","gate":"none",)"
                          R"("trial_ms":30000,"accepted":"2026-11-22T08:00:10Z"},)"
                          R"("endings":[{"id":"u0","outcome":"kept","stage":"start",)"
                          R"("exit_status":3,"errno":"ENOENT","from":{"version":"1.0"},)"
                          R"("to":{"executable":"/opt/agent/1.1"},"gap_us":24}],)"
                          R"("requests":[{"request":"r1","type":"upgrade","ok":true},)"
                          R"({"request":"r0","type":"confirm","ok":false,"reason":"busy"}],)"
                          R"("boot":{"attempts":1,"previous":"/opt/agent/previous"}})";

}  // namespace

TEST_CASE("every member that is shown is read") {
  const auto read = read_status(whole + "\n");

  REQUIRE(read);
  const Status& status = read.value();
  CHECK(status.upgrader.pid == 4020);
  CHECK(status.phase == "trial");
  CHECK(*status.deadline - *status.since == std::chrono::seconds{30});
  REQUIRE(status.active);
  CHECK(status.active->args == std::vector<std::string>{"-v"});
  CHECK(status.active->silent);
  CHECK(status.upgrade->trial_ms == 30'000);
  REQUIRE(find_ending(status, "u0") != nullptr);
  CHECK(find_ending(status, "u0")->error == "ENOENT");
  CHECK(find_ending(status, "u0")->to.executable == "/opt/agent/1.1");
  CHECK(find_answer(status, "r0")->ok == false);
  CHECK(status.boot->previous == "/opt/agent/previous");
  CHECK_FALSE(status.ended);
}

TEST_CASE("a text that the upgrader has cut ends in an ellipsis") {
  const auto read = read_status(
      R"({"upgrader":{"started":"then"},"phase":"ended",)"
      R"("active":{"executable":"/opt/a","cut":true},)"
      R"("endings":[{"id":"u0","reason":"r","from":{"executable":"/opt/b","cut":true},)"
      R"("to":{"executable":"/opt/c"},"cut":false}],"ended":{"reason":"no","cut":true}})");

  REQUIRE(read);
  const Status& status = read.value();
  CHECK(status.active->executable == "/opt/a...");
  const Ending* ending = find_ending(status, "u0");
  REQUIRE(ending != nullptr);
  CHECK(ending->from.executable == "/opt/b...");
  CHECK(ending->to.executable == "/opt/c");
  CHECK(ending->reason == "r");
  CHECK(status.ended->reason == "no...");
}

TEST_CASE("a wrong value in status.json costs only its own member") {
  const auto read = read_status(
      R"({"upgrader":{"started":"then","pid":"many"},"phase":7,"since":"soon","active":[],)"
      R"("upgrade":{"id":"u1","trial_ms":1.5,"id2":null},"endings":[3,{"id":"u0"},null],)"
      R"("requests":{},"unknown":{"a":[1,2,{"b":null}]}})");

  REQUIRE(read);
  const Status& status = read.value();
  CHECK_FALSE(status.upgrader.pid);
  CHECK_FALSE(status.upgrader.since);
  CHECK(status.upgrader.started == "then");
  CHECK(status.phase.empty());
  CHECK_FALSE(status.active);
  CHECK(status.upgrade->id == "u1");
  CHECK_FALSE(status.upgrade->trial_ms);
  REQUIRE(status.endings.size() == 1);
  CHECK(status.endings[0].id == "u0");
  CHECK(status.requests.empty());
}

TEST_CASE("a file that is not an upgrader's status is refused with a reason") {
  for (const char* text :
       {"", "{", "[]", "{}", R"({"upgrader":{"pid":1}})", R"({"phase":"trial"})"}) {
    CAPTURE(text);
    const auto read = read_status(text);
    REQUIRE_FALSE(read);
    CHECK(read.reason().find("is no status of an upgrader: ") == 0);
  }
  CHECK_FALSE(read_status(std::string(60'000, '[')));
}

TEST_CASE("a member is had as it is spelled") {
  const std::string text = R"( {"a\"]" : [ "}" , 1.50e0 ], "b":{"c":"\\"} , "d" : 12,"e":true} )";

  CHECK(raw_member(text, "b", "none") == R"({"c":"\\"})");
  CHECK(raw_member(text, "d", "none") == "12");
  CHECK(raw_member(text, "e", "none") == "true");
  CHECK(raw_member(text, R"(a\"])", "none") == R"([ "}" , 1.50e0 ])");
  CHECK(raw_member(text, "c", "none") == "none");
  CHECK(raw_member("{}", "a", "none") == "none");
  CHECK(raw_member(whole, "endings", "none").find(R"([{"id":"u0")") == 0);
}

}  // namespace status_reader_test
