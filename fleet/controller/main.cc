// Implements the main program of fleet-controller: parses the arguments, and runs the controller or
// prints a text such as the help.
#include <curl/curl.h>
#include <unistd.h>
#include <uv.h>

#include <cstdio>
#include <memory>
#include <string>

#include "base/descriptors.h"
#include "base/standard_output.h"
#include "fleet/common/identity.h"
#include "fleet/common/log_line.h"
#include "fleet/common/process_signals.h"
#include "fleet/controller/controller.h"
#include "fleet/controller/front.h"
#include "fleet/controller/options.h"

namespace fleet {
namespace {

std::unique_ptr<Front> front_of(const ControllerOptions& options) {
  FrontSettings settings{.controller = options.name,
                         .endpoints = options.store.endpoints,
                         .certificates = options.store.certificates,
                         .lease = std::chrono::seconds(options.lease_s),
                         .webhook_secret = options.webhook_secret};
  if (!options.http.empty()) {
    settings.website = WebsiteSettings{.address = *address_of(options.http),
                                       .certificate = options.http_certificate,
                                       .key = options.http_key,
                                       .authority = options.http_authority,
                                       .revocations = options.http_revocations,
                                       .desired = options.desired()};
  }
  return std::make_unique<Front>(std::move(settings));
}

int perform(int argc, char** argv) {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  auto asked = controller_options(argc, argv);
  if (const auto* text = std::get_if<Text>(&asked)) {
    return upgrader::print_text("fleet-controller", text->text, text->status);
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
  const auto front = front_of(options);
  if (const std::string why = front->error(); !why.empty()) {
    log_line("fleet-controller", "--http: " + why);
    return 1;
  }
  if (!options.http.empty()) {
    log_line("fleet-controller", "serves port " + std::to_string(front->port()));
  }
  front->start();
  Controller controller(loop, options);
  return controller.run();
}

}  // namespace
}  // namespace fleet

int main(int argc, char** argv) {
  if (upgrader::open_standard_descriptors(true) != 0) return 1;
  fleet::prepare_signals();
  return fleet::perform(argc, argv);
}
