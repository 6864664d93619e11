// Tests the web server alone, with real sockets and a clock that the test moves: how long a
// connection may take, and how many unread bytes the server keeps in memory.
#include "fleet/http/server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>

#include "tests/together/fleet/virtual_time.h"

namespace server_test {

namespace {

using namespace fleet;
using std::chrono::seconds;

// The number of turns of the loop after which a test gives up. A turn waits for at most a
// millisecond.
constexpr int turns_max = 20'000;

// A client of the server. The destructor closes the client's socket.
class Client {
 public:
  explicit Client(std::uint16_t port, int buffer = 0) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (buffer > 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    REQUIRE(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    ::fcntl(socket_, F_SETFL, O_NONBLOCK);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { close(); }

  void say(std::string_view text) {
    REQUIRE(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(text.size()));
  }
  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }
  // Returns all bytes that the server has sent to this client so far.
  const std::string& heard() {
    char bytes[4'096];
    ssize_t size = 0;
    while ((size = ::recv(socket_, bytes, sizeof bytes, 0)) > 0)
      heard_.append(bytes, static_cast<std::size_t>(size));
    is_shut_ = is_shut_ || size == 0 || (size < 0 && errno != EAGAIN);
    return heard_;
  }
  [[nodiscard]] bool is_shut() {
    heard();
    return is_shut_;
  }

 private:
  int socket_;
  std::string heard_;
  bool is_shut_ = false;
};

struct Bench {
  uv_loop_t loop{};
  VirtualTime time;
  std::vector<HttpServer::Number> asked;
  Request last;  // the last request
  std::vector<HttpServer::Number> ended;
  std::unique_ptr<HttpServer> server;

  Bench() {
    REQUIRE(uv_loop_init(&loop) == 0);
    server = std::make_unique<HttpServer>(HttpServer::Settings{
        .loop = loop,
        .timers = time,
        .host = "127.0.0.1",
        .asked =
            [this](HttpServer::Number number, const Request& request) {
              asked.push_back(number);
              last = request;
            },
        .stream_ended = [this](HttpServer::Number number) { ended.push_back(number); }});
    REQUIRE(server->error().empty());
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench() {
    server = nullptr;
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
  }

  // Runs the loop until the condition holds. The simulated clock does not move meanwhile, so the
  // loop runs only timers that are already due.
  template <class Condition>
  void until(const char* what, const Condition& is_so) {
    for (int turn = 0; turn < turns_max; ++turn) {
      for (int due = 0; due < 100 && time.run_next_until(time.now()); ++due) {
      }
      uv_run(&loop, UV_RUN_NOWAIT);
      if (is_so()) return;
      ::poll(nullptr, 0, 1);
    }
    FAIL("waited in vain for " << what);
  }
  void pass(std::chrono::milliseconds span) {
    const auto end = time.now() + span;
    while (time.run_next_until(end))
      uv_run(&loop, UV_RUN_NOWAIT);
    bool is_over = false;
    const auto over = time.after(end - time.now(), [&] { is_over = true; });
    while (!is_over && time.run_next()) {
    }
  }
  HttpServer::Number stream(Client& client) {
    const std::size_t before = asked.size();
    client.say("GET /v1/changes HTTP/1.1\r\nHost: x\r\n\r\n");
    until("the request", [&] { return asked.size() > before; });
    server->stream(asked.back());
    return asked.back();
  }
};

TEST_CASE("a head that never ends, and a body that never ends, end the connection in their time") {
  for (const char* part :
       {"", "GET / HTTP/1.1\r\nHost:", "PUT / HTTP/1.1\r\nContent-Length: 9\r\n\r\n"}) {
    Bench bench;
    Client client(bench.server->port());
    client.say(part);
    Client other(bench.server->port());
    other.say("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    bench.until("the other's request", [&] { return bench.asked.size() == 1; });

    bench.pass(request_time - seconds(2));
    bench.until("a turn", [] { return true; });
    CHECK_FALSE(client.is_shut());
    bench.pass(seconds(4));
    bench.until("its end", [&] { return client.is_shut(); });

    // The request of `other` has arrived completely and has no answer yet. So the server must not
    // close this connection.
    CHECK_FALSE(other.is_shut());
    bench.server->answer(bench.asked.front(), {.body = "here"});
    bench.until("the answer", [&] { return other.heard().ends_with("here"); });
  }
}

// Returns how many bytes of memory this process occupies.
std::size_t occupied_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  REQUIRE(file >> all >> resident);
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST_CASE("a long answer is in memory once while its client reads it") {
  constexpr std::size_t bytes = 67'108'864;
  Bench bench;
  Client client(bench.server->port());
  client.say("GET /v1/state/node HTTP/1.1\r\nHost: x\r\n\r\n");
  bench.until("the request", [&] { return bench.asked.size() == 1; });
  const std::size_t before = occupied_bytes();

  bench.server->answer(bench.asked.front(), {.body = std::string(bytes, 'x')});
  bench.until("its beginning", [&] { return client.heard().ends_with("xxx"); });

  CHECK(occupied_bytes() - before < bytes * 3 / 2);
  bench.until("its end", [&] { return client.heard().size() > bytes; });
}

TEST_CASE("a request with too long a URL is passed on with some of its parameters, and answered") {
  struct Case {
    std::size_t parameters;
    std::size_t bytes;  // the length of a parameter, including its `?` or `&`
    std::size_t kept;
  };
  const Case one = GENERATE(values<Case>({{0, 0, 0},
                                          {parameters_max, 8, parameters_max},
                                          {1, 9'000, 1},
                                          {parameters_max + 1, 8, parameters_max},
                                          {500, 8, parameters_max},
                                          {3'000, 8, 0},
                                          {parameters_max, 270, 0},
                                          {1, url_bytes_max, 0}}));
  Bench bench;
  Client client(bench.server->port());
  std::string target = "/v1/state";
  for (std::size_t i = 0; i < one.parameters; ++i) {
    const std::string begin = (i == 0 ? "?" : "&") + std::to_string(i) + "=";
    target += begin + std::string(one.bytes - begin.size(), 'x');
  }
  client.say("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
  bench.until("the request", [&] { return bench.asked.size() == 1; });
  CHECK(bench.last.path == "/v1/state");
  CHECK(bench.last.query.size() == one.kept);
  CHECK(bench.last.url_too_long == (one.kept < one.parameters));

  bench.server->answer(bench.asked.front(), {.status = 414, .body = "why"});
  bench.until("the answer", [&] { return client.heard().ends_with("why"); });
  CHECK(client.heard().starts_with("HTTP/1.1 414 "));
}

TEST_CASE("a stream whose client has closed is noticed, though nothing is sent") {
  Bench bench;
  Client client(bench.server->port());
  const auto number = bench.stream(client);
  bench.until("the head", [&] { return client.heard().find("event-stream") != std::string::npos; });

  client.close();
  bench.pass(seconds(2));

  bench.until("the end of the stream", [&] { return !bench.ended.empty(); });
  CHECK(bench.ended == std::vector{number});
}

TEST_CASE("a stream lasts while its client stays, and is dropped if the client does not read") {
  Bench bench;
  Client client(bench.server->port(), 4'096);
  const auto number = bench.stream(client);
  bench.pass(answer_time + request_time + seconds(5));
  bench.until("a turn", [] { return true; });
  CHECK(bench.ended.empty());

  CHECK(bench.server->push(number, std::string(unread_bytes_max / 2, 'x')));
  CHECK_FALSE(bench.server->push(number, std::string(unread_bytes_max, 'x')));
  bench.until("the end of the stream", [&] { return !bench.ended.empty(); });
}

TEST_CASE("if many clients do not read, those furthest behind are dropped") {
  Bench bench;
  const std::string part(unread_bytes_max - 1'000, 'x');
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<HttpServer::Number> numbers;
  const std::size_t fit = unread_total_max / part.size();
  for (std::size_t i = 0; i <= fit; ++i) {
    clients.push_back(std::make_unique<Client>(bench.server->port(), 4'096));
    numbers.push_back(bench.stream(*clients.back()));
  }

  for (std::size_t i = 0; i < fit; ++i)
    CHECK(bench.server->push(numbers[i], part));
  bench.server->push(numbers[fit], part);

  bench.until("the end of one", [&] { return !bench.ended.empty(); });
  CHECK(bench.ended.size() == 1);
}

}  // namespace

}  // namespace server_test
