#include "tests/together/fleet/bench_programs.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "tests/together/fleet/etcd_cluster.h"

namespace fleet::test {

ProcessUse use_of(pid_t process) {
  const std::string place = "/proc/" + std::to_string(process);
  ProcessUse use;
  std::ifstream stat(place + "/stat");
  const std::string line((std::istreambuf_iterator<char>(stat)), std::istreambuf_iterator<char>());
  // The second field, the program's name in parentheses, may contain spaces. So the fields are
  // counted from the closing parenthesis on.
  const std::size_t name = line.rfind(')');
  if (name == std::string::npos) return use;
  std::istringstream fields(line.substr(name + 1));
  std::string field;
  constexpr int skipped = 11;  // how many fields come before the processor time
  for (int i = 0; i < skipped; ++i)
    fields >> field;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  use.processor_ms = (user + system) * 1e3 / static_cast<double>(sysconf(_SC_CLK_TCK));
  std::ifstream status(place + "/status");
  while (status >> field) {
    if (field == "VmHWM:") status >> use.most_memory_kib;
    if (field == "VmRSS:") status >> use.memory_kib;
  }
  return use;
}

RealController::RealController(const std::string& build, const std::vector<std::string>& endpoints,
                               const Certificates& who, const std::string& name,
                               const std::vector<std::string>& options) {
  std::vector<std::string> words{build + "/fleet-controller", "--name=" + name,
                                 "--ca=" + who.authority, "--cert=" + who.own, "--key=" + who.key};
  for (const std::string& url : endpoints)
    words.push_back("--endpoint=" + url);
  words.insert(words.end(), options.begin(), options.end());
  // The controller's log lies beside its certificate.
  process_ = start_process(std::move(words),
                           std::filesystem::path(who.authority).replace_filename(name + ".log"));
}

RealController::~RealController() {
  kill();
}

void RealController::kill() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  waitpid(std::exchange(process_, -1), nullptr, 0);
}

}  // namespace fleet::test
