#include "tests/together/integration/world.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>

#include "base/pointers.h"
#include "base/temporary_path.h"
#include "tests/together/integration/process_table.h"

namespace integration {
namespace {

World* current_world = nullptr;

// Prints the notes of a test as soon as one of its assertions fails. The notes are in the test's
// World, which no longer exists when the test has ended.
class Storyteller : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;
  bool assertionEnded(const Catch::AssertionStats& stats) override {
    if (stats.assertionResult.isOk() || current_world == nullptr) return true;
    std::cerr << current_world->story() << std::flush;
    return true;
  }
};
CATCH_REGISTER_LISTENER(Storyteller)

std::string beside_test(const char* variable, const std::string& name) {
  const char* set = std::getenv(variable);
  if (set != nullptr) return std::filesystem::absolute(set);
  return std::filesystem::canonical("/proc/self/exe").parent_path() / name;
}

std::string upgrader_executable() {
  return std::filesystem::weakly_canonical(beside_test("UPGRADER", "../../../upgrader"));
}

// Returns the test's own environment without the variables that an init system, an upgrader or this
// fixture sets, and with PUPPET_DIR and the variables in `added`.
Texts environment_for(const std::string& directory, const Texts& added) {
  Texts left_out = {"AGENT_PROTOCOL", "NOTIFY_SOCKET", "LISTEN_",
                    "JOURNAL_STREAM", "PUPPET_DIR",    "WATCHDOG_"};
  for (const std::string& variable : added) {
    left_out.push_back(variable.substr(0, variable.find('=') + 1));
  }
  Texts result = {"PUPPET_DIR=" + directory};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const bool out = std::any_of(left_out.begin(), left_out.end(), [&](const std::string& name) {
      return std::string_view(*variable).starts_with(name);
    });
    if (!out) result.emplace_back(*variable);
  }
  result.insert(result.end(), added.begin(), added.end());
  return result;
}

void redirect(int fd, const std::string& path) {
  const int opened = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (opened < 0 || dup2(opened, fd) < 0) _exit(120);
  close(opened);
}

}  // namespace

