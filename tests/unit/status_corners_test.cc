// status.json at its limits: what is left out where there is no room, and in which order.
#include <catch2/catch.hpp>

#include "tests/integration/json.h"
#include "tests/unit/status_bench.h"

namespace {

using namespace upgrader;
using namespace upgrader::test;
using namespace std::chrono_literals;

bool has(const std::string& news, const std::string& text) {
  return news.find(text) != std::string::npos;
}

PastRequest long_request(const std::string& name) {
  return {name, "commit", false, std::string(1'000, '\x01')};
}

}  // namespace

TEST_CASE("a line of just the bytes that there are is whole, and one of a byte more is not") {
  StatusBench bench;
  std::vector<std::string> arguments{""};
  bench.arguments = &arguments;
  bench->start();
  arguments.front() = std::string(status_news_bytes_max - bench.news().size(), 'x');

  CHECK(bench.news().size() == status_news_bytes_max);
  CHECK_FALSE(has(bench.news(), "args_omitted"));
  arguments.front() += 'x';
  CHECK(has(bench.news(), "args_omitted"));
}

TEST_CASE("where there is no room for all requests the newest are told, and no ending") {
  StatusBench bench;
  bench->reach(Phase::preparing);
  bench->exit(2, 1);
  for (int i = 1; i <= 16; ++i)
    bench.chronicle().note_answer(long_request("r" + std::to_string(i)));

  const std::string news = bench.news();

  CHECK(integration::Json::parse(news).has_value());
  CHECK(news.size() <= status_news_bytes_max);
  CHECK(news.size() > status_news_bytes_max - 7'000);
  CHECK(has(news, R"("endings":[],)"));
  CHECK(has(news, R"("requests":[{"request":"r16",)"));
  CHECK_FALSE(has(news, R"("request":"r1",)"));
}

TEST_CASE("paths that are all to be escaped are left out last, and all others before them") {
  StatusBench bench;
  bench.first = bench.candidate = "/" + std::string(4'094, '\x02');
  bench.boot.previous = bench.candidate;
  bench->reach(Phase::preparing);
  bench->exit(2, 1);
  bench->upgrade("u2");
  bench.chronicle().note_answer(long_request("r1"));

  const std::string news = bench.news();

  CHECK(integration::Json::parse(news).has_value());
  CHECK(news.size() <= status_news_bytes_max);
  CHECK_FALSE(has(news, "executable"));
  CHECK(has(news, R"("endings":[],)"));
  CHECK(has(news, R"("requests":[],)"));
  CHECK(has(news, R"("id":"u2")"));
}

TEST_CASE("an end in the middle of a story waits for nothing any more") {
  StatusBench bench;
  bench->start();
  CHECK(has(bench.news(), "deadline"));

  bench.chronicle().note_end(125, bench.stamp());

  CHECK_FALSE(has(bench.news(), "deadline"));
}

TEST_CASE("a year of three digits and one of five are dates, too") {
  Chronicle chronicle;
  chronicle.begin({1, -30'641'760'000'000});
  CHECK(has(status_news(State{}, chronicle, {}), R"("started":"0999-01-01T00:00:00.000Z")"));
  chronicle.begin({1, 253'402'300'800'000});
  CHECK(has(status_news(State{}, chronicle, {}), R"("started":"10000-01-01T00:00:00.000Z")"));
}

TEST_CASE("nothing is written while a first agent waits for its work, or soon after a stop") {
  StatusBench bench;
  CHECK_FALSE(hands_over(bench->state()));
  CHECK_FALSE(hands_over_soon(bench->state()));
  bench->start();
  CHECK_FALSE(hands_over(bench->state()));
  bench->next_activate(ActivateSent::How::waits);
  bench->ready(1);
  CHECK(hands_over(bench->state()));
  bench->take(StopRequested{});
  CHECK(bench->state().incumbent->killed);
  CHECK_FALSE(hands_over(bench->state()));

  StatusBench rolls_back, stops;
  rolls_back->reach(Phase::rolling_back);
  CHECK(hands_over_soon(rolls_back->state()));
  stops->reach(Phase::shutting_down);
  CHECK_FALSE(hands_over_soon(stops->state()));
}
