// fleet-controller: arguments, then its work.
#include <curl/curl.h>
#include <unistd.h>
#include <uv.h>

#include <cstdio>
#include <string>

#include "fleet/agent/identity.h"
#include "fleet/controller/controller.h"
#include "fleet/controller/options.h"

namespace fleet {
namespace {

int perform(int argc, char** argv) {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  auto asked = controller_options(argc, argv);
  if (const auto* text = std::get_if<ControllerText>(&asked)) {
    std::fputs(text->text.c_str(), text->status == 0 ? stdout : stderr);
    return text->status;
  }
  auto& options = std::get<ControllerOptions>(asked);
  if (options.name.empty()) {
    options.name = facts_of_this_machine()["host"] + ":" + std::to_string(::getpid());
  }
  uv_loop_t loop;
  if (uv_loop_init(&loop) != 0) {
    std::perror("fleet-controller: cannot start");
    return 1;
  }
  Controller controller(loop, options);
  return controller.run();
}

}  // namespace
}  // namespace fleet

int main(int argc, char** argv) {
  return fleet::perform(argc, argv);
}
