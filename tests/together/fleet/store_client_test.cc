// Tests the client for etcd. No member of etcd runs in these tests. The tests check how messages
// are put into frames, how errors are classified, and which member the client asks next. They also
// check when the client moves away from a member that does not answer. After an overload, all
// clients must be served again: their new connections must not keep the store overloaded.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fleet/store/endpoints.h"
#include "fleet/store/etcd_call.h"
#include "fleet/store/etcd_line.h"
#include "fleet/store/etcd_messages.h"
#include "fleet/store/grpc_frame.h"
#include "fleet/store/timers.h"
#include "tests/together/fleet/virtual_time.h"

namespace store_client_test {

using namespace fleet;
using namespace std::chrono_literals;

// ---- the frames of messages, the kinds of failures, and the choice of the member to ask

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

TEST_CASE("a client leaves a member once, however many of its calls fail") {
  Endpoints endpoints({"a", "b", "c"}, 1, false);
  REQUIRE(endpoints.present().url == "b");
  const std::uint64_t first = endpoints.present().connection;
  endpoints.heard(first, 1s);

  for (int calls = 0; calls < 5; ++calls) {
    endpoints.broke(first, 2s);
  }

  CHECK(endpoints.present().url != "b");
  CHECK(endpoints.present().connection == first + 1);
  CHECK_FALSE(endpoints.has_worked());
}

TEST_CASE("clients of a lost member spread over all others, and each tries every member") {
  std::map<std::string, int> second;
  for (std::uint64_t client = 0; client < 300; ++client) {
    Endpoints endpoints({"a", "b", "c"}, 3 * client, false);
    std::set<std::string> tried{endpoints.present().url};
    REQUIRE(endpoints.present().url == "a");
    endpoints.broke(endpoints.present().connection, 1s);
    ++second[endpoints.present().url];
    tried.insert(endpoints.present().url);
    endpoints.broke(endpoints.present().connection, 2s);
    tried.insert(endpoints.present().url);
    CHECK(tried.size() == 3);
  }

  CHECK(second["b"] > 100);
  CHECK(second["c"] > 100);
}

TEST_CASE("clients that have lost the same member return within a time that doubles") {
  std::vector<Endpoints::Milliseconds> longest(8);
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Endpoints endpoints({"a", "b"}, seed, true);
    for (std::size_t i = 0; i < longest.size(); ++i) {
      const auto now = std::chrono::seconds(100 + i);
      endpoints.heard(endpoints.present().connection, now);
      endpoints.broke(endpoints.present().connection, now);
      longest[i] = std::max(longest[i], endpoints.present().opens - now);
    }
  }

  CHECK(longest[0] <= 2s);
  CHECK(longest[0] > 1500ms);
  CHECK(longest[2] <= 8s);
  CHECK(longest[7] <= 256s);
  CHECK(longest[7] > 200s);
}

TEST_CASE("a broken connection that had worked for long is replaced soon") {
  Endpoints endpoints({"a", "b"}, 0, true);
  for (int i = 0; i < 8; ++i) {
    endpoints.heard(endpoints.present().connection, 0s);
    endpoints.broke(endpoints.present().connection, 1s);
  }
  for (const auto now : {100s, 200s, 300s, 400s})
    endpoints.heard(endpoints.present().connection, now);

  endpoints.broke(endpoints.present().connection, 400s);

  CHECK(endpoints.present().opens <= 402s);
}

TEST_CASE("members that cannot be reached are tried at once, with more time in each round") {
  Endpoints endpoints({"a", "b"}, 0, false);

  endpoints.broke(endpoints.present().connection, 10s);
  CHECK(endpoints.present().url == "b");
  CHECK(endpoints.present().opens == 10s);
  endpoints.broke(endpoints.present().connection, 12s);

  CHECK(endpoints.present().url == "a");
  CHECK(endpoints.present().opens <= 12s + Backoff::first);
  CHECK(endpoints.present().connect_limit > Endpoints::first_connect_limit);
  for (int i = 0; i < 20; ++i) {
    endpoints.broke(endpoints.present().connection, 20s);
  }
  CHECK(endpoints.present().connect_limit == Endpoints::longest_wait);
}

