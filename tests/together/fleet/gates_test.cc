// Tests the gates of rollouts. A gate is a question, such as one to Prometheus, that a controller
// asks before it confirms a batch of nodes. The tests check how the answer of a gate is
// interpreted, when a rollout asks its gates, and how a controller asks a Prometheus server for the
// gates of several rollouts. The expected answers are in tables that a person has derived from
// fleet-controller(8).
#include "fleet/model/rollouts/gates.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "fleet/controller/gates.h"
#include "fleet/model/rollouts/rollout_terms.h"
#include "fleet/store/uv_timers.h"

namespace gates_test {

namespace {

using namespace fleet;

// ---- how a gate's entry in the settings is parsed, and how its answers are interpreted

PrometheusGate entry(const std::string& text) {
  const auto gate = parse_prometheus_gate(text);
  INFO(text << ": " << (gate ? "" : gate.reason()));
  REQUIRE(gate);
  return gate.value();
}

// Returns an answer of Prometheus that has one time series for each list of values.
std::string matrix(const std::vector<std::vector<std::string>>& series) {
  std::string all;
  for (const auto& values : series) {
    std::string list;
    for (const std::string& value : values)
      list += (list.empty() ? "[1700000000.5,\"" : ",[1700000000.5,\"") + value + "\"]";
    all += (all.empty() ? "" : ",") + (R"({"metric":{"job":"a"},"values":[)" + list + "]}");
  }
  return R"({"status":"success","data":{"resultType":"matrix","result":[)" + all + "]}}";
}

TEST_CASE("an entry for Prometheus is split from both ends, so its query may have commas") {
  const PrometheusGate gate =
      entry("errors=http://127.0.0.1:9090/,sum(rate(e{a=\"b\",c=\"d\"}[1m])),below=0.01,for=5m");

  CHECK(gate.name == "errors");
  CHECK(gate.url == "http://127.0.0.1:9090");
  CHECK(gate.query == "sum(rate(e{a=\"b\",c=\"d\"}[1m]))");
  CHECK(gate.is_below);
  CHECK(gate.limit == 0.01);
  CHECK(gate.for_s == 300);
  CHECK(query_of(gate) == "(sum(rate(e{a=\"b\",c=\"d\"}[1m])))[300s:30s]");
  CHECK(query_of(entry("a=http://h,up,above=-1e3,for=3s")) == "(up)[3s:1s]");
  CHECK_FALSE(entry("a=http://h,up,above=-1e3,for=3s").is_below);
}

TEST_CASE("an entry that is not one is refused, and the words say what is missing") {
  struct Case {
    const char* text;
    const char* words;
  };
  const Case one = GENERATE(values<Case>({
      {"", "needs NAME="},
      {"errors", "needs NAME="},
      {"A B=http://h,up,below=1,for=1m", "needs NAME="},
      {"../x=http://h,up,below=1,for=1m", "needs NAME="},
      {"a=http://h,up,below=1", "needs ,for="},
      {"a=http://h,up,below=1,for=0", "needs ,for="},
      {"a=http://h,up,below=1,for=soon", "needs ,for="},
      {"a=http://h,up,below=1,for=2d", "needs ,for="},
      {"a=http://h,up,below=1,for=999ms", "needs ,for="},
      {"a=http://h,up,for=1m", "needs ,below="},
      {"a=http://h,up,below=many,for=1m", "needs ,below="},
      {"a=http://h,up,below=nan,for=1m", "needs ,below="},
      {"a=http://h,up,above=inf,for=1m", "needs ,below="},
      {"a=file:///etc/passwd,up,below=1,for=1m", "begins with http"},
      {"a=http://h,below=1,for=1m", "needs a query"},
      {"a=http://h,,below=1,for=1m", "needs a query"},
  }));
  CAPTURE(one.text);

  const auto gate = parse_prometheus_gate(one.text);

  REQUIRE_FALSE(gate);
  CHECK_THAT(gate.reason(), Catch::Contains(one.words));
}

TEST_CASE("an answer of Prometheus is well, worse or not known, and the words have the number") {
  // Each list is an answer of Prometheus about 10 s, with one value for each second.
  const std::vector<std::string> low(10, "0.001");
  const std::vector<std::string> high(10, "0.3");
  std::vector<std::string> turns = low;
  turns.back() = "0.3";
  struct Case {
    std::vector<std::vector<std::string>> series;
    GateSays says;
    std::string words;
  };
  const Case one = GENERATE_COPY(values<Case>({
      {{low}, GateSays::well, "0.001, below 0.01 for 10 s"},
      {{high}, GateSays::worse, "0.3, not below 0.01 for 10 s"},
      {{std::vector<std::string>(10, "0.01")}, GateSays::worse, "0.01, not below 0.01 for 10 s"},
      {{std::vector<std::string>(11, "0")}, GateSays::well, "0, below 0.01 for 10 s"},
      {{std::vector<std::string>(10, "+Inf")}, GateSays::worse, "+Inf, not below 0.01 for 10 s"},
      {{std::vector<std::string>(10, "-Inf")}, GateSays::well, "-Inf, below 0.01 for 10 s"},
      {{turns}, GateSays::not_known, "0.3 and 0.001, on both sides of 0.01 within 10 s"},
      {{}, GateSays::not_known, "no data"},
      {{{}}, GateSays::not_known, "only 0 of 10 values in the last 10 s"},
      {{std::vector<std::string>(9, "0")},
       GateSays::not_known,
       "only 9 of 10 values in the last 10 s"},
      {{std::vector<std::string>(9, "1")},
       GateSays::not_known,
       "only 9 of 10 values in the last 10 s"},
      {{std::vector<std::string>(10, "NaN")}, GateSays::not_known, "a value is NaN"},
      {{std::vector<std::string>(10, "many")}, GateSays::not_known, "a value that is not a number"},
      {{low, low}, GateSays::well, "0.001, below 0.01 for 10 s"},
      {{low, high}, GateSays::worse, "0.3, not below 0.01 for 10 s"},
      {{turns, high, low}, GateSays::worse, "0.3, not below 0.01 for 10 s"},
      {{low, {"0"}, low}, GateSays::not_known, "only 1 of 10 values in the last 10 s"},
      {{std::vector<std::string>(10, "NaN"), low}, GateSays::not_known, "a value is NaN"},
  }));
  CAPTURE(one.words);

  const GateStand stand = prometheus_says(entry("e=http://h,q,below=0.01,for=10s"),
                                          {.status = 200, .body = matrix(one.series)});

  CHECK(stand == GateStand{"e", one.says, one.words});
}

TEST_CASE("above is the other side, and the limit itself is on neither good side") {
  const PrometheusGate gate = entry("up=http://h,q,above=0.9,for=1s");

  CHECK(prometheus_says(gate, {.status = 200, .body = matrix({{"1"}})}) ==
        GateStand{"up", GateSays::well, "1, above 0.9 for 1 s"});
  CHECK(prometheus_says(gate, {.status = 200, .body = matrix({{"0.9"}})}).says == GateSays::worse);
}

TEST_CASE("an answer of a gate that cannot be used counts as not known, with the reason") {
  struct Case {
    GateReply reply;
    std::string words;
  };
  const Case one = GENERATE(values<Case>({
      {{0, "", "Timeout was reached"}, "Timeout was reached"},
      {{0, "", ""}, "no answer"},
      {{500, "", "status 500"}, "status 500"},
      {{500, "<html>", "status 500"}, "status 500"},
      {{503, R"({"status":"error","error":"too many queries"})", ""},
       "status 503: too many queries"},
      {{400, R"({"status":"error","error":"parse error"})", ""}, "status 400: parse error"},
      {{204, "", ""}, "status 204"},
      {{200, R"({"status":"error","error":"broken"})", ""}, "broken"},
      {{200, "{}", ""}, "a wrong answer: no status"},
      {{200, R"({"status":"success"})", ""}, "a wrong answer: no result"},
      {{200, R"({"status":"success","data":7})", ""}, "a wrong answer: no result"},
      {{200, R"({"status":"success","data":{"result":"no"}})", ""}, "a wrong answer: no result"},
      {{200, R"({"status":"success","data":{"result":[7]}})", ""}, "a series without values"},
      {{200, R"({"status":"success","data":{"result":[{"value":[1,"0"]}]}})", ""},
       "a series without values"},
      {{200, R"({"status":"success","data":{"result":[{"values":[7]}]}})", ""},
       "a value that is not a number"},
  }));
  CAPTURE(one.reply.body, one.words);
  const PrometheusGate gate = entry("e=http://h,q,below=1,for=10s");

  CHECK(prometheus_says(gate, one.reply) == GateStand{"e", GateSays::not_known, one.words});

  for (const char* text : {"", "no", "[]", "{\"status\":\"success\"", "\xff"}) {
    const GateStand wrong = prometheus_says(gate, {.status = 200, .body = text});
    CHECK(wrong.says == GateSays::not_known);
    CHECK_THAT(wrong.words, Catch::StartsWith("a wrong answer: "));
  }
}

TEST_CASE("a server cannot make an answer long") {
  const GateStand stand =
      prometheus_says(entry("e=http://h,q,below=1,for=1s"),
                      {.status = 200, .body = matrix({{"0." + std::string(5'000, '0')}})});

  CHECK(stand.says == GateSays::well);
  CHECK(stand.words.size() < 100);
  const std::string body = R"({"status":"error","error":")" + std::string(50'000, 'e') + "\"}";
  CHECK(prometheus_says(entry("e=http://h,q,below=1,for=1s"), {.status = 400, .body = body})
            .words.size() <= 255);
}

TEST_CASE("a program says by its exit status, and its last line is the reason") {
  CHECK(program_says("p", 0, "12 ms") == GateStand{"p", GateSays::well, "12 ms"});
  CHECK(program_says("p", 0, "") == GateStand{"p", GateSays::well, ""});
  CHECK(program_says("p", 1, "900 ms") == GateStand{"p", GateSays::worse, "900 ms"});
  CHECK(program_says("p", 75, "no route") == GateStand{"p", GateSays::not_known, "no route"});
  CHECK(program_says("p", 75, "") == GateStand{"p", GateSays::not_known, "ended with status 75"});
  CHECK(program_says("p", 2, "usage") ==
        GateStand{"p", GateSays::not_known, "ended with status 2: usage"});
  CHECK(program_says("p", 137, "").says == GateSays::not_known);
  CHECK(words_of(program_says("p", 75, "no route")) == "not known: no route");
}

// ---- when a rollout asks its gates, and how it combines the answers of several gates

const std::vector<std::string> both{"a", "b"};

GateRound round_of(GateSays a, GateSays b) {
  return {.number = 1,
          .turn = 3,
          .asked_at = 1'000,
          .is_answered = true,
          .stands = {{"a", a, "1"}, {"b", b, "2"}}};
}

TEST_CASE("gates are asked if they were not asked for this batch, and again after a while") {
  CHECK(gates_now(both, {}, 3, 1'000).is_to_ask);
  CHECK(gates_now(both, round_of(GateSays::well, GateSays::well), 4, 2'000).is_to_ask);
  GateRound round = round_of(GateSays::well, GateSays::well);
  CHECK_FALSE(gates_now(both, round, 3, 2'000).is_to_ask);
  CHECK(gates_now(both, round, 3, 1'000 + gate_again_ms).is_to_ask);

  round.is_answered = false;
  CHECK_FALSE(gates_now(both, round, 3, 999 + gate_round_ms).is_to_ask);
  CHECK(gates_now(both, round, 3, 1'000 + gate_round_ms).is_to_ask);
  CHECK(gates_now(both, round, 3, 2'000).not_known == "the gates have not answered yet");
  round.before = {{"a", GateSays::not_known, "1"}, {"b", GateSays::well, "2"}};
  CHECK(gates_now(both, round, 3, 2'000).not_known == "gate a: not known: 1");
  CHECK_FALSE(gates_now({}, {}, 3, 2'000).is_to_ask);
  CHECK(gates_now({}, {}, 3, 2'000).not_known.empty());
}

TEST_CASE("one gate that is worse is enough, and one that is not known keeps the batch") {
  const auto say = [](GateSays a, GateSays b) { return gates_now(both, round_of(a, b), 3, 2'000); };

  CHECK(say(GateSays::well, GateSays::well).not_known.empty());
  CHECK(say(GateSays::well, GateSays::well).worse.empty());
  CHECK(say(GateSays::well, GateSays::worse).worse == "gate b: worse: 2");
  CHECK(say(GateSays::not_known, GateSays::worse).worse == "gate b: worse: 2");
  CHECK(say(GateSays::not_known, GateSays::well).not_known == "gate a: not known: 1");
  CHECK(say(GateSays::not_known, GateSays::unknown).not_known ==
        "gate a: not known: 1; gate b: unknown: 2");
}

TEST_CASE("a gate that a round leaves out, a late round and an old one are not known") {
  GateRound round = round_of(GateSays::well, GateSays::well);
  round.stands.pop_back();
  CHECK(gates_now(both, round, 3, 2'000).not_known == "gate b: not known: no answer");

  round = round_of(GateSays::well, GateSays::well);
  CHECK_FALSE(gates_now(both, round, 3, 1'000 + gate_round_ms).not_known.empty());

  round.is_answered = false;
  round.stands.clear();
  CHECK(gates_now(both, round, 3, 1'000 + gate_round_ms).not_known ==
        "gate a: not known: no answer; gate b: not known: no answer");
}

TEST_CASE(
    "the answers of gates are news if a gate says something else, and not if it says it anew") {
  const std::vector<GateStand> before{{"a", GateSays::well, "1"}, {"b", GateSays::not_known, "2"}};
  std::vector<GateStand> now = before;
  now[0].words = "3";
  CHECK_FALSE(is_gate_news(before, now));
  now[1].says = GateSays::well;
  CHECK(is_gate_news(before, now));
  now = before;
  now[0].name = "c";
  CHECK(is_gate_news(before, now));
  now.pop_back();
  CHECK(is_gate_news(before, now));
}

TEST_CASE("terms name each gate once, by a name that no path can be made of") {
  RolloutTerms terms{
      .component = "agent", .version = "2", .confirm_ms = 600'000, .gates = {"a", "b-2.x"}};
  CHECK_FALSE(wrong_terms(terms));
  terms.gates = {"a", "a"};
  CHECK(wrong_terms(terms) == "gate a is named twice");
  terms.gates = {"../a"};
  CHECK(wrong_terms(terms) == "gate \"../a\" is no name of a gate");
  terms.gates = std::vector<std::string>(gates_max + 1, "a");
  CHECK(wrong_terms(terms) == "at most 8 gates are asked");
  terms.gates = {"a", "b", "c", "d", "e", "f", "g", "h"};
  CHECK_FALSE(wrong_terms(terms));
}

// ---- a Prometheus server that is the gate of several rollouts

// A server that counts its connections and answers each request. The server runs in a thread of its
// own.
class Server {
 public:
  Server() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(socket_, SOMAXCONN) == 0);
    REQUIRE(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { serve(); });
  }
  ~Server() {
    if (thread_.joinable()) end();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] const std::string& url() const { return url_; }
  // Stops the server. Returns how many connections it has accepted.
  int end() {
    ::shutdown(socket_, SHUT_RDWR);  // makes accept() fail in the thread
    thread_.join();
    ::close(socket_);
    return connections_;
  }

 private:
  void serve() {
    for (int client = -1; (client = ::accept(socket_, nullptr, nullptr)) >= 0; ::close(client)) {
      ++connections_;
      char bytes[4'096];
      const std::string_view answer =
          "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 45\r\n\r\n"
          R"({"status":"success","data":{"result":[ ] } } )";
      if (::read(client, bytes, sizeof bytes) > 0)
        static_cast<void>(!::write(client, answer.data(), answer.size()));
    }
  }

  int socket_;
  std::string url_;
  int connections_ = 0;
  std::thread thread_;
};

TEST_CASE("rollouts that ask the same gate while it has not answered share the next question") {
  Server server;
  uv_loop_t loop;
  REQUIRE(uv_loop_init(&loop) == 0);
  int answered = 0;
  {
    UvTimers timers(loop);
    PrometheusGate gate{.name = "errors", .url = server.url(), .query = "up", .for_s = 60};
    Gates gates(loop, timers, {.controller = "c1", .prometheus = {gate}});
    constexpr int rollouts = 50;
    for (int i = 0; i < rollouts; ++i) {
      gates.ask({.round = i, .gates = {"errors"}}, [&](const GatesAnswered& answers) {
        ++answered;
        REQUIRE(answers.stands.size() == 1);
        CHECK(answers.stands[0].words == "no data");
      });
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(answered == rollouts);
  }
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK(uv_loop_close(&loop) == 0);
  CHECK(server.end() == 2);
}

}  // namespace

}  // namespace gates_test
