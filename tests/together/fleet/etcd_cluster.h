// Real members of etcd on this machine, with their own ports and files, and faults that tests
// cause. The members end with the test, however it ends.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "fleet/store/http2.h"
#include "tests/together/fleet/tcp_proxy.h"

namespace fleet::test {

class EtcdCluster {
 public:
  enum class Speech { plain, tls };
  // How members reach each other. `by_proxies`: through proxies, so that isolate() works. `direct`,
  // for benches: without proxies, and with an election timeout of three seconds, so that a busy
  // machine does not cause an election.
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
  // Returns the member's pid, or -1 while it is killed.
  [[nodiscard]] pid_t process(std::size_t member) const { return members_[member].process; }
  // Returns a certificate with this name, signed by the cluster's authority. Returns none if the
  // cluster does not use TLS.
  [[nodiscard]] Certificates certificates(const std::string& name = "root");
  [[nodiscard]] const std::string& directory() const { return directory_; }

  // ---- faults
  void kill(std::size_t member);
  void kill_all();
  // Starts a killed member of the store again, with the files that it had.
  void start(std::size_t member);
  void stop(std::size_t member);  // stops the member by SIGSTOP, so that it is silent
  void cont(std::size_t member);
  // Cuts the member off from the other members, in both directions; clients still reach it.
  void isolate(std::size_t member, bool off = true);
  void compact(std::int64_t revision);

  // Waits until there is a leader that a majority follows. A member that is killed, stopped or
  // isolated does not count as the leader.
  [[nodiscard]] std::size_t leader();
  // Waits until this member answers, and has a majority of the members with it.
  void wait_for(std::size_t member);
  // Runs etcdctl as admin against this member. Returns its output. Throws if it fails.
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
  // Returns the port by which other members reach this one.
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
  // The members' pids, which the proxies' threads also read.
  std::array<std::atomic<pid_t>, members_max> processes_{};
};

// Runs a command with /bin/sh. Returns its output, and whether it exited with 0.
struct Ran {
  std::string output = {};
  bool good = false;
};
[[nodiscard]] Ran run(const std::string& command);

// Starts the program that the first word names, and returns its process. The program ends with this
// process. It appends its output and errors to the file `log`; if `log` is empty, they go where
// those of this process go.
[[nodiscard]] pid_t start_process(std::vector<std::string> words, const std::string& log = "");

}  // namespace fleet::test
