#include "tests/adversity/endurance/troupe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/temporary_path.h"
#include "tests/together/integration/puppet_rules.h"

namespace endurance {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto load_interval = std::chrono::milliseconds(1);
constexpr std::size_t packet_bytes_max = 100'000;

}  // namespace

Troupe::Troupe(const Programs& programs, const Variables& variables) {
  directory_ = upgrader::temporary_path("endurance");
  if (mkdtemp(directory_.data()) == nullptr) std::abort();
  for (const char* version : {"/v1", "/v2", "/v3"})
    std::filesystem::copy_file(programs.actor, directory_ + version);
  const std::string log = directory_ + "/log";
  log_ = open(log.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  listen();
  upgrader_ = fork();
  if (upgrader_ == 0) become_upgrader(programs.upgrader, variables);
}

Troupe::~Troupe() {
  if (upgrader_runs()) {
    kill(upgrader_, SIGQUIT);
    waitpid(upgrader_, nullptr, 0);
  }
  for (const Agent& agent : agents_)
    close(agent.fd);
  close(log_);
  close(listener_);
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void Troupe::listen() {
  listener_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  socket_name_ = "upgrader" + directory_;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t size = std::min(socket_name_.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, socket_name_.data(), size);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), length) != 0) std::abort();
  if (::listen(listener_, 100) != 0) std::abort();
}

void Troupe::become_upgrader(const std::string& program, const Variables& variables) const {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int log = open((directory_ + "/log").c_str(), O_WRONLY | O_APPEND);
  dup2(log, 2);
  close(log);
  for (const char* name : {"NOTIFY_SOCKET", "JOURNAL_STREAM", "LISTEN_PID", "LISTEN_FDS"})
    unsetenv(name);
  setenv("ACTOR_SOCKET", socket_name_.c_str(), 1);
  setenv("ACTOR_DIR", directory_.c_str(), 1);
  for (const std::string& variable : variables)
    putenv(strdup(variable.c_str()));
  const std::string agent = directory_ + "/v1";
  // Sets every time limit to a minute, so that no limit passes by accident. The request for an
  // upgrade that must fail because a time limit passes sets a shorter limit.
  execl(program.c_str(), program.c_str(), "--start-timeout=1m", "--stop-timeout=1m",
        "--exit-grace=1m", "--trial=1m", "--", agent.c_str(), nullptr);
  _exit(121);
}

bool Troupe::upgrader_runs() {
  int status = 0;
  if (status_ == -1 && waitpid(upgrader_, &status, WNOHANG) == upgrader_) status_ = status;
  return status_ == -1;
}

int Troupe::end() {
  kill(upgrader_, SIGTERM);
  wait_until([this] { return !upgrader_runs(); });
  return status_ != -1 && WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
}

void Troupe::pump() {
  std::vector<pollfd> polled = {{listener_, POLLIN, 0}};
  for (const Agent& agent : agents_)
    polled.push_back({agent.fd, POLLIN, 0});
  poll(polled.data(), polled.size(), 1);
  std::size_t index = 1;
  for (Agent& agent : agents_) {
    if (polled[index++].revents != 0) receive(agent);
  }
  if (polled[0].revents != 0) accept_all();
  agents_.remove_if([](const Agent& agent) {
    if (agent.gone) close(agent.fd);
    return agent.gone;
  });
  put_load_on();
}

bool Troupe::wait_until(const std::function<bool()>& condition, std::chrono::seconds patience) {
  const auto deadline = Clock::now() + patience;
  while (!condition()) {
    if (Clock::now() > deadline || !upgrader_runs()) return condition();
    pump();
  }
  return true;
}

void Troupe::accept_all() {
  for (int fd; (fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;)
    agents_.emplace_back().fd = fd;
}

void Troupe::receive(Agent& agent) {
  static char packet[packet_bytes_max];
  ssize_t size = 0;
  while ((size = recv(agent.fd, packet, sizeof packet, 0)) > 0) {
    const std::string text(packet + 1, static_cast<std::size_t>(size) - 1);
    if (packet[0] == 'I') agent.pid = std::atoi(text.c_str());
    if (packet[0] == 'L') hear(agent, text);
    if (packet[0] == 'V') violations_.push_back(std::to_string(agent.pid) + ": " + text);
    if (packet[0] == 'S' && text == std::to_string(asked_)) ++served_;
  }
  if (size == 0 || errno != EAGAIN) agent.gone = true;
}

void Troupe::hear(Agent& agent, const std::string& line) {
  const std::string_view type = puppet::type_of(line);
  if (type == "welcome") {
    for (const char* role : {"first", "candidate", "fallback"}) {
      if (line.find("\"" + std::string(role) + "\"") != std::string::npos) agent.role = role;
    }
  }
  if (type == "activate") agent.active = true;
  if (type == "committed") agent.committed = true;
  if (type == "upgrade_failed") ++agent.failures;
}

void Troupe::put_load_on() {
  if (Clock::now() < next_load_) return;
  next_load_ = Clock::now() + load_interval;
  for (const Agent& agent : agents_) {
    if (!agent.active) continue;
    const std::string command = "serve " + std::to_string(++asked_);
    static_cast<void>(send(agent.fd, command.data(), command.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  }
}

void Troupe::say(const Agent& agent, const std::string& line) const {
  const std::string command = "say " + line;
  static_cast<void>(send(agent.fd, command.data(), command.size(), MSG_NOSIGNAL));
}

const Agent* Troupe::only_agent() const {
  return agents_.size() == 1 ? &agents_.front() : nullptr;
}

std::vector<std::string> Troupe::new_log_lines() {
  char part[65'536];
  for (ssize_t size; (size = read(log_, part, sizeof part)) > 0;)
    log_rest_.append(part, static_cast<std::size_t>(size));
  std::vector<std::string> lines;
  for (std::size_t end; (end = log_rest_.find('\n')) != std::string::npos;) {
    lines.push_back(log_rest_.substr(0, end));
    log_rest_.erase(0, end + 1);
  }
  return lines;
}

}  // namespace endurance
