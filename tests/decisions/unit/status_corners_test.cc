// Tests status.json at its size limit: which members are left out for lack of room, and in which
// order.
#include <catch2/catch.hpp>

#include "tests/decisions/unit/status_bench.h"
#include "tests/together/integration/json.h"
#include "upgrader/core/status_paper.h"

namespace status_corners_test {

namespace {

using namespace upgrader;
using namespace upgrader::test;
using namespace std::chrono_literals;

bool has(const std::string& news, const std::string& text) {
  return news.find(text) != std::string::npos;
}

int times_in(const std::string& news, const std::string& text) {
  int times = 0;
  for (std::size_t at = news.find(text); at != std::string::npos; at = news.find(text, at + 1))
    ++times;
  return times;
}

PastRequest long_request(const std::string& name) {
  return {name, std::string(4'000, '\x01'), false, std::string(4'000, '\x01')};
}

// Returns a time, given in milliseconds since 1970, as status.json writes it.
std::string time_of_day(std::int64_t ms) {
  StatusPaper paper;
  paper.put_wall_time("at", ms);
  return paper.text();
}

}  // namespace

TEST_CASE("hours, minutes and seconds change when they are over, and no millisecond before") {
  CHECK(time_of_day(3'599'999) == R"("at":"1970-01-01T00:59:59.999Z")");
  CHECK(time_of_day(3'600'000) == R"("at":"1970-01-01T01:00:00.000Z")");
  CHECK(time_of_day(86'399'999) == R"("at":"1970-01-01T23:59:59.999Z")");
}

TEST_CASE("only the object whose own text was cut says so") {
  const std::string is_long(text_written_max + 1, 'x');
  const std::string cut = "\"" + is_long.substr(1) + "\"";
  StatusPaper paper;
  paper.open("", '{');
  paper.put("a", is_long);
  paper.open("b", '{');
  paper.open("c", '{');
  paper.put("d", is_long);
  paper.close('}');
  paper.close('}');
  paper.open("e", '{');
  paper.close('}');
  paper.close('}');

  CHECK(paper.text() ==
        R"({"a":)" + cut + R"(,"b":{"c":{"d":)" + cut + R"(,"cut":true}},"e":{},"cut":true})");
}

TEST_CASE("a path of 4,095 bytes is written whole, and of a longer one so much") {
  const std::string path(path_written_max, 'x');
  StatusPaper whole;
  whole.put_path("path", path);
  StatusPaper cut;
  cut.put_path("path", path + 'y');

  CHECK(whole.text() == R"("path":")" + path + '"');
  CHECK(cut.text() == whole.text());
}

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

TEST_CASE("all that must be said fits, however long each text of it is") {
  StatusBench bench;
  bench.first = bench.candidate = "/" + std::string(4'094, '\x02');
  bench.facts.previous = bench.first;
  bench->reach(Phase::preparing);
  bench->say(1, agent_protocol::Status{std::string(256, '\x02')});
  bench->say(2, agent_protocol::Status{std::string(256, '\x02')});
  for (int i = 1; i <= 16; ++i)
    bench.chronicle().note_answer(long_request("\"" + std::string(60, '"') + std::to_string(i)));

  const std::string news = bench.news();

  CHECK(integration::Json::parse(news).has_value());
  CHECK(news.size() <= status_news_bytes_max);
  CHECK(times_in(news, R"("type":")") == 16);
  CHECK(times_in(news, R"("cut":true)") == 19);
}

TEST_CASE("a text is cut where it would be too long as it is written, and its object says so") {
  StatusBench bench;
  // In JSON, the slash takes one byte, and each character U+0002 takes six.
  bench.first = bench.candidate = "/" + std::string(4'094, '\x02');
  std::string shown = "/";
  for (int i = 0; i < 682; ++i)
    shown += "\\u0002";
  bench->reach(Phase::preparing);
  bench->exit(2, 1);

  const std::string news = bench.news();
  const auto all = integration::Json::parse(news);

  REQUIRE(all);
  CHECK(shown.size() == 4'093);
  CHECK(all->object("active").boolean("cut"));
  CHECK_FALSE(all->has("cut"));
  CHECK(has(news, R"("from":{"executable":")" + shown + R"(","cut":true})"));
  CHECK(has(news, R"("to":{"executable":")" + shown + R"(","cut":true})"));
  CHECK(times_in(news, R"("cut":true)") == 3);
}

TEST_CASE("a text of just the bytes that there are is whole, and one of a character more is cut") {
  StatusBench bench;
  bench.facts.previous = "/" + std::string(4'092, 'x') + "\u00e9";
  CHECK(has(bench.news(), "\"previous\":\"" + *bench.facts.previous + "\"}"));

  *bench.facts.previous += "\u00e9";

  const std::string whole = bench.facts.previous->substr(0, 4'095);
  CHECK(has(bench.news(), "\"previous\":\"" + whole + "\",\"cut\":true}"));
}

TEST_CASE("names of any length leave room for all that must be said") {
  StatusBench bench;
  bench.first = bench.candidate = "/" + std::string(99'999, '\x02');
  bench.facts.previous = bench.first;
  bench->start();
  bench->ready(1);
  bench.chronicle().note_why_it_ends("cannot start " + bench.first);
  bench.chronicle().note_end(127, bench.stamp());

  const std::string news = bench.news();

  CHECK(news.size() <= status_news_bytes_max);
  const auto all = integration::Json::parse(news);
  REQUIRE(all);
  CHECK(all->object("ended").number("exit_status") == 127);
  CHECK(all->object("ended").text("reason").starts_with("cannot start /"));
  CHECK(all->object("ended").boolean("cut"));
  CHECK(all->object("boot").boolean("cut"));
}

TEST_CASE("arguments are left out first, then endings, then requests") {
  StatusBench bench;
  std::vector<std::string> arguments{std::string(status_news_bytes_max, 'x')};
  bench.arguments = &arguments;
  bench->reach(Phase::preparing);
  bench->exit(2, 1);
  bench->upgrade("u2");
  bench.chronicle().note_answer(long_request("r1"));

  const std::string news = bench.news();

  CHECK(integration::Json::parse(news).has_value());
  CHECK(news.size() <= status_news_bytes_max);
  CHECK(has(news, R"("args_omitted":true)"));
  CHECK(has(news, R"("id":"u1")"));
  CHECK(has(news, R"("request":"r1")"));
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
  CHECK_FALSE(active_agent_stops(bench->state()));
  bench->start();
  CHECK_FALSE(hands_over(bench->state()));
  bench->next_activate(Sent::waits);
  bench->ready(1);
  CHECK(hands_over(bench->state()));
  bench->take(StopRequested{});
  CHECK(bench->state().incumbent->killed);
  CHECK_FALSE(hands_over(bench->state()));

  StatusBench rolls_back, stops;
  rolls_back->reach(Phase::rolling_back);
  CHECK(active_agent_stops(rolls_back->state()));
  stops->reach(Phase::shutting_down);
  CHECK_FALSE(active_agent_stops(stops->state()));
}

}  // namespace status_corners_test
