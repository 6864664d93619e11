// A cluster of real etcd members on this machine, for tests (EtcdCluster). Each member has its own
// ports and files. Tests can kill, stop and isolate members, and disturb connections through
// proxies (TcpProxy). The members end with the test process, even if the test process is killed.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fleet/store/http2.h"

namespace fleet::test {

// A proxy for TCP connections, with which a test can disturb these connections. A thread forwards
// the bytes between the clients and a port of this machine.
class TcpProxy {
 public:
  enum class Mode {
    pass,
    swallow,  // drops the server's bytes; forwards the client's bytes
    // Forwards no byte in either direction. All connections stay open.
    hold,
    refuse,  // closes all open connections and every new one
  };
  // A function that returns the current mode for the connections of the client `who`. The proxy
  // calls it again and again, since the test may change the mode at any time.
  using Rule = std::function<Mode(int who)>;
  // A function that returns a number for the client whose connection comes from this port. The
  // proxy passes this number to Rule as `who`.
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
  // Closes all open connections. Returns when all of them are closed.
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

// Returns a port of this machine on which no process listens now. The port is below the range from
// which the kernel takes ports for outgoing connections. Otherwise an outgoing connection of
// another test could get this port before a member of etcd listens on the port.
[[nodiscard]] int free_port();

class EtcdCluster {
 public:
  enum class Speech { plain, tls };
  // How members connect to each other. With `by_proxies`, they connect through proxies, which
  // isolate() needs. With `direct`, for benchmarks, they connect without proxies, and the election
  // timeout is three seconds, so that a slow member on a busy machine does not cause an election.
  enum class Peers { by_proxies, direct };
  static constexpr std::size_t members_max = 5;

  explicit EtcdCluster(std::size_t members, Speech speech = Speech::tls,
                       Peers peers = Peers::by_proxies);
  EtcdCluster(const EtcdCluster&) = delete;
  EtcdCluster& operator=(const EtcdCluster&) = delete;
  ~EtcdCluster();

  [[nodiscard]] std::size_t count() const { return members_.size(); }
  [[nodiscard]] std::vector<std::string> endpoints() const;
  [[nodiscard]] std::string url(int port) const;
  [[nodiscard]] int client_port(std::size_t member) const { return members_[member].client_port; }
  // Returns the member's process id, or -1 after the member was killed.
  [[nodiscard]] pid_t process(std::size_t member) const { return members_[member].process; }
  // Returns a certificate with this name, signed by the cluster's authority. Returns an empty
  // certificate if the cluster does not use TLS.
  [[nodiscard]] Certificates certificates(const std::string& name = "root");
  [[nodiscard]] const std::string& directory() const { return directory_; }

  // ---- faults
  void kill(std::size_t member);
  void kill_all();
  // Starts a killed member again, with the data files that it had before.
  void start(std::size_t member);
  void stop(std::size_t member);  // stops the process with SIGSTOP; it no longer answers
  void cont(std::size_t member);
  // Blocks all traffic between this member and the other members. Clients can still reach the
  // member. With `off` = false, ends the isolation.
  void isolate(std::size_t member, bool off = true);
  void compact(std::int64_t revision);

  // Waits until the cluster has a leader that a majority of members follows. Returns this leader's
  // number. A leader that is killed, stopped or isolated does not count.
  [[nodiscard]] std::size_t leader();
  // Waits until the member answers requests, and belongs to a majority that has a leader.
  void wait_for(std::size_t member);
  // Runs etcdctl as the etcd user root on this member. Returns the output. Throws an exception if
  // etcdctl fails.
  std::string etcdctl(std::size_t member, const std::string& arguments);

 private:
  struct Member {
    int client_port = 0;
    int peer_port = 0;
    pid_t process = -1;
    bool stopped = false;
    // The proxy through which the other members reach this member.
    std::unique_ptr<TcpProxy> way = {};
  };

  [[nodiscard]] std::string name(std::size_t member) const { return "m" + std::to_string(member); }
  [[nodiscard]] std::vector<std::string> arguments(std::size_t member) const;
  // Returns the port on which other members reach this member: the port of its proxy, if it has a
  // proxy, and otherwise its own port.
  [[nodiscard]] int way_to(const Member& member) const;
  [[nodiscard]] bool works(std::size_t member) const;
  [[nodiscard]] int member_at(int source_port) const;
  void make_authority();
  void sign(const std::string& file, const std::string& name);

  std::string directory_;
  Speech speech_;
  Peers peers_;
  std::vector<Member> members_;
  std::array<std::atomic<bool>, members_max> isolated_{};
  // The process ids of the members. They are atomic, since the threads of the proxies read them,
  // too.
  std::array<std::atomic<pid_t>, members_max> processes_{};
};

// The output of a shell command, and whether the command exited with status 0.
struct Ran {
  std::string output = {};
  bool good = false;
};
[[nodiscard]] Ran run(const std::string& command);

// Starts a program in the background, and returns its process id. The first word is the program,
// and the other words are its arguments. The program is killed when this process ends. Its standard
// output and standard error are appended to the file `log`. If `log` is empty, the program inherits
// this process's standard output and standard error.
[[nodiscard]] pid_t start_process(const std::vector<std::string>& words,
                                  const std::string& log = "");

}  // namespace fleet::test
