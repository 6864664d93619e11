// Tests small parts of the client of etcd: how messages are framed, what a failure means, and which
// member is asked next.
#include <catch2/catch.hpp>

#include "fleet/store/backoff.h"
#include "fleet/store/endpoints.h"
#include "fleet/store/etcd_answer.h"
#include "fleet/store/etcd_messages.h"
#include "fleet/store/grpc_frame.h"

namespace store_parts_test {

using namespace fleet;
using namespace std::chrono_literals;

namespace {

GrpcStatus status_of(const std::vector<std::string>& lines) {
  GrpcStatus status;
  for (const std::string& line : lines) {
    status.take_line(line);
  }
  return status;
}

}  // namespace

TEST_CASE("messages come out as they went in, however the stream is cut") {
  const std::string stream =
      grpc_framed("one") + grpc_framed("") + grpc_framed(std::string(300, 'x'));
  const std::size_t piece = GENERATE(1u, 2u, 7u, 1'000u);
  GrpcReader reader;
  std::vector<std::string> messages;

  for (std::size_t at = 0; at < stream.size(); at += piece) {
    REQUIRE(reader.take(std::string_view(stream).substr(at, piece)));
    while (const auto message = reader.next()) {
      messages.push_back(*message);
    }
  }

  CHECK(messages == std::vector<std::string>{"one", "", std::string(300, 'x')});
}

TEST_CASE("a stream that is not gRPC, or a message that is too long, is not read further") {
  const std::string bytes = GENERATE(std::string("HTTP/1.1 400"), std::string("\1\0\0\0\1x", 6),
                                     std::string("\0\xff\xff\xff\xff", 5));
  GrpcReader reader;

  CHECK_FALSE(reader.take(bytes));
  CHECK_FALSE(reader.take("more"));
  CHECK_FALSE(reader.next());
}

TEST_CASE("a bad prefix behind a good message is noticed") {
  GrpcReader reader;

  REQUIRE(reader.take(grpc_framed("good") + "bad"));

  CHECK(reader.next() == "good");
  CHECK_FALSE(reader.take("more"));
}

TEST_CASE("a status is read from headers as servers write them") {
  const GrpcStatus status =
      status_of({"HTTP/2 200\r\n", "content-type: application/grpc\r\n", "Grpc-Status: 14\r\n",
                 "grpc-message: etcdserver: no%20leader %zz 100%\r\n"});

  CHECK(status.code() == 14);
  CHECK(status.message() == "etcdserver: no leader %zz 100%");
  CHECK_FALSE(status_of({"HTTP/2 502\r\n"}).code());
  CHECK(status_of({"grpc-status: nonsense\r\n"}).code() == grpc_unknown);
}

TEST_CASE("a failure tells whether to try again, and whether anything may have been written") {
  struct Case {
    CallFailure failure;
    Meaning meaning;
    bool not_written;
  };
  const auto [failure, meaning, not_written] =
      GENERATE(Case{{14, "etcdserver: request timed out", true}, Meaning::passing, false},
               Case{{14, "etcdserver: leader changed", true}, Meaning::passing, false},
               Case{{14, "etcdserver: no leader", true}, Meaning::passing, true},
               Case{{8, "etcdserver: too many requests", true}, Meaning::passing, true},
               Case{{3, "etcdserver: revision of auth store is old", true}, Meaning::passing, true},
               Case{{8, "etcdserver: mvcc: database space exceeded", true}, Meaning::denied, true},
               Case{{7, "etcdserver: permission denied", true}, Meaning::denied, true},
               Case{{5, "etcdserver: requested lease not found", true}, Meaning::lease_gone, true},
               Case{{11, "etcdserver: mvcc: required revision has been compacted", true},
                    Meaning::compacted,
                    true},
               Case{{-1, "Connection reset by peer", true}, Meaning::passing, false},
               Case{{-1, "Couldn't connect to server", false}, Meaning::passing, true});

  INFO(failure.reason);
  CHECK(meaning_of(failure) == meaning);
  CHECK(certainly_not_written(failure) == not_written);
}

TEST_CASE("a failed member is left for the next one, and asked again by a new connection") {
  Endpoints endpoints({"a", "b", "c"}, 1);
  REQUIRE(endpoints.next().url == "b");

  endpoints.failed(1, false);
  endpoints.failed(1, false);  // a second call to this member has failed, too
  const auto next = endpoints.next();
  endpoints.failed(2, false);
  endpoints.failed(0, false);
  const auto again = endpoints.next();
  const auto once_more = endpoints.next();

  CHECK(next.url == "c");
  CHECK_FALSE(next.fresh);
  CHECK(again.url == "b");
  CHECK(again.fresh);
  CHECK_FALSE(once_more.fresh);
}

TEST_CASE("a member that has answered that it cannot help needs no new connection") {
  Endpoints endpoints({"a", "b"}, 0);
  endpoints.failed(0, true);
  CHECK(endpoints.next().url == "b");
  endpoints.failed(1, true);
  const auto again = endpoints.next();
  CHECK(again.url == "a");
  CHECK_FALSE(again.fresh);
}

TEST_CASE("tries spread over a time that doubles up to its bound, and begin anew") {
  Backoff backoff(1, 4s);
  std::vector<Backoff::Milliseconds> longest(8);
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Backoff one(seed, 4s);
    for (auto& most : longest) {
      most = std::max(most, one.next());
    }
  }

  CHECK(longest[0] <= 250ms);
  CHECK(longest[0] > 200ms);
  CHECK(longest[2] <= 1s);
  CHECK(longest[7] <= 4s);
  CHECK(longest[7] > 3s);
  for (int i = 0; i < 10; ++i) {
    CHECK(backoff.next() <= 4s);
  }
  backoff.reset();
  CHECK(backoff.next() <= 250ms);
}

TEST_CASE("bytes that are not a message are no answer") {
  const std::string bytes = "\xff\xff\xff\xff";

  CHECK_FALSE(etcd_messages::page(bytes));
  CHECK_FALSE(etcd_messages::outcome(bytes));
  CHECK_FALSE(etcd_messages::granted(bytes));
  CHECK_FALSE(etcd_messages::kept_alive(bytes));
  CHECK_FALSE(etcd_messages::watch_answer(bytes));
  CHECK_FALSE(etcd_messages::granted(""));  // a lease without an id
}

}  // namespace store_parts_test
