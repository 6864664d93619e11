// A proxy for TCP connections, with which a test can disturb them. A thread forwards the bytes
// between the clients and a port of this machine.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <string>
#include <thread>

namespace fleet::test {

class TcpProxy {
 public:
  enum class Mode {
    pass,
    swallow,  // loses the server's bytes; forwards the client's
    // Forwards no byte in either direction. All connections stay open.
    hold,
    refuse,  // closes all connections, also new ones
  };
  // Returns the current mode for the client `who`. The proxy calls this function again and again,
  // since the test may change the mode.
  using Rule = std::function<Mode(int who)>;
  // Returns a number for the client whose connection comes from this port. The proxy passes the
  // number to Rule as `who`.
  using Identify = std::function<int(int source_port)>;

  TcpProxy(int target_port, Rule rule, Identify identify);
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;
  ~TcpProxy();

  [[nodiscard]] int port() const { return port_; }
  // These functions return how many connections the clients have opened so far, and how many of
  // them are open now.
  [[nodiscard]] std::size_t opened() const { return opened_; }
  [[nodiscard]] std::size_t open_now() const { return open_now_; }
  // Closes all connections. Returns when they are closed.
  void break_connections();

 private:
  struct Pair {
    int client = -1;
    int server = -1;
    int who = 0;
    std::string to_server = {};
    std::string to_client = {};
    bool ended = false;
  };

  void run();
  void accept_one();
  void look_at(Pair& pair);
  static bool move(int from, int to, std::string& buffer, bool swallow);
  static void end(Pair& pair);

  int target_port_;
  Rule rule_;
  Identify identify_;
  int listener_ = -1;
  int port_ = 0;
  std::list<Pair> pairs_;
  std::atomic<std::size_t> opened_ = 0;
  std::atomic<std::size_t> open_now_ = 0;
  std::atomic<bool> over_ = false;
  std::atomic<bool> break_ = false;
  std::thread thread_;
};

// Returns a port of this machine on which no process listens now. The port is below those that the
// kernel gives to outgoing connections. Otherwise a connection of another test could get the port
// before the member listens on it.
[[nodiscard]] int free_port();

}  // namespace fleet::test
