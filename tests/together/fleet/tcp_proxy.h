// A proxy for TCP connections, by which a test can disturb them. A thread moves the bytes between
// the clients and a port of this machine.
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
    swallow,  // drops the server's bytes; the client's bytes arrive
    hold,     // no byte arrives in either direction, and the connection stays open
    refuse,   // ends all connections, and refuses new ones
  };
  // Returns the present mode for client `who`. The proxy calls it again and again, since the mode
  // may change.
  using Rule = std::function<Mode(int who)>;
  // Returns the number of the client that connects from this port.
  using Identify = std::function<int(int source_port)>;

  TcpProxy(int target_port, Rule rule, Identify identify);
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;
  ~TcpProxy();

  [[nodiscard]] int port() const { return port_; }
  // Returns how many connections clients have opened until now, and how many are open.
  [[nodiscard]] std::size_t opened() const { return opened_; }
  [[nodiscard]] std::size_t open_now() const { return open_now_; }
  // Ends all connections. They are closed when the function returns.
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

// Returns a port of this machine on which nobody listens at this moment.
[[nodiscard]] int free_port();

}  // namespace fleet::test
