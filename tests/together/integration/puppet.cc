// The fake agent of the integration tests. It executes commands that the test sends through a
// socket, and sends the test every line that the upgrader writes. The puppet shares no code with
// the upgrader, so an error in the upgrader's code is not also in the puppet.
//
// PUPPET_DIR names the test's directory, in which the puppet uses four files. It connects to
// `socket`, locks `active.lock` from the moment it reads `activate` until it exits, and appends
// lines to `events` and `violations`. Each packet to the test begins with a letter. I: the puppet's
// pid and arguments, separated by NUL. L: a line from the upgrader. E: the input has ended. S: a
// signal has come. A: the answer to a command. Each packet from the test has a command's name, a
// space and an argument.

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "tests/together/integration/puppet_rules.h"

namespace puppet {
namespace {

// Adds a fact about the puppet's start to the report. The facts are those that agent-protocol(7)
// promises to an agent.
void add(std::string& report, std::string_view key, std::string_view value) {
  report.append(key).append("=").append(value).push_back('\0');
}

void add_descriptors(std::string& report) {
  DIR* directory = opendir("/proc/self/fd");
  if (directory == nullptr) return;
  while (const dirent* entry = readdir(directory)) {
    const int fd = std::atoi(entry->d_name);
    if (entry->d_name[0] == '.' || fd == dirfd(directory)) continue;
    char target[4096];
    const ssize_t size = readlinkat(dirfd(directory), entry->d_name, target, sizeof target);
    add(report, "fd:" + std::to_string(fd),
        std::string_view(target, size < 0 ? 0 : static_cast<std::size_t>(size)));
    add(report, "flags:" + std::to_string(fd), std::to_string(fcntl(fd, F_GETFL)));
    add(report, "cloexec:" + std::to_string(fd), std::to_string(fcntl(fd, F_GETFD) & FD_CLOEXEC));
  }
  closedir(directory);
}

void add_status(std::string& report) {
  const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  char text[8192];
  const ssize_t size = read(fd, text, sizeof text);
  close(fd);
  std::string_view rest(text, size < 0 ? 0 : static_cast<std::size_t>(size));
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() < rest.size() ? line.size() + 1 : rest.size());
    const std::size_t colon = line.find(":\t");
    if (colon == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, colon);
    if (name != "SigBlk" && name != "SigIgn" && name != "SigCgt") continue;
    add(report, "status:" + std::string(name), line.substr(colon + 2));
  }
}

// Returns entries `key=value`, each terminated by NUL. The keys are cwd, umask, nice, sid, pid,
// death_signal, limit:N, status:FIELD, fd:N, flags:N, cloexec:N, and env (one for each variable).
// Must be called before any descriptor is opened.
std::string report() {
  std::string report;
  add_descriptors(report);
  add_status(report);
  char directory[4096];
  add(report, "cwd", getcwd(directory, sizeof directory) != nullptr ? directory : "?");
  const mode_t mask = umask(0);
  umask(mask);
  add(report, "umask", std::to_string(mask));
  add(report, "nice", std::to_string(getpriority(PRIO_PROCESS, 0)));
  add(report, "sid", std::to_string(getsid(0)));
  add(report, "pid", std::to_string(getpid()));
  int death_signal = 0;
  prctl(PR_GET_PDEATHSIG, &death_signal);
  add(report, "death_signal", std::to_string(death_signal));
  for (int kind = 0; kind < RLIM_NLIMITS; ++kind) {
    rlimit limit{};
    getrlimit(static_cast<__rlimit_resource_t>(kind), &limit);
    add(report, "limit:" + std::to_string(kind),
        std::to_string(limit.rlim_cur) + "/" + std::to_string(limit.rlim_max));
  }
  for (char** variable = environ; *variable != nullptr; ++variable)
    add(report, "env", *variable);
  return report;
}

// Returns the time of CLOCK_MONOTONIC.
long long microseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000LL + now.tv_nsec / 1'000;
}

// Records in the test's directory when each puppet was active, and which rules were broken.
class Journal {
 public:
  explicit Journal(const char* directory);

  // Returns an open descriptor of the test's directory.
  [[nodiscard]] int directory() const { return directory_; }

  // Locks `active.lock` until this process exits. Records a violation if a different puppet holds
  // this lock.
  void become_active();

  void happened(const std::string& event) { append("events", event); }
  void violated(const std::string& rule) { append("violations", rule); }

 private:
  void append(const char* file, const std::string& text);

  int directory_;
};

