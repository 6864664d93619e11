// Implements the main program of fleet-agent. Depending on its arguments, it joins a cell, tests
// itself, runs as an agent, or prints a text such as the help.
#include <agent-protocol/agent.h>
#include <curl/curl.h>
#include <uv.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/descriptors.h"
#include "base/standard_output.h"
#include "fleet/agent/join.h"
#include "fleet/agent/node_agent.h"
#include "fleet/agent/options.h"
#include "fleet/agent/version.h"
#include "fleet/common/process_signals.h"

namespace fleet {
namespace {

int run(const AgentOptions& options, const std::vector<std::string>& arguments) {
  auto agent = agent_protocol::Agent::open(agent_version);
  uv_loop_t loop;
  if (!agent || uv_loop_init(&loop) != 0) {
    std::perror("fleet-agent: cannot start");
    return 1;
  }
  NodeAgent node(loop, options, agent_version, arguments, std::move(*agent));
  return node.run();
}

int perform(int argc, char** argv) {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  const auto asked = agent_options(argc, argv, agent_version);
  if (const auto* text = std::get_if<Text>(&asked)) {
    return upgrader::print_text("fleet-agent", text->text, text->status);
  }
  const auto& options = std::get<AgentOptions>(asked);
  if (options.join) return join_cell(*options.join);
  if (options.self_test) {
    return upgrader::print_text("fleet-agent", std::string(agent_version) + " ok\n", 0);
  }
  return run(options, std::vector<std::string>(argv + 1, argv + argc));
}

}  // namespace
}  // namespace fleet

int main(int argc, char** argv) {
  if (upgrader::open_standard_descriptors(true) != 0) return 1;
  fleet::prepare_signals();
  return fleet::perform(argc, argv);
}
