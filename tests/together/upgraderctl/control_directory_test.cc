// Tests how upgraderctl uses a control directory: how it reads status.json with any content, how it
// notices that a file has changed, and which lines it writes into the FIFO as requests.
#include <unistd.h>
#include <uv.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "agent-protocol/cpp/control/request_line.h"
#include "agent-protocol/cpp/control/status_reader.h"
#include "tests/support/temporary_directory.h"
#include "tools/upgraderctl/shell/news.h"

namespace control_directory_test {

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

// ---- how upgraderctl notices that a file has changed

TEST_CASE("files that change faster than they are looked at do not hold up a timer") {
  const TemporaryDirectory directory;
  uv_loop_t loop;
  REQUIRE(uv_loop_init(&loop) == 0);
  const auto write = [&] { std::ofstream(directory / "status.json") << "{}"; };
  {
    // The test writes the file again each time upgraderctl has noticed a change, as a busy upgrader
    // would. `looks` is the number of changes that upgraderctl has noticed.
    int looks = 0;
    bool is_due = false;
    News news(&loop, directory.path(), [&] {
      if (++looks < 1'000) write();
    });
    auto timer = upgrader::make_handle(uv_timer_init, &loop, &is_due);
    write();
    while (looks == 0)
      uv_run(&loop, UV_RUN_ONCE);
    uv_timer_start(
        timer.get(), [](uv_timer_t* t) { *static_cast<bool*>(t->data) = true; }, 0, 0);
    while (!is_due)
      uv_run(&loop, UV_RUN_ONCE);
    CHECK(looks < 10);
  }
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK(uv_loop_close(&loop) == 0);
}

// ---- lines of requests

namespace {

UpgradeRequest upgrade_request() {
  UpgradeRequest request;
  request.request = "r1";
  request.id = "u1";
  return request;
}

}  // namespace

TEST_CASE("an option that is not given is absent from the request") {
  CHECK(line_of(upgrade_request()).value() == R"({"type":"upgrade","request":"r1","id":"u1"})"
                                              "\n");
  CHECK(line_of(ShutdownRequest{"r2"}).value() == R"({"type":"shutdown","request":"r2"})"
                                                  "\n");
  CHECK(line_of(ConfirmRequest{"r2", "u1"}).value() ==
        R"({"type":"confirm","request":"r2","id":"u1"})"
        "\n");
  CHECK(line_of(CommitRequest{"r2", "u1"}).value() ==
        R"({"type":"commit","request":"r2","id":"u1"})"
        "\n");
  CHECK(line_of(RollbackRequest{"r2", "u1", std::nullopt}).value() ==
        R"({"type":"rollback","request":"r2","id":"u1"})"
        "\n");
  CHECK(line_of(CancelRequest{"r2", "u1", "why\n"}).value() ==
        R"({"type":"cancel","request":"r2","id":"u1","reason":"why\n"})"
        "\n");
}

TEST_CASE("every term of an upgrade has the name that the protocol gives it") {
  UpgradeRequest request = upgrade_request();
  request.executable = "/opt/agent/1.1";
  request.args = {"-v", ""};
  request.terms = {"parallel", "confirm", "healthy", 1, 0, 3, 86'400'000, "continue", "warm"};

  CHECK(line_of(request).value() ==
        R"({"type":"upgrade","request":"r1","id":"u1","executable":"/opt/agent/1.1",)"
        R"("args":["-v",""],"mode":"parallel","gate":"confirm","commit":"healthy",)"
        R"("start_timeout_ms":1,"confirm_timeout_ms":0,"stop_timeout_ms":3,)"
        R"("trial_ms":86400000,"on_unclean_stop":"continue","fallback":"warm"})"
        "\n");
}

TEST_CASE("no arguments are something else than those of the active agent") {
  UpgradeRequest request = upgrade_request();
  request.args.emplace();

  CHECK(line_of(request).value() == R"({"type":"upgrade","request":"r1","id":"u1","args":[]})"
                                    "\n");
}

TEST_CASE("a request that does not fit into one write is refused") {
  UpgradeRequest request = upgrade_request();
  request.args = {std::string(4'096 - 56, 'x')};
  REQUIRE(line_of(request));
  CHECK(line_of(request).value().size() == 4'096);

  request.args = {std::string(4'097 - 56, 'x')};

  REQUIRE_FALSE(line_of(request));
  CHECK(line_of(request).reason().find("the request would take 4097 bytes, and only 4096 fit") ==
        0);
}

TEST_CASE("texts that the protocol does not take are refused with the member's name") {
  CHECK_FALSE(line_of(ConfirmRequest{"r", ""}));
  CHECK_FALSE(line_of(ConfirmRequest{"r", std::string(65, 'u')}));
  CHECK_FALSE(line_of(ConfirmRequest{"r", "u\n"}));
  UpgradeRequest request = upgrade_request();
  request.executable = "relative";
  REQUIRE_FALSE(line_of(request));
  CHECK(line_of(request).reason().find("\"executable\"") == 0);
  request.executable = "/\xff";
  CHECK_FALSE(line_of(request));
}

}  // namespace control_directory_test
