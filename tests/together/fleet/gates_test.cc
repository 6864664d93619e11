// Tests how a controller asks a Prometheus server that is the gate of several rollouts.
#include "fleet/controller/gates.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "fleet/store/uv_timers.h"

namespace gates_test {

namespace {

using namespace fleet;

// A server that counts its connections and answers each of them. It runs in a thread of its own.
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