TEST_CASE("a client that keeps losing connections waits longer before it leaves a member") {
  Endpoints endpoints({"a", "b"}, 0, false);
  REQUIRE(endpoints.stretched(2s) == 2s);
  for (const auto limit : {4s, 8s, 16s, 32s, 60s, 60s}) {
    endpoints.heard(endpoints.present().connection, 1s);
    endpoints.broke(endpoints.present().connection, 2s);
    CHECK(endpoints.stretched(2s) == limit);
    CHECK(endpoints.present().connect_limit == limit);
  }
  CHECK(endpoints.stretched(90s) == 90s);

  const std::uint64_t calm = endpoints.present().connection;
  int minutes = 1;
  endpoints.heard(calm, 100s);
  endpoints.heard(calm, 100s + Endpoints::long_life - 1s);
  CHECK(endpoints.stretched(2s) == 60s);
  for (const auto limit : {32s, 16s, 8s, 4s, 2s, 2s}) {
    endpoints.heard(calm, 100s + Endpoints::long_life * minutes++);
    CHECK(endpoints.stretched(2s) == limit);
  }
}

TEST_CASE(
    "a program that runs on many machines waits longer than others before it leaves a member") {
  Endpoints endpoints({"a", "b"}, 0, true);
  CHECK(endpoints.stretched(2s) == 8s);
  CHECK(endpoints.present().connect_limit == 4 * Endpoints::first_connect_limit);
  const std::uint64_t first = endpoints.present().connection;
  endpoints.heard(first, 0s);
  endpoints.heard(first, 10 * Endpoints::long_life);
  CHECK(endpoints.stretched(2s) == 8s);

  // After the first failure, the client stays with this member for some seconds. An election of a
  // leader takes less time, so the client does not move because of an election.
  endpoints.failed(first, 700s);
  endpoints.failed(first, 705s);
  CHECK(endpoints.present().connection == first);
  endpoints.failed(first, 712s);
  CHECK(endpoints.present().connection == first + 1);
}

TEST_CASE("a member that answers is left only if it cannot help for some time") {
  Endpoints endpoints({"a", "b"}, 0, false);
  const std::uint64_t first = endpoints.present().connection;
  endpoints.heard(first, 0s);

  endpoints.failed(first, 1s);
  endpoints.failed(first, 1s + Endpoints::patience / 2);
  endpoints.succeeded(first);  // the member has answered
  endpoints.failed(first, 60s);
  CHECK(endpoints.present().connection == first);
  endpoints.failed(first, 60s + 2 * Endpoints::patience);

  CHECK(endpoints.present().url == "b");
  CHECK(endpoints.present().connection == first + 1);
  CHECK(endpoints.present().opens == 60s + 2 * Endpoints::patience);
}

TEST_CASE("clients of a store without a leader move from member to member ever less often") {
  Endpoints endpoints({"a", "b", "c"}, 0, false);

  for (int ms = 0; ms < 600'000; ms += 100) {
    const std::uint64_t present = endpoints.present().connection;
    endpoints.heard(present, Endpoints::Milliseconds(ms));
    endpoints.failed(present, Endpoints::Milliseconds(ms));
  }

  CHECK(endpoints.present().connection > 5);
  CHECK(endpoints.present().connection < 20);
}

