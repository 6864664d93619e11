// Implements the main program of fleetctl: parses the arguments, and performs one command.
#include <curl/curl.h>

#include <string>
#include <variant>

#include "base/descriptors.h"
#include "base/standard_output.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/options.h"

int main(int argc, char** argv) {
  if (upgrader::open_standard_descriptors(true) != 0) return fleetctl::exit_failed;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  const auto asked = fleetctl::options_from(argc, argv);
  if (const auto* text = std::get_if<fleet::Text>(&asked)) {
    return upgrader::print_text("fleetctl", text->text, text->status, fleetctl::exit_failed);
  }
  const int status = fleetctl::perform(std::get<fleetctl::Options>(asked));
  // Report lost output. Otherwise a new token, which is printed only once, could be lost unnoticed.
  return upgrader::finish_output("fleetctl", status, fleetctl::exit_failed);
}
