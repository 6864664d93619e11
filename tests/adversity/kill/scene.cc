#include "tests/adversity/kill/scene.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/pointers.h"
#include "base/temporary_path.h"
#include "tests/together/integration/process_table.h"
#include "tests/together/integration/puppet_rules.h"

namespace kill_points {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t report_bytes_max = 100'000;

void write_file(const std::string& path, const std::string& text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  static_cast<void>(write(fd, text.data(), text.size()));
  close(fd);
}

// Returns the children of a process. Reads the kernel's list of them, or searches all processes
// slowly if the kernel has no such list.
std::vector<pid_t> children_of(pid_t pid) {
  const std::string number = std::to_string(pid);
  std::ifstream list("/proc/" + number + "/task/" + number + "/children");
  if (!list) return integration::children_of(pid);
  return {std::istream_iterator<pid_t>(list), {}};
}

std::string name_in(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

// Copies all programs that the tests run, so that a build during the run cannot replace them.
Theatre::Theatre() : owner_(getpid()) {
  const std::filesystem::path here = std::filesystem::canonical("/proc/self/exe").parent_path();
  const char* const upgrader = std::getenv("UPGRADER");
  std::string directory = upgrader::temporary_path("cast");
  if (mkdtemp(directory.data()) == nullptr) std::abort();
  directory_ = std::filesystem::canonical(directory);
  const auto copy = [this](const std::filesystem::path& program, const std::string& name) {
    std::filesystem::copy_file(program, directory_ + "/" + name);
    return directory_ + "/" + name;
  };
  cast_.init = copy(here / "small_init", "small_init");
  cast_.stand_in = copy(here / "stand_in", "stand_in");
  cast_.upgrader = copy(upgrader == nullptr ? here / "../../../upgrader" : upgrader, "upgrader");
  cast_.agents = directory_ + "/agents";
  std::filesystem::create_directory(cast_.agents);
  for (const char* version : {"agents/v1", "agents/v2", "agents/v3"})
    copy(here / "actor", version);
}

Theatre::~Theatre() {
  std::error_code ignored;
  if (getpid() == owner_) std::filesystem::remove_all(directory_, ignored);
}

bool Agent::heard(std::string_view type) const {
  return !line_of(type).empty();
}

std::string Agent::line_of(std::string_view type) const {
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (puppet::type_of(*line) == type) return *line;
  }
  return "";
}

std::string upgrade_request(const std::string& id, const std::string& executable,
                            const std::string& part, const std::string& more) {
  return R"({"type":"upgrade","id":")" + id + R"(","executable":")" + executable +
         R"(","args":[")" + part + R"("],"commit":"healthy")" + more + "}";
}

Scene::Scene(const Cast& cast, const Setting& setting) : cast_(cast), setting_(setting) {
  directory_ = upgrader::temporary_path("kill");
  if (mkdtemp(directory_.data()) == nullptr) std::abort();
  // Processes that outlive the init become children of this process, so that this process finds
  // them at the end.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  listen();
}

Scene::~Scene() {
  if (init_ > 0) {
    kill(init_, SIGKILL);
    if (!init_status_) waitpid(init_, nullptr, 0);
  }
  // When a process is killed, its children become children of this process. So the loop kills
  // children until none is left.
  for (auto left = children_of(getpid()); !left.empty(); left = children_of(getpid())) {
    kill(left[0], SIGKILL);
    waitpid(left[0], nullptr, __WALL);
  }
  for (const Agent& agent : agents_)
    close(agent.fd);
  close(report_);
  close(listener_);
  std::error_code ignored;
  if (std::getenv("KEEP") == nullptr) std::filesystem::remove_all(directory_, ignored);
}