TEST_CASE("a client keeps the only member there is, with a new connection if the old one broke") {
  Endpoints endpoints({"a"}, 0, false);
  endpoints.heard(1, 0s);
  endpoints.failed(1, 1s);
  endpoints.failed(1, 100s);
  CHECK(endpoints.present().connection == 1);

  endpoints.broke(1, 100s);

  CHECK(endpoints.present().url == "a");
  CHECK(endpoints.present().connection == 2);
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

TEST_CASE("small records are read many at a time, and large ones fit into an answer") {
  using etcd_messages::next_page_records;
  const KeyValue small{.key = "/node/n/info", .value = std::string(300, 'v')};
  const KeyValue large{.key = "/node/n/info", .value = std::string(value_bytes_max, 'v')};

  CHECK(next_page_records({}) == etcd_messages::first_page_records);
  CHECK(next_page_records(std::vector(100, small)) == etcd_messages::page_records_max);
  CHECK(next_page_records(std::vector(100, large)) == etcd_messages::first_page_records);
  CHECK(etcd_messages::page_records_max * (value_bytes_max + key_bytes_max + 100) <
        grpc_message_bytes_max);
}

TEST_CASE("bytes that are not a message are no answer") {
  const std::string bytes = "\xff\xff\xff\xff";

  CHECK_FALSE(etcd_messages::page(bytes));
  CHECK_FALSE(etcd_messages::outcome(bytes));
  CHECK_FALSE(etcd_messages::granted(bytes));
  CHECK_FALSE(etcd_messages::kept_alive(bytes));
  CHECK_FALSE(etcd_messages::watch_answer(bytes));
  CHECK_FALSE(etcd_messages::member_status(bytes));
  CHECK_FALSE(etcd_messages::members(bytes));
  CHECK_FALSE(etcd_messages::granted(""));  // the empty answer names no lease
}

// ---- heartbeat requests, which find out whether a silent member still answers

namespace {

class Rider : public EtcdLine::Rider {
 public:
  explicit Rider(EtcdLine& line) : EtcdLine::Rider(line) {
    call_ = call("/path", "", 0ms, {[](const std::string&) {}, [](const Http2::Ending&) {}});
  }
  [[nodiscard]] int asked() const { return asked_; }

 private:
  void leave() override {}
  bool ask_for_life() override {
    ++asked_;
    return true;
  }

  std::unique_ptr<Http2::Call> call_;
  int asked_ = 0;
};

// A client that is connected to one of the store's two members (its servers). The libuv loop does
// not run, so no call reaches a server. The test itself decides when the server answers.
class Bench {
 public:
  explicit Bench(bool is_prompt = false) {
    uv_loop_init(&loop_);
    http_ = std::make_unique<Http2>(loop_, Certificates());
    line_ = std::make_unique<EtcdLine>(
        *http_, time_, Endpoints({"http://127.0.0.1:1", "http://127.0.0.1:2"}, 0, false), 5s,
        is_prompt);
  }
  ~Bench() {
    riders.clear();
    line_ = nullptr;
    http_ = nullptr;
    uv_run(&loop_, UV_RUN_DEFAULT);
    uv_loop_close(&loop_);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  EtcdLine& line() { return *line_; }
  void ride() { riders.push_back(std::make_unique<Rider>(*line_)); }
  [[nodiscard]] std::uint64_t connection() const { return line_->endpoints().present().connection; }
  void pass(Timers::Milliseconds time) {
    const Timers::Milliseconds until = time_.now() + time;
    time_.post(time, [] {});
    while (time_.run_next_until(until)) {
    }
  }
  void suspect() { line_->suspect(connection(), time_.now(), "no answer"); }

  std::vector<std::unique_ptr<Rider>> riders;

 private:
  uv_loop_t loop_{};
  VirtualTime time_;
  std::unique_ptr<Http2> http_;
  std::unique_ptr<EtcdLine> line_;
};

}  // namespace

TEST_CASE("a call without an answer does not end a connection that is being opened") {
  Bench bench;
  bench.ride();
  bench.pass(Endpoints::first_connect_limit);
  bench.suspect();
  CHECK(bench.connection() == 1);
}

TEST_CASE("another call asks for a sign of life in the place of one that has ended") {
  Bench bench;
  bench.ride();
  bench.line().heard(1);
  bench.pass(EtcdLine::patience);
  REQUIRE(bench.riders[0]->asked() == 1);

  bench.riders.clear();
  bench.ride();
  bench.pass(1s);
  CHECK(bench.riders[0]->asked() == 1);
  bench.line().heard(1);
  bench.pass(EtcdLine::patience - 1s);
  CHECK(bench.connection() == 1);

  bench.pass(EtcdLine::patience + 2s);
  CHECK(bench.connection() == 2);
}

TEST_CASE(
    "a prompt client leaves a silent member within five seconds, however often it has moved") {
  Bench bench(true);
  for (std::uint64_t number = 1; number <= 6; ++number) {
    bench.ride();
    REQUIRE(bench.connection() == number);
    bench.line().heard(number);
    bench.pass(3s);
    CHECK(bench.connection() == number);
    bench.line().heard(number);
    bench.pass(5s);
    CHECK(bench.connection() == number + 1);
  }
}

// ---- an overloaded store

namespace {

using Ms = Endpoints::Milliseconds;

constexpr Ms tick = 50ms;
constexpr Ms renewal_pause = 10s;
constexpr Ms call_limit = 5s;     // a member that does not answer a call in this time is suspect
constexpr Ms suspect_limit = 2s;  // within this time, a suspect member must show any activity
// The costs below are relative to the work with which a member lets one client enter (connect and
// be served).
constexpr double renewal = 0.05;  // the cost of one renewal of a lease
constexpr double given_up = 0.5;  // a TLS handshake whose client has closed its connection
// The speed of a stalled member. The speed of a member that is not stalled is 1.
constexpr double stalled = 0.05;

class Crowd {
 public:
  // `speed` is the number of clients that can enter (connect and be served) at one member in a
  // second.
  Crowd(std::size_t clients, double speed) : speed_(speed) {
    for (std::size_t i = 0; i < clients; ++i)
      clients_.push_back({.endpoints = Endpoints({"0", "1", "2"}, i + 1, true)});
  }

  // Lets all clients enter (connect and be served), a few at a time. Returns false if that takes
  // more time than `limit`.
  [[nodiscard]] bool enter(Ms limit) {
    constexpr std::size_t together = 20;
    return run(limit, [this] {
      const std::size_t served = count_served();
      begun_ = std::min(clients_.size(), served + together);
      return served == clients_.size();
    });
  }
  // Stalls the members for this time.
  void stall(Ms time) {
    speed_ *= stalled;
    static_cast<void>(run(time, [] { return false; }));
    speed_ /= stalled;
  }
  // Waits until all clients are served. Returns false if that takes more than `limit`.
  [[nodiscard]] bool come_back(Ms limit) {
    return run(limit, [this] { return count_served() == clients_.size(); });
  }
  [[nodiscard]] std::size_t count_served() const {
    return static_cast<std::size_t>(std::count_if(
        clients_.begin(), clients_.end(), [](const Client& client) { return client.served; }));
  }

 private:
  struct Client {
    Endpoints endpoints;
    bool served = false;
    // When the client sent its last request (to connect, or to renew its lease); no value if the
    // member has answered it.
    std::optional<Ms> asked = {};
    // The time at which the member became suspect, because it did not answer a renewal in time.
    std::optional<Ms> suspected = {};
    Ms renews{0};
  };
  struct Work {
    std::size_t client;
    std::uint64_t connection;
  };

  template <class Condition>
  bool run(Ms limit, const Condition& is_over) {
    for (const Ms end = now_ + limit; now_ < end; now_ += tick) {
      if (is_over()) return true;
      for (std::size_t i = 0; i < begun_; ++i)
        act(i);
      for (std::size_t member = 0; member < queues_.size(); ++member)
        work(member);
    }
    return false;
  }

  void act(std::size_t number) {
    Client& client = clients_[number];
    const Endpoints::Endpoint& present = client.endpoints.present();
    const Ms due = client.served ? client.renews : present.opens;
    if (!client.asked) {
      if (now_ < due) return;
      client.asked = now_;
      queues_.at(static_cast<std::size_t>(present.url[0] - '0'))
          .push_back({number, present.connection});
      return;
    }
    if (!client.served) {
      if (now_ - *client.asked >= present.connect_limit) leave(client, true);
    } else if (!client.suspected) {
      if (now_ - *client.asked >= call_limit) client.suspected = now_;
    } else if (now_ - *client.suspected >= client.endpoints.stretched(suspect_limit)) {
      leave(client, false);
    }
  }

  void leave(Client& client, bool is_slow) const {
    client.endpoints.broke(client.endpoints.present().connection, now_, is_slow);
    client.served = false;
    client.asked = {};
    client.suspected = {};
  }

  void work(std::size_t member) {
    double& left = left_.at(member);
    left = std::min(left, 0.0) + speed_ * static_cast<double>(tick.count()) / 1e3;
    std::deque<Work>& queue = queues_.at(member);
    for (; left > 0 && !queue.empty(); queue.pop_front()) {
      const Work& next = queue.front();
      Client& client = clients_[next.client];
      if (client.endpoints.present().connection != next.connection) {
        left -= given_up;
        continue;
      }
      left -= client.served ? renewal : 1;
      client.endpoints.heard(next.connection, now_);
      client.served = true;
      client.asked = {};
      client.suspected = {};
      client.renews = now_ + renewal_pause;
    }
  }

  double speed_;
  Ms now_{0};
  std::vector<Client> clients_;
  std::size_t begun_ = 0;  // how many clients have begun to enter
  std::array<std::deque<Work>, 3> queues_;
  std::array<double, 3> left_{};  // the work that each member can still do in this tick
};

}  // namespace

TEST_CASE("clients that an overload has scattered are all served again after it") {
  struct Case {
    std::size_t clients;
    double speed;
    Ms stall;
  };
  const auto [clients, speed, stall] =
      GENERATE(Case{300, 2, 30s}, Case{600, 4, 60s}, Case{600, 4, 120s});
  CAPTURE(clients, speed, stall.count());
  Crowd crowd(clients, speed);
  REQUIRE(crowd.enter(10min));

  crowd.stall(stall);

  CHECK(crowd.count_served() < clients / 10);
  CHECK(crowd.come_back(20min));
}

TEST_CASE("clients of members that are only a little slow stay where they are") {
  Crowd crowd(300, 2);
  REQUIRE(crowd.enter(10min));

  crowd.stall(3s);

  CHECK(crowd.count_served() == 300);
}

}  // namespace store_client_test
