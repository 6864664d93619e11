// Tests the time limit of a fetch. A fetch must end even if a server sends single bytes forever,
// and even if the path names something that is not a regular file.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "tests/support/temporary_directory.h"
#include "tools/agent-releases/shell/download.h"
#include "tools/agent-releases/shell/fetch.h"

namespace fetch_test {

using namespace agent_releases;
using namespace std::chrono_literals;

namespace {

// A server that sends the beginning of a long answer, and then single bytes until the client closes
// the connection. After 20 s the server closes the connection itself, so that the test always ends.
class SlowServer {
 public:
  SlowServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const there = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(::bind(listener_, there, size) == 0);
    REQUIRE(::listen(listener_, 1) == 0);
    REQUIRE(::getsockname(listener_, there, &size) == 0);
    url_ = "http://127.0.0.1:" + std::to_string(::ntohs(address.sin_port)) + "/slow";
    thread_ = std::thread([this] { serve(); });
  }
  SlowServer(const SlowServer&) = delete;
  SlowServer& operator=(const SlowServer&) = delete;
  ~SlowServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }

  [[nodiscard]] const std::string& url() const { return url_; }

  // Must be called after the fetch. Returns true if the client has closed the connection, and false
  // if the server had to close it.
  [[nodiscard]] bool was_patient() const { return !has_given_up_; }

 private:
  void serve() {
    const int peer = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (peer < 0) return;
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n";
    ::send(peer, head.data(), head.size(), MSG_NOSIGNAL);
    const auto ends = std::chrono::steady_clock::now() + 20s;
    while (::send(peer, "x", 1, MSG_NOSIGNAL) == 1) {
      pollfd hangs_up{.fd = peer, .events = POLLRDHUP, .revents = 0};
      if (::poll(&hangs_up, 1, 50) != 0) break;
      has_given_up_ = has_given_up_ || std::chrono::steady_clock::now() > ends;
      if (has_given_up_) break;
    }
    ::close(peer);
  }

  int listener_;
  std::string url_;
  std::atomic<bool> has_given_up_ = false;
  std::thread thread_;
};

Result<std::string> fetch(const std::string& url, const Fetcher::Limits& limits,
                          std::function<bool()> cancelled = {}) {
  auto fetcher = Fetcher::make(limits, std::move(cancelled));
  REQUIRE(fetcher);
  return fetcher.value().text(url, 65'536);
}

}  // namespace

TEST_CASE("a server that is too slow for too long is not waited for") {
  const SlowServer server;

  const auto text = fetch(server.url(), {.bytes_a_second = 2'048, .slow_s = 1, .text = 1h});

  REQUIRE_FALSE(text);
  CHECK(server.was_patient());
  CHECK(text.refusal().trouble == Trouble::cut_off);
  CHECK(text.reason().find("too slow") != std::string::npos);
}

TEST_CASE("a fetch has a limit also where each byte comes in time") {
  const SlowServer server;

  const auto text = fetch(server.url(), {.bytes_a_second = 1, .slow_s = 3'600, .text = 300ms});

  REQUIRE_FALSE(text);
  CHECK(server.was_patient());
  CHECK(text.refusal().trouble == Trouble::cut_off);
}

TEST_CASE("a fetch ends when the caller cancels it") {
  const SlowServer server;

  const auto text =
      fetch(server.url(), {.bytes_a_second = 1, .slow_s = 3'600, .text = 1h}, [] { return true; });

  REQUIRE_FALSE(text);
  CHECK(server.was_patient());
  CHECK(text.reason() == "it was cancelled");
}

TEST_CASE("a release may take as long as its size takes at 8 KiB a second, and ten minutes") {
  CHECK(fetch_limit(0) == 10min);
  CHECK(fetch_limit(8'192) == 10min + 1s);
  CHECK(fetch_limit(std::int64_t{1} << 36) == 10min + 8'388'608s);
}

TEST_CASE(
    "a path that is not a regular file is refused, and a file is read from the given offset") {
  const TemporaryDirectory place;
  REQUIRE(::mkfifo((place / "fifo").c_str(), 0600) == 0);
  place.write("a file", "0123456789");
  auto made = Fetcher::make({});
  REQUIRE(made);
  Fetcher& fetcher = made.value();

  CHECK(fetcher.text("file://" + (place / "fifo"), 100).reason() ==
        "cannot fetch file://" + (place / "fifo") + ": it is not a regular file");
  CHECK(fetcher.text("file:///dev/zero", 100).reason() ==
        "cannot fetch file:///dev/zero: it is not a regular file");
  CHECK(fetcher.text("file://" + (place / "a%20file"), 10).value() == "0123456789");
  CHECK(fetcher.text("file://" + (place / "a%20file"), 9)
            .reason()
            .ends_with("has more than the 9 bytes that it may have"));
  std::string rest;
  const Fetcher::Request request{.url = "file://" + (place / "a%20file"),
                                 .from = 7,
                                 .bytes = 10,
                                 .take =
                                     [&](std::string_view bytes) {
                                       rest += bytes;
                                       return Outcome(std::monostate{});
                                     },
                                 .progress = {}};
  CHECK(fetcher.fetch(request));
  CHECK(rest == "789");
}

TEST_CASE("http and https alone are of the network, however they are written") {
  for (const char* url : {"http://x/y", "https://x/y", "HTTP://x/y"}) {
    INFO(url);
    CHECK(is_of_network(url));
  }
  for (const char* url : {"file:///x", "FILE:///x", "/x", "x", "", "ftp://x/y", "gopher://x"}) {
    INFO(url);
    CHECK_FALSE(is_of_network(url));
  }
}

TEST_CASE("the user and password in a URL are not shown, even if libcurl cannot parse the URL") {
  CHECK(shown_url("http://u:secret@host/m.json") == "http://host/m.json");
  CHECK(shown_url("http://u:secret@host:99999/m.json") == "...@host:99999/m.json");
  CHECK(shown_url("http://u:my secret@host/m.json") == "...@host/m.json");
  CHECK(shown_url("http://u:se/cret@ho st/m.json") == "...@ho st/m.json");
  CHECK(shown_url("odd://u:secret@host/m.json") == "...@host/m.json");
  CHECK(shown_url("http://host:99999/m.json") == "http://host:99999/m.json");
  CHECK(resolve_url("file:///a", "http://u:secret@host:99999/m").reason() ==
        "`...@host:99999/m` is no URL of http, https or file");
}

}  // namespace fetch_test
