// Tests how a request to upgrade is sent to an upgrader. If the upgrader is restarted, each new
// process of it gets the request once, until one of the processes has accepted it.
#include "fleet/agent/pending_request.h"

#include <catch2/catch.hpp>

namespace pending_request_test {

using namespace fleet;
using upgraderctl::Status;

namespace {

PendingRequest pending() {
  return PendingRequest(
      {.request = "i.1", .id = "r1.apply.1", .executable = "/web", .args = {}, .terms = {}});
}

// Returns the status of an upgrader whose agent is active, and that was started at the time
// `started`.
Status working(const std::string& started) {
  Status status;
  status.upgrader.started = started;
  status.phase = "running";
  return status;
}

}  // namespace

TEST_CASE("a request goes once to each upgrader that takes upgrades") {
  PendingRequest request = pending();
  const Status first = working("1");
  CHECK(request.is_due(first));
  CHECK_FALSE(request.is_written());

  request.written(first);
  CHECK(request.has(first));
  CHECK_FALSE(request.is_due(first));

  CHECK_FALSE(request.has(working("2")));
  CHECK(request.is_due(working("2")));
}

TEST_CASE("a request does not go to an upgrader that would refuse it now") {
  for (const char* phase : {"starting", "trial", "shutting_down", "ended"}) {
    Status status = working("1");
    status.phase = phase;
    CHECK_FALSE(pending().is_due(status));
  }
}

TEST_CASE("a request that an upgrader could not take is due again, under another name") {
  PendingRequest request = pending();
  Status status = working("1");
  request.written(status);
  status.requests = {
      {.request = "i.1", .type = "upgrade", .ok = false, .reason = "busy: no agent is active yet"}};
  REQUIRE(PendingRequest::is_busy(status.requests[0].reason));
  CHECK_FALSE(request.was_taken(status));

  request.take_back();
  CHECK(request.is_due(status));
  request.rename("i.2");
  CHECK(request.request().request == "i.2");
  CHECK(request.request().id == "r1.apply.1");
}

TEST_CASE("a request was taken if its upgrade is under way, has ended, or was accepted") {
  Status runs = working("1");
  runs.upgrade.emplace().id = "r1.apply.1";
  Status ended = working("1");
  ended.endings.emplace_back().id = "r1.apply.1";
  Status accepted = working("1");
  accepted.requests = {{.request = "i.1", .type = "upgrade", .ok = true, .reason = ""}};

  for (const Status& status : {runs, ended, accepted})
    CHECK(pending().was_taken(status));
  CHECK_FALSE(pending().was_taken(working("1")));
}

}  // namespace pending_request_test
