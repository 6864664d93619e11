// The fake agent of the integration tests. It does what the test orders through a socket, and sends
// the test every line that the upgrader writes. It shares no code with the upgrader, so that the
// two do not share errors.
//
// PUPPET_DIR names the test's directory. In it, the puppet connects to `socket`, holds
// `active.lock` from the moment it reads `activate` until it dies, and appends to `events` and to
// `violations`. Packets to the test: I introduction (pid, then argv, NUL-separated), L line, E end
// of input, S signal, A answer to a command. Packets from the test: a command's name, a space, its
// argument.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "tests/together/integration/puppet_journal.h"
#include "tests/together/integration/puppet_report.h"
#include "tests/together/integration/puppet_rules.h"

namespace puppet {
namespace {

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
  std::string input_;  // the beginning of an input line that is not complete yet
  std::string said_;   // the beginning of an output line that is not complete yet
  std::string output_;
  std::string flood_;    // the text that the command `flood` writes again and again
  long flood_left_ = 0;  // how often that text is still to be written; -1: without end
  // The time at which the puppet last noted the time, in microseconds; 0 if it does not note times.
  long long pulse_ = 0;
  long long longest_ = 0;  // the longest time between two such notes, in microseconds
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
  // Connects by a relative path, since the directory's own path may be too long for a socket's
  // address.
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

// Does an agent's work: notes the time every millisecond, and the longest pause so far.
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

// Writes as much output as the pipe takes now. Never blocks, since poll() reports a pipe as
// writable only if PIPE_BUF bytes fit.
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
    // The argument is N and a text that is to be written N times, or without end if N is -1.
  } else if (name == "flood") {
    flood_ = argument.substr(argument.find(' ') + 1);
    flood_left_ = number(argument);
    write_output();
  } else if (name == "unsent") {
    answer = std::to_string(static_cast<long>(output_.size()) +
                            flood_left_ * static_cast<long>(flood_.size()));
  } else if (name == "pulse") {  // answers with the longest pause so far, and notes times anew
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

// Carries out the commands that close a pipe or end the puppet, after it has written all output so
// far.
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
// ended, and reports its process id to the test. If `writing` is true, the process writes `status`
// messages until the pipe is closed. It has a session of its own, so signals to the puppet's
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
  // After the report, which shows the signal, switches off the signal that the kernel would send at
  // the upgrader's death. Tests then see the effect of the end of input alone.
  prctl(PR_SET_PDEATHSIG, 0);
  const char* directory = std::getenv("PUPPET_DIR");
  if (directory == nullptr) return 98;
  puppet::Puppet agent(std::move(report), directory);
  agent.introduce();
  agent.run();
}
