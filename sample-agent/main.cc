// The program sample-agent: parses its arguments, and performs one of four tasks.
#include <uv.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "sample-agent/agent.h"
#include "sample-agent/configuration.h"
#include "sample-agent/start_checks.h"
#include "sample-agent/variant.h"
#include "sample-agent/words.h"

namespace sample_agent {
namespace {

constexpr int failure_status = 1;
constexpr int usage_status = 2;

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

// Prints what is wrong with the arguments, and also sends it to the upgrader, which would otherwise
// see only that the agent has exited.
int refuse_arguments(const std::string& reason) {
  std::fprintf(stderr, "sample-agent: %s; see --help\n", reason.c_str());
  if (auto agent = agent_protocol::Agent::open(variant.version.text())) {
    agent->unfit(in_short("configuration: " + reason, reason_bytes_max));
  }
  return usage_status;
}

int test_self(const Configuration& configuration) {
  const std::string version = variant.version.text();
  for (const StartCheck& check : start_checks(configuration, variant.position_format)) {
    const auto wrong = check.run();
    if (!wrong) continue;
    print(version + " failed: " + check.name + ": " + *wrong + "\n");
    return check.status;
  }
  print(version + " ok\n");
  return 0;
}

int run(const Configuration& configuration, const std::vector<std::string>& arguments) {
  auto agent = agent_protocol::Agent::open(variant.version.text());
  uv_loop_t loop;
  if (!agent || uv_loop_init(&loop) != 0) {
    std::perror("sample-agent: cannot start");
    return failure_status;
  }
  int status = 0;
  {
    SampleAgent sample_agent(loop, configuration, arguments, std::move(*agent));
    status = sample_agent.run();
  }
  uv_run(&loop, UV_RUN_DEFAULT);  // runs the close callbacks, which free the handles
  uv_loop_close(&loop);
  return status;
}

int perform(const Configuration& configuration, const std::vector<std::string>& arguments) {
  switch (configuration.task) {
    case Task::show_help:
      print(help_text());
      return 0;
    case Task::show_version:
      print("sample-agent " + variant.version.text() + "\n");
      return 0;
    case Task::self_test:
      return test_self(configuration);
    case Task::run:
      return run(configuration, arguments);
  }
  return failure_status;
}

}  // namespace
}  // namespace sample_agent

int main(int argc, char** argv) {
  const std::vector<std::string_view> views(argv + (argc > 0 ? 1 : 0), argv + argc);
  const auto configuration = sample_agent::parse_arguments(views);
  if (!configuration) return sample_agent::refuse_arguments(configuration.reason());
  return sample_agent::perform(configuration.value(), {views.begin(), views.end()});
}