bool Upgrader::running() {
  int status = 0;
  if (status_ == -1 && waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  return status_ == -1;
}

std::string Upgrader::ending() const {
  if (status_ == -1) return "still running";
  if (WIFEXITED(status_)) return "exit status " + std::to_string(WEXITSTATUS(status_));
  return "signal " + std::to_string(WTERMSIG(status_));
}

std::string Upgrader::log() const {
  return read_file(log_path_);
}

World::World(Texts options) : World(Start{.options = std::move(options)}) {}

World::World(Start start) : World(Later()) {
  this->start(std::move(start));
}

World::World(Later) {
  directory_ = upgrader::temporary_path("upgrader");
  REQUIRE(mkdtemp(directory_.data()) != nullptr);
  directory_ = std::filesystem::canonical(directory_);
  directory_fd_ = open(directory_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  // If a process dies, the kernel makes the test the parent of its children. So at its end, the
  // test finds all orphans among its own children.
  REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  listen();
  current_world = this;
}

World::~World() {
  finish(std::uncaught_exceptions() == 0);
  current_world = nullptr;
  close(listener_);
  close(directory_fd_);
  std::error_code ignored;
  if (std::getenv("KEEP") == nullptr) std::filesystem::remove_all(directory_, ignored);
}

void World::listen() {
  listener_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = "/proc/self/fd/" + std::to_string(directory_fd_) + "/socket";
  std::copy(path.begin(), path.end(), address.sun_path);
  REQUIRE(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(listener_, 100) == 0);
}

std::string World::program() {
  return upgrader_executable();
}

std::string World::puppet() {
  return std::filesystem::weakly_canonical(beside_test("PUPPET", "../integration/puppet"));
}

Upgrader& World::start(Start start) {
  Upgrader& upgrader = upgraders_.emplace_back();
  upgrader.log_path_ = path("log." + std::to_string(upgraders_.size()));
  upgrader.output_path_ = path("output." + std::to_string(upgraders_.size()));
  Texts argv = {upgrader_executable()};
  INFO("UPGRADER names the upgrader, where it is not two directories above the test");
  REQUIRE(access(argv[0].c_str(), X_OK) == 0);
  argv.insert(argv.end(), start.options.begin(), start.options.end());
  argv.emplace_back("--");
  argv.push_back(start.agent.empty() ? puppet() : start.agent);
  argv.insert(argv.end(), start.args.begin(), start.args.end());
  // If start.agent is "-", the upgrader's command line has options only.
  if (start.agent == "-") argv.resize(1 + start.options.size());

  upgrader.pid_ = fork();
  REQUIRE(upgrader.pid_ >= 0);
  if (upgrader.pid_ == 0) {
    redirect(2, upgrader.log_path_);
    redirect(1, upgrader.output_path_);
    if (start.before_exec) start.before_exec();
    Texts environment = environment_for(directory_, start.environment);
    std::replace(environment.begin(), environment.end(), std::string("LISTEN_PID=self"),
                 "LISTEN_PID=" + std::to_string(getpid()));
    const auto argv_pointers = upgrader::pointers_to(argv);
    const auto environment_pointers = upgrader::pointers_to(environment);
    execve(argv_pointers[0], argv_pointers.data(), environment_pointers.data());
    _exit(121);
  }
  note("upgrader " + std::to_string(upgrader.pid_) + " is started");
  return upgrader;
}

// ---- files

std::string World::path(std::string_view name) const {
  return directory_ + "/" + std::string(name);
}

std::string World::install(std::string_view name) {
  std::filesystem::copy_file(puppet(), path(name));
  return path(name);
}

std::string World::install_script(std::string_view name) {
  return write(name, "#!" + puppet() + "\n");
}

std::string World::write(std::string_view name, std::string_view content, mode_t mode) {
  const int fd = open(path(name).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  REQUIRE(fd >= 0);
  REQUIRE(::write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
  close(fd);
  return path(name);
}

std::string World::read(std::string_view name) const {
  return read_file(path(name));
}

// ---- waiting

void World::pump(int timeout_ms) {
  std::vector<pollfd> polled = {{listener_, POLLIN, 0}};
  for (const auto& connection : connections_) {
    polled.push_back({connection->gone ? -1 : connection->fd, POLLIN, 0});
  }
  poll(polled.data(), polled.size(), timeout_ms);
  for (std::size_t index = 1; index < polled.size(); ++index) {
    if (polled[index].revents != 0) receive(*connections_[index - 1]);
  }
  if (polled[0].revents != 0) accept_one();
}

void World::accept_one() {
  const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  const int size = 1 << 20;
  setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size);
  auto connection = std::make_shared<Connection>();
  connection->fd = fd;
  connection->number = connections_.size() + 1;
  connections_.push_back(std::move(connection));
}

// Reads only one packet. So a puppet that sends many packets cannot keep the test from reading the
// packets of other puppets.
void World::receive(Connection& connection) {
  static char packet[1 << 20];
  const ssize_t size = recv(connection.fd, packet, sizeof packet, 0);
  if (size < 0 && errno == EAGAIN) return;
  if (size <= 0) {
    connection.gone = true;
    note(std::to_string(connection.number) + " is gone");
    return;
  }
  const std::string text(packet + 1, static_cast<std::size_t>(size) - 1);
  if (packet[0] == 'A') return connection.answers.push_back(text);
  if (packet[0] == 'S') return connection.signals.push_back(std::stoi(text));
  if (packet[0] == 'E') connection.end_of_input = true;
  if (packet[0] == 'L') connection.lines.push_back(text);
  if (packet[0] == 'I') introduce(connection, text);
  note(std::to_string(connection.number) + (packet[0] == 'E' ? " sees end of input" : " hears ") +
       text.substr(0, 400));
}

void World::introduce(Connection& connection, const std::string& text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\0', begin);
    connection.argv.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  connection.pid = std::stoi(connection.argv.at(0));
  connection.argv.erase(connection.argv.begin());
}

void World::wait_until(const std::function<bool()>& condition, std::string_view what, Where where) {
  const auto deadline = Clock::now() + patience;
  while (!condition()) {
    if (Clock::now() > deadline) fail("waited in vain for " + std::string(what), where);
    pump(2);
  }
}

void World::pass(int ms) {
  const auto end = Clock::now() + std::chrono::milliseconds(ms);
  wait_until([&] { return Clock::now() >= end; }, "time to pass");
}

// ---- agents, in the order of their starts

Puppet World::agent(Where where) {
  wait_until(
      [&] {
        return handed_out_ < connections_.size() &&
               (connections_[handed_out_]->pid != 0 || connections_[handed_out_]->gone);
      },
      "the start of agent " + std::to_string(handed_out_ + 1), where);
  return Puppet(*this, connections_[handed_out_++]);
}

Puppet World::first(std::string_view version, Where where) {
  Puppet agent = this->agent(where);
  agent.hello(version, where);
  agent.ready();
  agent.expect("activate", where);
  return agent;
}

Puppet World::candidate(std::string_view version, Where where) {
  Puppet agent = this->agent(where);
  CHECK(agent.hello(version, where).text("role") == "candidate");
  return agent;
}

Puppet World::fallback(Where where) {
  Puppet agent = this->agent(where);
  CHECK(agent.hello("", where).text("role") == "fallback");
  agent.ready();
  agent.expect("activate", where);
  return agent;
}

Puppet World::begin_upgrade(Puppet active, std::string_view members, Where where) {
  active.request_upgrade("u1", members);
  active.expect("accepted", where);
  return candidate("2.0", where);
}

Puppet World::ready_candidate(Puppet active, std::string_view members, Where where) {
  Puppet next = begin_upgrade(active, members, where);
  next.ready();
  return next;
}

Puppet World::stop_for_upgrade(Puppet active, std::string_view members, Where where) {
  Puppet next = ready_candidate(active, members, where);
  active.expect("stop", where);
  return next;
}

Puppet World::hand_over(Puppet active, std::string_view members, Where where) {
  Puppet next = begin_upgrade(active, members, where);
  integration::hand_over(active, next, where);
  return next;
}

std::size_t World::agents_started() {
  pump(0);
  return connections_.size();
}

// ---- the upgrader

void World::signal(int signal) {
  note("upgrader gets signal " + std::to_string(signal));
  REQUIRE(upgrader().running());
  REQUIRE(kill(upgrader().pid(), signal) == 0);
}

void World::freeze() {
  signal(SIGSTOP);
  upgrader().frozen_ = true;
  wait_until([&] { return state_of(upgrader().pid()) == 'T'; }, "the upgrader to be stopped");
}

void World::thaw() {
  upgrader().frozen_ = false;
  signal(SIGCONT);
}

void World::expect_exit(int status, Where where) {
  expect_ending("exit status " + std::to_string(status), where);
}

void World::expect_killed(int signal, Where where) {
  expect_ending("signal " + std::to_string(signal), where);
}

void World::expect_ending(const std::string& ending, Where where) {
  wait_until([&] { return !upgrader().running(); }, "the upgrader's end", where);
  if (upgrader().ending() == ending) return;
  fail("wanted the upgrader's " + ending + ", not " + upgrader().ending(), where);
}

std::string World::output() {
  return read_file(upgrader().output_path_);
}

void World::wait_for_log(std::string_view text, Where where) {
  wait_until([&] { return log().find(text) != std::string::npos; },
             "the log to say " + std::string(text), where);
}

std::string World::violations() const {
  return read("violations");
}

void World::expect_violation() {
  violation_wanted_ = true;
}

void World::note(std::string line) {
  if (story_.size() < 2'000) story_.push_back(std::move(line));
}

std::string World::story() {
  std::string text;
  for (const std::string& line : story_) {
    text += line;
    if (!line.ends_with('\n')) text += '\n';
  }
  for (const Upgrader& upgrader : upgraders_) {
    text += "-- log of upgrader " + std::to_string(upgrader.pid()) + "\n" + upgrader.log();
  }
  return text + "--\n";
}

void World::fail(const std::string& what, Where where) {
  FAIL(where.file << ":" << where.line << ": " << what);
  std::abort();
}

// ---- the end of a test: checks the rules that hold in every test, and ends all processes of the
// test

void World::finish(bool judged) {
  for (Upgrader& upgrader : upgraders_)
    end_upgrader(upgrader, judged);
  if (judged) judge_leftovers();
  for (const auto& connection : connections_)
    shutdown(connection->fd, SHUT_WR);
  const auto deadline = Clock::now() + patience;
  const auto all_gone = [&] {
    return std::all_of(connections_.begin(), connections_.end(),
                       [](const auto& connection) { return connection->gone; });
  };
  while (!all_gone() && Clock::now() < deadline)
    pump(2);
  end_leftovers();
  for (const auto& connection : connections_)
    close(connection->fd);
  if (judged && violation_wanted_) CHECK_FALSE(violations().empty());
  if (judged && !violation_wanted_) CHECK(violations() == "");
}

// Ends an upgrader that still runs at the end of a test. None of its children may be a zombie, and
// SIGQUIT must end the upgrader and all its agents.
void World::end_upgrader(Upgrader& upgrader, bool judged) {
  if (!upgrader.running()) return;
  const auto deadline = Clock::now() + patience;
  if (upgrader.frozen_) kill(upgrader.pid_, SIGCONT);
  const auto no_zombie = [&] {
    const auto children = children_of(upgrader.pid_);
    return std::none_of(children.begin(), children.end(),
                        [](pid_t child) { return state_of(child) == 'Z'; });
  };
  while (judged && !no_zombie() && Clock::now() < deadline)
    pump(2);
  if (judged) CHECK(no_zombie());
  kill(upgrader.pid_, SIGQUIT);
  while (upgrader.running() && Clock::now() < deadline)
    pump(2);
  if (judged) CHECK(upgrader.ending() == "exit status 131");
  if (!upgrader.running()) return;
  kill(upgrader.pid_, SIGKILL);
  waitpid(upgrader.pid_, &upgrader.status_, 0);
}

// Checks that no process has been left behind: an upgrader must reap its children before it exits.
// An upgrader that was killed by a signal cannot reap its children, so nothing is checked in this
// case.
void World::judge_leftovers() {
  for (const Upgrader& upgrader : upgraders_) {
    if (WIFSIGNALED(upgrader.status_)) return;
  }
  for (const pid_t child : children_of(getpid())) {
    INFO("process " << child << " has been left behind");
    CHECK(stranger(child));
  }
}

void World::end_leftovers() {
  for (const pid_t child : children_of(getpid())) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  // Kills the processes that the test has left running and passed to adopt(). No upgrader ends
  // them.
  for (const pid_t pid : strangers_)
    kill(pid, SIGKILL);
}

bool World::stranger(pid_t pid) const {
  return std::find(strangers_.begin(), strangers_.end(), pid) != strangers_.end();
}

}  // namespace integration