Journal::Journal(const char* directory)
    : directory_(open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

void Journal::become_active() {
  happened("activate");
  const int fd = openat(directory_, "active.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  // A lock of fcntl() belongs to one process, so a child that outlives the puppet does not hold it.
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (fcntl(fd, F_SETLK, &lock) != 0) violated("two agents are active");
}

void Journal::append(const char* file, const std::string& text) {
  const int fd = openat(directory_, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const long long now = microseconds();
  dprintf(fd, "%lld.%06lld %d %s\n", now / 1'000'000, now % 1'000'000, getpid(), text.c_str());
  close(fd);
}

constexpr std::size_t packet_bytes_max = 200'000;

int number(const std::string& text) {
  return std::atoi(text.c_str());
}

class Puppet {
 public:
  Puppet(std::string report, const char* directory);
  void introduce();
  [[noreturn]] void run();

 private:
  void beat();
  void read_input();
  void take_line(const std::string& line);
  void say(const std::string& bytes);
  void write_output();
  void drain_output();
  void read_signal();
  void read_command();
  void obey(const std::string& name, const std::string& argument);
  void obey_end(const std::string& name, const std::string& argument);
  void fork_holder(bool writing);
  void watch_signal(int signal);
  void tell(char kind, const std::string& text);

  std::string report_;
  Journal journal_;
  int socket_;
  int signals_ = -1;
  sigset_t watched_{};
  Rules rules_;
  std::string input_;  // bytes that were read after the last newline
  std::string said_;   // bytes that were written after the last newline
  std::string output_;
  std::string flood_;    // the text of the command `flood`
  long flood_left_ = 0;  // how often the puppet must still write flood_; -1: without end
  // The time that the puppet recorded last, in microseconds; 0 if it does not record times.
  long long pulse_ = 0;
  long long longest_ = 0;  // the longest time between two recorded times, in microseconds
  bool reading_ = true;
  bool writing_ = true;
};

Puppet::Puppet(std::string report, const char* directory)
    : report_(std::move(report)), journal_(directory) {
  signal(SIGPIPE, SIG_IGN);
  sigemptyset(&watched_);
  socket_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const int size = 1 << 20;
  setsockopt(socket_, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // Connects through a short path below /proc/self/fd, because the path of the directory may be too
  // long for a socket's address.
  std::snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/socket",
                journal_.directory());
  if (connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) _exit(99);
}

void Puppet::introduce() {
  std::string text = std::to_string(getpid()) + '\0';
  const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  char part[4096];
  for (ssize_t size; (size = read(fd, part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(size));
  }
  close(fd);
  tell('I', text);
}

void Puppet::run() {
  for (;;) {
    const bool unsent = writing_ && (!output_.empty() || flood_left_ != 0);
    pollfd polled[] = {{socket_, POLLIN, 0},
                       {reading_ ? 0 : -1, POLLIN, 0},
                       {unsent ? 1 : -1, POLLOUT, 0},
                       {signals_, POLLIN, 0}};
    const int ready = poll(polled, 4, pulse_ == 0 ? -1 : 1);
    if (pulse_ != 0) beat();
    if (ready < 0) continue;
    if (polled[2].revents != 0) write_output();
    if (polled[1].revents != 0) read_input();
    if (polled[3].revents != 0) read_signal();
    if (polled[0].revents != 0) read_command();
  }
}

// Does an agent's work: records the time every millisecond, and the longest pause so far.
void Puppet::beat() {
  const long long now = microseconds();
  longest_ = now - pulse_ > longest_ ? now - pulse_ : longest_;
  pulse_ = now;
}

void Puppet::read_input() {
  char part[65'536];
  const ssize_t size = read(0, part, sizeof part);
  if (size <= 0) {
    if (!input_.empty()) journal_.violated("half a line at the end of input: " + input_);
    reading_ = false;
    tell('E', "");
    return;
  }
  input_.append(part, static_cast<std::size_t>(size));
  for (std::size_t end; (end = input_.find('\n')) != std::string::npos;) {
    take_line(input_.substr(0, end));
    input_.erase(0, end + 1);
  }
}

void Puppet::take_line(const std::string& line) {
  const std::string wrong = rules_.hears(line);
  if (!wrong.empty()) journal_.violated(wrong + ": " + line);
  if (type_of(line) == "activate") journal_.become_active();
  if (type_of(line) == "stop") journal_.happened("stop");
  tell('L', line);
}

void Puppet::say(const std::string& bytes) {
  said_ += bytes;
  for (std::size_t end; (end = said_.find('\n')) != std::string::npos;) {
    rules_.says(said_.substr(0, end));
    said_.erase(0, end + 1);
  }
  output_ += bytes;
  write_output();
}

// Writes as much output as the pipe has room for, but a call writes at most 4096 bytes of a flood
// that never ends. Never blocks: each write has at most PIPE_BUF bytes, and poll() reports a pipe
// as writable only if so many bytes fit.
void Puppet::write_output() {
  for (;;) {
    while (flood_left_ != 0 && output_.size() < 65'536) {
      output_ += flood_;
      if (flood_left_ > 0) --flood_left_;
    }
    pollfd polled{1, POLLOUT, 0};
    if (output_.empty() || poll(&polled, 1, 0) != 1) return;
    const ssize_t size = write(1, output_.data(), output_.size() < 4096 ? output_.size() : 4096);
    if (size <= 0) {
      writing_ = false;
      return;
    }
    output_.erase(0, static_cast<std::size_t>(size));
    if (flood_left_ < 0) return;
  }
}

void Puppet::drain_output() {
  while (writing_ && !output_.empty()) {
    const ssize_t size = write(1, output_.data(), output_.size());
    if (size <= 0) return;
    output_.erase(0, static_cast<std::size_t>(size));
  }
}

void Puppet::read_signal() {
  signalfd_siginfo info{};
  if (read(signals_, &info, sizeof info) == sizeof info) tell('S', std::to_string(info.ssi_signo));
}

void Puppet::read_command() {
  static char packet[packet_bytes_max];
  const ssize_t size = recv(socket_, packet, sizeof packet, 0);
  if (size <= 0) _exit(0);  // the test has closed its end of the socket
  const std::string command(packet, static_cast<std::size_t>(size));
  const std::size_t space = command.find(' ');
  const std::string argument = space == std::string::npos ? "" : command.substr(space + 1);
  obey(command.substr(0, space), argument);
}

void Puppet::obey(const std::string& name, const std::string& argument) {
  std::string answer;
  if (name == "say") {
    say(argument);
    // The argument of the command `flood` is N and a text. The puppet writes the text N times, or
    // without end if N is -1.
  } else if (name == "flood") {
    flood_ = argument.substr(argument.find(' ') + 1);
    flood_left_ = number(argument);
    write_output();
  } else if (name == "unsent") {
    answer = std::to_string(static_cast<long>(output_.size()) +
                            flood_left_ * static_cast<long>(flood_.size()));
  } else if (name == "pulse") {  // answers with the longest pause since the last `pulse`
    answer = std::to_string(longest_);
    longest_ = 0;
    pulse_ = microseconds();
  } else if (name == "report") {
    answer = report_;
  } else if (name == "stop-reading") {
    reading_ = false;
  } else if (name == "start-reading") {
    reading_ = true;
  } else if (name == "close-input") {
    reading_ = false;
    close(0);
  } else if (name == "hold-pipes") {
    fork_holder(argument == "writing");
    return;
  } else if (name == "catch") {
    watch_signal(number(argument));
  } else if (name == "ignore") {
    signal(number(argument), SIG_IGN);
  } else {
    obey_end(name, argument);
  }
  tell('A', answer);
}

// Executes commands that close a pipe or end the puppet. Before that, writes all output that is
// still to be written.
void Puppet::obey_end(const std::string& name, const std::string& argument) {
  drain_output();
  if (name == "close-output") {
    writing_ = false;
    close(1);
  } else if (name == "close-output-and-exit") {
    journal_.happened("exit " + argument);
    close(1);
    _exit(number(argument));
  } else if (name == "exit") {
    journal_.happened("exit " + argument);
    _exit(number(argument));
  } else if (name == "kill") {
    journal_.happened("signal " + argument);
    kill(getpid(), number(argument));
    pause();
  } else {
    journal_.violated("the test gave an unknown command: " + name);
  }
}

// Starts a process that keeps the puppet's standard input and output open after the puppet has
// exited. Reports the process's id to the test. If `writing` is true, the process writes `status`
// messages until the pipe is closed. The process has its own session, so signals to the puppet's
// process group do not reach it.
void Puppet::fork_holder(bool writing) {
  const pid_t pid = fork();
  if (pid != 0) {
    tell('A', std::to_string(pid));
    return;
  }
  setsid();
  close_range(3, ~0U, 0);
  while (writing && write(1, "{\"type\":\"status\",\"text\":\"holder\"}\n", 34) > 0)
    continue;
  for (;;)
    pause();
}

void Puppet::watch_signal(int signal) {
  sigaddset(&watched_, signal);
  sigprocmask(SIG_BLOCK, &watched_, nullptr);
  signals_ = signalfd(signals_, &watched_, SFD_CLOEXEC);
}

void Puppet::tell(char kind, const std::string& text) {
  const std::string packet = kind + text;
  if (send(socket_, packet.data(), packet.size(), MSG_NOSIGNAL) < 0) _exit(0);
}

}  // namespace

}  // namespace puppet

int main() {
  std::string report = puppet::report();
  // The upgrader makes the kernel send a signal to its agents when the upgrader dies
  // (PR_SET_PDEATHSIG). The puppet has already recorded this setting in its report. It now switches
  // the signal off, so that tests see only the effect of the closed input.
  prctl(PR_SET_PDEATHSIG, 0);
  const char* directory = std::getenv("PUPPET_DIR");
  if (directory == nullptr) return 98;
  puppet::Puppet agent(std::move(report), directory);
  agent.introduce();
  agent.run();
}
