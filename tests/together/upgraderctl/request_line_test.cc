// Tests the lines that are written to the FIFO for requests.
#include "agent-protocol/cpp/control/request_line.h"

#include <catch2/catch.hpp>

namespace request_line_test {

using namespace upgraderctl;

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

}  // namespace request_line_test
