#include "tests/together/fleet/etcd_cluster.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/pointers.h"
#include "base/temporary_path.h"

namespace fleet::test {

// ---- proxies

namespace {

constexpr std::size_t buffer_bytes_max = 1u << 20u;
constexpr int look_again_ms = 2;

sockaddr_in local(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int port_of(int socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

// Returns a socket that is bound to this port, or -1 if that fails. With port 0, the kernel chooses
// a port.
int socket_at(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = local(port);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

int bound_socket() {
  const int fd = socket_at(0);
  if (fd < 0) throw std::runtime_error("no port is free");
  return fd;
}

}  // namespace

int free_port() {
  constexpr int first = 10'000;
  int end = 0;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> end;
  std::random_device random;
  for (int tries = 0; tries < 1'000; ++tries) {
    const int fd =
        socket_at(end > first ? std::uniform_int_distribution(first, end - 1)(random) : 0);
    if (fd < 0) continue;
    const int port = port_of(fd);
    close(fd);
    return port;
  }
  throw std::runtime_error("no port is free");
}

TcpProxy::TcpProxy(int target_port, Rule rule, Identify identify)
    : target_port_(target_port),
      rule_(std::move(rule)),
      identify_(std::move(identify)),
      listener_(bound_socket()),
      port_(port_of(listener_)) {
  if (listen(listener_, 128) != 0) throw std::runtime_error("cannot listen");
  thread_ = std::thread([this] { run(); });
}

TcpProxy::~TcpProxy() {
  over_ = true;
  thread_.join();
  for (Pair& pair : pairs_) {
    end(pair);
  }
  close(listener_);
}

void TcpProxy::break_connections() {
  break_ = true;
  while (break_ && !over_) {
    std::this_thread::yield();
  }
}

void TcpProxy::run() {
  while (!over_) {
    std::vector<pollfd> watched{{listener_, POLLIN, 0}};
    for (const Pair& pair : pairs_) {
      if (rule_(pair.who) == Mode::hold) continue;
      if (pair.to_server.size() < buffer_bytes_max) watched.push_back({pair.client, POLLIN, 0});
      if (pair.to_client.size() < buffer_bytes_max) watched.push_back({pair.server, POLLIN, 0});
    }
    poll(watched.data(), watched.size(), look_again_ms);
    if ((watched[0].revents & POLLIN) != 0) accept_one();
    const bool all = break_;
    for (Pair& pair : pairs_) {
      if (all) end(pair);
      look_at(pair);
    }
    pairs_.remove_if([](const Pair& pair) { return pair.ended; });
    open_now_ = pairs_.size();
    if (all) break_ = false;
  }
}

void TcpProxy::accept_one() {
  sockaddr_in from{};
  socklen_t size = sizeof from;
  const int client = accept4(listener_, reinterpret_cast<sockaddr*>(&from), &size, SOCK_CLOEXEC);
  if (client < 0) return;
  const int who = identify_(ntohs(from.sin_port));
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in target = local(target_port_);
  const bool refused =
      rule_(who) == Mode::refuse ||
      connect(server, reinterpret_cast<const sockaddr*>(&target), sizeof target) != 0;
  if (refused) {
    close(client);
    close(server);
    return;
  }
  const int on = 1;
  setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ++opened_;
  pairs_.push_back(Pair{.client = client, .server = server, .who = who});
}

void TcpProxy::look_at(Pair& pair) {
  if (pair.ended) return;
  const Mode mode = rule_(pair.who);
  if (mode == Mode::hold) return;
  const bool lives = mode != Mode::refuse &&
                     move(pair.client, pair.server, pair.to_server, false) &&
                     move(pair.server, pair.client, pair.to_client, mode == Mode::swallow);
  if (!lives) end(pair);
}

// Moves bytes from one connection to the other. With `swallow`, drops the bytes that it reads.
// Returns false if one of the connections was closed.
bool TcpProxy::move(int from, int to, std::string& buffer, bool swallow) {
  char bytes[65'536];
  bool ended = false;
  while (buffer.size() < buffer_bytes_max) {
    const ssize_t count = recv(from, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) ended = true;
    if (count <= 0) break;
    if (!swallow) buffer.append(bytes, static_cast<std::size_t>(count));
  }
  while (!buffer.empty()) {
    const ssize_t count = send(to, buffer.data(), buffer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && errno == EAGAIN && !ended) break;
    if (count <= 0) return false;
    buffer.erase(0, static_cast<std::size_t>(count));
  }
  return !ended;
}

void TcpProxy::end(Pair& pair) {
  if (std::exchange(pair.ended, true)) return;
  close(pair.client);
  close(pair.server);
}

// ---- members

namespace {

using Clock = std::chrono::steady_clock;

template <class Condition>
void wait_until(const Condition& condition, const std::string& what) {
  const auto end = Clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (Clock::now() > end) throw std::runtime_error("waited in vain until " + what);
    poll(nullptr, 0, 20);
  }
}

void must_run(const std::string& command) {
  const Ran ran = run(command);
  if (!ran.good) throw std::runtime_error(command + ": " + ran.output);
}

// Returns the digits after `"name":` in a JSON text without spaces, or an empty text.
std::string number_in(const std::string& json, const std::string& name) {
  const std::size_t at = json.find("\"" + name + "\":");
  if (at == json.npos) return "";
  const std::size_t begin = at + name.size() + 3;
  return json.substr(begin, json.find_first_not_of("0123456789", begin) - begin);
}

// Returns the inode of the socket that is bound to this port. Reads it from /proc/net/tcp.
std::string inode_of(int port) {
  std::ifstream table("/proc/net/tcp");
  std::string line;
  while (std::getline(table, line)) {
    std::istringstream words(line);
    std::string slot, local, remote, state, queues, timer, retransmits, user, timeout, inode;
    words >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> user >>
        timeout >> inode;
    const std::size_t colon = local.find(':');
    if (colon == local.npos) continue;
    if (std::strtol(local.c_str() + colon + 1, nullptr, 16) == port && inode != "0") return inode;
  }
  return "";
}

bool has_socket(pid_t process, const std::string& inode) {
  const std::string wanted = "socket:[" + inode + "]";
  std::error_code error;
  const std::string directory = "/proc/" + std::to_string(process) + "/fd";
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (std::filesystem::read_symlink(entry.path(), error) == wanted) return true;
  }
  return false;
}

}  // namespace

Ran run(const std::string& command) {
  Ran ran;
  FILE* pipe = popen(("{ " + command + "; } 2>&1").c_str(), "r");
  if (pipe == nullptr) return ran;
  char bytes[4'096];
  while (const std::size_t count = fread(bytes, 1, sizeof bytes, pipe)) {
    ran.output.append(bytes, count);
  }
  ran.good = pclose(pipe) == 0;
  return ran;
}

pid_t start_process(const std::vector<std::string>& words, const std::string& log) {
  const std::vector<char*> pointers = upgrader::pointers_to(words);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  if (!log.empty()) {
    const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    dup2(fd, 1);
    dup2(fd, 2);
  }
  unsetenv("ETCD_NAME");
  execv(pointers[0], pointers.data());
  _exit(127);
}

EtcdCluster::EtcdCluster(std::size_t members, Speech speech, Peers peers)
    : speech_(speech), peers_(peers), members_(members) {
  std::string name_of = upgrader::temporary_path("etcd");
  if (mkdtemp(name_of.data()) == nullptr) throw std::runtime_error("no directory");
  directory_ = name_of;
  if (speech_ == Speech::tls) make_authority();
  for (std::size_t to = 0; to < members_.size(); ++to) {
    Member& member = members_[to];
    member.client_port = free_port();
    member.peer_port = free_port();
    if (peers_ == Peers::direct) continue;
    const auto rule = [this, to](int from) {
      const bool off = isolated_[to] || (from >= 0 && isolated_[static_cast<std::size_t>(from)]);
      return off ? TcpProxy::Mode::hold : TcpProxy::Mode::pass;
    };
    member.way = std::make_unique<TcpProxy>(member.peer_port, rule,
                                            [this](int port) { return member_at(port); });
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    start(i);
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    wait_for(i);
  }
}

// Kills the members with SIGKILL. With SIGTERM, three members would take seven seconds to hand over
// their leadership.
EtcdCluster::~EtcdCluster() {
  kill_all();
  for (Member& member : members_) {
    member.way = nullptr;
  }
  std::error_code error;
  std::filesystem::remove_all(directory_, error);
}

std::string EtcdCluster::url(int port) const {
  return (speech_ == Speech::tls ? "https://127.0.0.1:" : "http://127.0.0.1:") +
         std::to_string(port);
}

std::vector<std::string> EtcdCluster::endpoints() const {
  std::vector<std::string> urls;
  for (const Member& member : members_) {
    urls.push_back(url(member.client_port));
  }
  return urls;
}

int EtcdCluster::way_to(const Member& member) const {
  return peers_ == Peers::direct ? member.peer_port : member.way->port();
}

std::vector<std::string> EtcdCluster::arguments(std::size_t i) const {
  const auto peer_url = [](int port) { return "http://127.0.0.1:" + std::to_string(port); };
  std::string all;
  for (std::size_t k = 0; k < members_.size(); ++k) {
    all += (k == 0 ? "" : ",") + name(k) + "=" + peer_url(way_to(members_[k]));
  }
  const Member& member = members_[i];
  const std::string client_url = url(member.client_port);
  std::vector<std::string> list{"/usr/bin/etcd",
                                "--name=" + name(i),
                                "--data-dir=" + directory_ + "/" + name(i),
                                "--listen-client-urls=" + client_url,
                                "--advertise-client-urls=" + client_url,
                                "--listen-peer-urls=" + peer_url(member.peer_port),
                                "--initial-advertise-peer-urls=" + peer_url(way_to(member)),
                                "--initial-cluster=" + all,
                                "--logger=zap"};
  if (peers_ == Peers::direct)
    list.insert(list.end(), {"--heartbeat-interval=300", "--election-timeout=3000"});
  if (speech_ == Speech::plain) return list;
  list.insert(list.end(), {"--cert-file=" + directory_ + "/server.pem",
                           "--key-file=" + directory_ + "/server.key",
                           "--trusted-ca-file=" + directory_ + "/ca.pem", "--client-cert-auth"});
  return list;
}

void EtcdCluster::start(std::size_t i) {
  Member& member = members_[i];
  member.process = start_process(arguments(i), directory_ + "/" + name(i) + ".log");
  processes_[i] = member.process;
}

void EtcdCluster::kill(std::size_t i) {
  Member& member = members_[i];
  if (member.process <= 0) return;
  ::kill(member.process, SIGKILL);
  waitpid(member.process, nullptr, 0);
  member.process = -1;
  member.stopped = false;
  processes_[i] = -1;
}

void EtcdCluster::kill_all() {
  for (const Member& member : members_) {
    if (member.process > 0) ::kill(member.process, SIGKILL);
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    kill(i);
  }
}

void EtcdCluster::stop(std::size_t i) {
  members_[i].stopped = true;
  ::kill(members_[i].process, SIGSTOP);
}

void EtcdCluster::cont(std::size_t i) {
  members_[i].stopped = false;
  ::kill(members_[i].process, SIGCONT);
}

void EtcdCluster::isolate(std::size_t i, bool off) {
  isolated_[i] = off;
}

void EtcdCluster::compact(std::int64_t revision) {
  etcdctl(leader(), "compact " + std::to_string(revision));
}

bool EtcdCluster::works(std::size_t i) const {
  return members_[i].process > 0 && !members_[i].stopped && !isolated_[i];
}

std::size_t EtcdCluster::leader() {
  std::size_t found = members_.size();
  wait_until(
      [&] {
        for (std::size_t i = 0; i < members_.size(); ++i) {
          if (!works(i)) continue;
          const Ran ran =
              run("ETCDCTL_API=3 etcdctl --command-timeout=2s " +
                  std::string(speech_ == Speech::tls
                                  ? "--cacert=" + directory_ + "/ca.pem --cert=" + directory_ +
                                        "/root.pem --key=" + directory_ + "/root.key "
                                  : "") +
                  "--endpoints=" + url(members_[i].client_port) + " endpoint status -w json");
          const std::string id = number_in(ran.output, "member_id");
          if (ran.good && !id.empty() && id == number_in(ran.output, "leader")) found = i;
        }
        return found < members_.size();
      },
      "there is a leader");
  return found;
}

void EtcdCluster::wait_for(std::size_t i) {
  wait_until(
      [&] {
        try {
          etcdctl(i, "get nothing");
          return true;
        } catch (const std::runtime_error&) {
          return false;
        }
      },
      name(i) + " answers");
}

std::string EtcdCluster::etcdctl(std::size_t i, const std::string& arguments) {
  std::string command =
      "ETCDCTL_API=3 etcdctl --command-timeout=5s --endpoints=" + url(members_[i].client_port) +
      " ";
  if (speech_ == Speech::tls) {
    const Certificates root = certificates();
    command += "--cacert=" + root.authority + " --cert=" + root.own + " --key=" + root.key + " ";
  }
  const Ran ran = run(command + arguments);
  if (!ran.good) throw std::runtime_error(arguments + ": " + ran.output);
  return ran.output;
}

int EtcdCluster::member_at(int source_port) const {
  const std::string inode = inode_of(source_port);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const pid_t process = processes_[i];
    if (process > 0 && has_socket(process, inode)) return static_cast<int>(i);
  }
  return -1;
}

// ---- certificates

void EtcdCluster::make_authority() {
  must_run("cd " + directory_ +
           " && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
           " -subj '/CN=the cell' -keyout ca.key -out ca.pem");
  sign("server", "member");
  sign("root", "root");
}

void EtcdCluster::sign(const std::string& file, const std::string& name) {
  must_run("cd " + directory_ + " && openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256" +
           " -nodes -subj '/CN=" + name + "' -keyout " + file + ".key -out " + file + ".csr" +
           " && printf 'subjectAltName=IP:127.0.0.1,DNS:localhost\\n' >" + file + ".ext" +
           " && openssl x509 -req -in " + file + ".csr -CA ca.pem -CAkey ca.key -CAcreateserial" +
           " -days 2 -extfile " + file + ".ext -out " + file + ".pem");
}

Certificates EtcdCluster::certificates(const std::string& name) {
  if (speech_ == Speech::plain) return {};
  const std::string file = directory_ + "/" + name;
  if (!std::filesystem::exists(file + ".pem")) sign(name, name);
  return {directory_ + "/ca.pem", file + ".pem", file + ".key"};
}

}  // namespace fleet::test
