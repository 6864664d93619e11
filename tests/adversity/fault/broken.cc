// A bad upgrader for the canaries of `make fault`: the tests must find its bug. This upgrader makes
// one upgrade, but never checks whether a system call has failed. As long as no system call fails,
// it works correctly.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace {

struct Agent {
  pid_t pid = 0;
  int input = -1;
  int output = -1;
};

constexpr int own_status = 77;

void tell(const Agent& agent, const std::string& line) {
  const std::string text = line + "\n";
  if (write(agent.input, text.data(), text.size()) < 0) _exit(own_status);
}

// Reads a line from an agent. An agent writes one line and then waits, so one read returns a whole
// line. A failed read counts as the end of input.
std::string hear(const Agent& agent) {
  pollfd one{.fd = agent.output, .events = POLLIN, .revents = 0};
  poll(&one, 1, -1);
  char text[65'536];
  const ssize_t size = read(agent.output, text, sizeof text);
  if (size < 0) _exit(own_status);
  return {text, static_cast<std::size_t>(size)};
}

Agent start(const char* program) {
  int input[2];
  int output[2];
  if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) _exit(own_status);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(input[0], 0);
    dup2(output[1], 1);
    execl(program, program, nullptr);
    _exit(own_status);
  }
  close(input[0]);
  close(output[1]);
  return {.pid = pid, .input = input[1], .output = output[0]};
}

void lead_to_ready(const Agent& agent, const char* role) {
  while (hear(agent).find("\"hello\"") == std::string::npos)
    continue;
  tell(agent, std::string(R"({"type":"welcome","protocol":1,"role":")") + role + "\"}");
  while (hear(agent).find("\"ready\"") == std::string::npos)
    continue;
}

void await_signal(int descriptor) {
  pollfd one{.fd = descriptor, .events = POLLIN, .revents = 0};
  poll(&one, 1, -1);
}

void stop(const Agent& agent) {
  tell(agent, R"({"type":"stop","reason":"upgrade","deadline_ms":1000})");
  while (hear(agent).find("\"stopped\"") == std::string::npos)
    continue;
  waitpid(agent.pid, nullptr, 0);  // the result is ignored on purpose
}

}  // namespace

int main(int argc, char** argv) {
  fcntl(0, F_GETFD);
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  sigprocmask(SIG_BLOCK, &end, nullptr);
  const int told = signalfd(-1, &end, SFD_CLOEXEC);

  const char* program = argv[argc - 1];
  const Agent first = start(program);
  lead_to_ready(first, "first");
  tell(first, R"({"type":"activate","clean":false})");
  hear(first);
  const Agent next = start(program);
  lead_to_ready(next, "candidate");
  stop(first);
  tell(next, R"({"type":"activate","clean":true})");
  hear(next);
  tell(next, R"({"type":"committed","id":"u1"})");
  await_signal(told);
  stop(next);
}
