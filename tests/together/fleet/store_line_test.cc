// Tests when a client of the store leaves a member that does not answer. One of the client's calls
// asks the member for a sign of life. If no sign comes in time, the client leaves the member. If
// the asking call ends before, another call asks in its place, and the client waits for the sign
// anew.
#include <catch2/catch.hpp>
#include <memory>

#include "fleet/store/etcd_line.h"
#include "tests/together/fleet/virtual_time.h"

namespace store_line_test {

using namespace fleet;
using namespace std::chrono_literals;

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

// The client's connection to one of two members. The libuv loop does not run, so no call reaches a
// member. The test itself says when the member answers.
class Bench {
 public:
  Bench() {
    uv_loop_init(&loop_);
    http_ = std::make_unique<Http2>(loop_, Certificates());
    line_ = std::make_unique<EtcdLine>(
        *http_, time_, Endpoints({"http://127.0.0.1:1", "http://127.0.0.1:2"}, 0, false), 5s);
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

}  // namespace store_line_test
