// A bad upgrader, which the tests use as a canary (an injected bug that they must find). It starts
// the real upgrader as its child, so that a signal to this process does not end the real upgrader.
//
// usage: stand_in [OPTION ...] AGENT
//
// The options and AGENT are those of the upgrader. STAND_IN_FOR names the real upgrader. With
// STAND_IN_LIES set, the program exits with 1, whatever the status of the real upgrader is.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace {

pid_t upgrader = 0;

void pass_on(int signal) {
  kill(upgrader, signal);
}

}  // namespace

int main(int, char** argv) {
  char* const real = std::getenv("STAND_IN_FOR");
  if (real == nullptr) return 125;
  upgrader = fork();
  if (upgrader == 0) {
    argv[0] = real;
    execv(real, argv);
    _exit(127);
  }
  signal(SIGTERM, pass_on);
  int status = 0;
  while (waitpid(upgrader, &status, 0) != upgrader)
    continue;
  if (std::getenv("STAND_IN_LIES") != nullptr) return 1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
