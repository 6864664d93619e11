// A small init. It starts the upgrader, starts a new one after each exit of the upgrader, and reaps
// the orphans that the init inherits.
//
// usage: small_init FD UPGRADER [ARG ...]
//
// FD is a packet socket to the observer. The process of the first upgrader executes the upgrader
// only when a packet has come from the observer. The init sends the observer these packets, in
// which STATUS is as from waitpid():
// * `started PID`: an upgrader has been started.
// * `ended PID STATUS`: the upgrader has ended.
// * `orphan PID STATUS`: an orphan has ended.
//
// SIGTERM is passed on to the upgrader, which is then not started again. When no child is left, the
// init exits with 0.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace {

// The number of starts after which the init gives up, since no test starts the upgrader so often.
constexpr int starts_max = 20;

class Init {
 public:
  Init(int watcher, char** command) : watcher_(watcher), command_(command) {}
  int run();

 private:
  void start();
  void reap();
  void tell(const std::string& text) const {
    static_cast<void>(send(watcher_, text.data(), text.size(), MSG_NOSIGNAL));
  }

  const int watcher_;
  char** const command_;
  sigset_t inherited_{};
  pid_t upgrader_ = 0;
  int starts_ = 0;
  bool ending_ = false;
  bool alone_ = false;
};

int Init::run() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t handled;
  sigemptyset(&handled);
  sigaddset(&handled, SIGCHLD);
  sigaddset(&handled, SIGTERM);
  sigprocmask(SIG_BLOCK, &handled, &inherited_);
  start();
  while (!alone_) {
    int signal = 0;
    if (sigwait(&handled, &signal) != 0) continue;
    if (signal == SIGTERM) {
      ending_ = true;
      if (upgrader_ > 0) kill(upgrader_, SIGTERM);
    }
    reap();
  }
  return 0;
}

void Init::start() {
  if (starts_ == starts_max) _exit(1);
  const bool first = starts_++ == 0;
  upgrader_ = fork();
  if (upgrader_ == 0) {
    sigprocmask(SIG_SETMASK, &inherited_, nullptr);
    char go = 0;
    if (first && recv(watcher_, &go, 1, 0) != 1) _exit(120);
    close(watcher_);
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // the kernel kills the upgrader if the init dies
    execv(command_[0], command_);
    _exit(121);
  }
  tell("started " + std::to_string(upgrader_));
}

void Init::reap() {
  int status = 0;
  pid_t pid = 0;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    const bool upgrader = pid == upgrader_;
    tell((upgrader ? "ended " : "orphan ") + std::to_string(pid) + " " + std::to_string(status));
    if (!upgrader) continue;
    upgrader_ = 0;
    if (!ending_) start();
  }
  alone_ = pid < 0 && ending_;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  return Init(std::atoi(argv[1]), argv + 2).run();
}