void Scene::listen() {
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

std::string Scene::request() const {
  return upgrade_request(setting_.story->id, cast_.agents + "/v2", setting_.story->part,
                         setting_.story->members);
}

bool Scene::start() {
  const Story& story = *setting_.story;
  const bool boot = story.with == Story::With::boot;
  const std::string named = cast_.agents + (boot ? "/v2" : "/v1");
  if (!boot) write_file(path("request"), request());
  if (symlink(named.c_str(), path("current").c_str()) != 0) return false;
  if (boot && symlink((cast_.agents + "/v1").c_str(), path("previous").c_str()) != 0) return false;
  if (story.with == Story::With::standby && mkfifo(path("standby").c_str(), 0600) != 0)
    return false;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
  report_ = ends[0];
  init_ = fork();
  if (init_ == 0) become_init(ends[1]);
  close(ends[1]);
  char packet[64];
  const ssize_t size = recv(report_, packet, sizeof packet - 1, 0);
  if (size <= 0) return false;
  packet[size] = '\0';
  started_.push_back(std::atoi(packet + std::strlen("started ")));
  return true;
}

void Scene::become_init(int report) const {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  fcntl(report, F_SETFD, 0);
  const int log = open(path("log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(log, 2);
  close(log);
  for (const char* name : {"NOTIFY_SOCKET", "JOURNAL_STREAM", "LISTEN_PID", "LISTEN_FDS"})
    unsetenv(name);
  setenv("ACTOR_SOCKET", socket_name_.c_str(), 1);
  setenv("ACTOR_DIR", directory_.c_str(), 1);
  std::vector<std::string> command = {cast_.init, std::to_string(report), cast_.upgrader};
  command.emplace_back(setting_.story->sequential ? "--mode=sequential" : "--mode=parallel");
  // Sets time limits that are never reached: each wait in a story (a scripted upgrade) ends because
  // another event of this story happens.
  for (const char* option : {"--start-timeout", "--stop-timeout", "--exit-grace"})
    command.push_back(std::string(option) + "=60s");
  const bool boot = setting_.story->with == Story::With::boot;
  command.emplace_back(boot ? "--trial=0" : "--trial=60s");
  if (setting_.story->with == Story::With::standby) command.emplace_back("--fallback=warm");
  if (setting_.story->has_way_back()) {
    command.push_back("--control=" + path("control"));
    command.push_back("--previous=" + path("previous"));
    command.push_back("--attempts=" + std::to_string(attempts));
  }
  if (setting_.lock) command.push_back("--lock=" + path("lock"));
  if (setting_.story->relink) command.emplace_back("--relink");
  command.emplace_back("--");
  command.push_back(path("current"));
  if (boot) command.emplace_back("v2-is-bad");
  const std::vector<char*> argv = upgrader::pointers_to(command);
  execv(argv[0], argv.data());
  _exit(121);
}

void Scene::let_upgrader_go() const {
  static_cast<void>(send(report_, "go", 2, MSG_NOSIGNAL));
}

// ---- messages from the agents and from the init

void Scene::pump(Tracer& tracer, int timeout_ms) {
  tracer.serve();
  std::vector<pollfd> polled = {{listener_, POLLIN, 0}, {report_, POLLIN, 0}};
  for (const Agent& agent : agents_)
    polled.push_back({agent.gone ? -1 : agent.fd, POLLIN, 0});
  poll(polled.data(), polled.size(), timeout_ms);
  std::size_t index = 2;
  for (Agent& agent : agents_) {
    if (polled[index++].revents != 0) receive(agent);
  }
  if (polled[0].revents != 0) accept_one();
  if (polled[1].revents != 0) read_report();
}

bool Scene::wait_until(Tracer& tracer, const std::function<bool()>& condition) {
  const auto deadline = Clock::now() + cast_.patience;
  while (!condition()) {
    if (Clock::now() > deadline) return false;
    pump(tracer, 1);
  }
  return true;
}

void Scene::accept_one() {
  const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd >= 0) agents_.emplace_back().fd = fd;
}

void Scene::receive(Agent& agent) {
  static char packet[report_bytes_max];
  ssize_t size = 0;
  while ((size = recv(agent.fd, packet, sizeof packet, 0)) > 0) {
    const std::string text(packet + 1, static_cast<std::size_t>(size) - 1);
    switch (packet[0]) {
      case 'I':
        agent.pid = std::atoi(text.c_str());
        agent.version = name_in(text);
        agent.directory = text.substr(text.find(" ") + 1, text.rfind("/") - text.find(" ") - 1);
        break;
      case 'L':
        agent.lines.push_back(text);
        break;
      case 'E':
        agent.end_of_input = true;
        break;
      case 'P':
        agent.pongs.push_back(text);
        break;
      case 'V':
        violations_.push_back(std::to_string(agent.pid) + ": " + text);
        break;
      default:
        break;
    }
  }
  if (size == 0 || errno != EAGAIN) agent.gone = true;
}

void Scene::read_report() {
  char packet[64];
  ssize_t size = 0;
  while ((size = recv(report_, packet, sizeof packet - 1, MSG_DONTWAIT)) > 0) {
    packet[size] = '\0';
    std::istringstream words(packet);
    std::string what;
    pid_t pid = 0;
    int status = 0;
    words >> what >> pid >> status;
    if (what == "started") started_.push_back(pid);
    if (what == "ended") ended_.push_back({pid, status});
    if (what == "orphan") orphans_.push_back({pid, status});
  }
}

void Scene::tell(const Agent& agent, const std::string& command) const {
  static_cast<void>(send(agent.fd, command.data(), command.size(), MSG_NOSIGNAL));
}

// ---- questions about processes and files

std::vector<pid_t> Scene::descendants() const {
  std::vector<pid_t> found = {init_};
  for (std::size_t index = 0; index < found.size(); ++index) {
    const std::vector<pid_t> children = children_of(found[index]);
    found.insert(found.end(), children.begin(), children.end());
  }
  found.erase(found.begin());
  return found;
}

bool Scene::is_agent(pid_t pid) const {
  return integration::executable_of(pid).starts_with(cast_.agents);
}

const Agent* Scene::agent_of(pid_t pid) const {
  for (const Agent& agent : agents_) {
    if (agent.pid == pid) return &agent;
  }
  return nullptr;
}

std::optional<int> Scene::init_ended() {
  int status = 0;
  if (!init_status_ && waitpid(init_, &status, WNOHANG) == init_) init_status_ = status;
  return init_status_;
}

std::string Scene::named_version(const std::string& link) const {
  std::error_code ignored;
  return name_in(std::filesystem::read_symlink(path(link), ignored));
}

pid_t Scene::active_lock_holder() const {
  const int fd = open(path("active").c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return 0;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  fcntl(fd, F_GETLK, &lock);
  close(fd);
  return lock.l_type == F_UNLCK ? 0 : lock.l_pid;
}

bool Scene::upgrader_lock_held() const {
  const int fd = open(path("lock").c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return false;
  const bool held = flock(fd, LOCK_EX | LOCK_NB) != 0;
  close(fd);
  return held;
}

std::string Scene::account() const {
  std::ostringstream text;
  for (const pid_t pid : started_)
    text << "  init started upgrader " << pid << "\n";
  for (const Ended& one : ended_)
    text << "  upgrader " << one.pid << " ended with " << one.status << "\n";
  for (const Ended& one : orphans_)
    text << "  orphan " << one.pid << " ended with " << one.status << "\n";
  for (const Agent& agent : agents_) {
    text << "  agent " << agent.pid << " (" << agent.version << ")"
         << (agent.end_of_input ? ", end of input" : "") << (agent.gone ? ", gone" : "") << "\n";
    for (const std::string& line : agent.lines)
      text << "    hears " << line.substr(0, 300) << "\n";
  }
  for (const std::string& violation : violations_)
    text << "  violation: " << violation << "\n";
  for (const pid_t pid : descendants()) {
    text << "  left: " << pid << " " << integration::state_of(pid) << " "
         << integration::executable_of(pid) << "\n";
  }
  text << integration::read_file(path("log"));
  return text.str();
}

}  // namespace kill_points
