// Implements the main program of fleetctl: parses the arguments, and performs one command.
#include <curl/curl.h>

#include <cstdio>

#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/options.h"

int main(int argc, char** argv) {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  const auto asked = fleetctl::options_from(argc, argv);
  if (const auto* text = std::get_if<fleetctl::Text>(&asked)) {
    std::fputs(text->text.c_str(), text->status == 0 ? stdout : stderr);
    return text->status;
  }
  const int status = fleetctl::perform(std::get<fleetctl::Options>(asked));
  // Report an error if the output could not be written. This matters for a new token, which is
  // printed only once.
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  fleetctl::complain("cannot write what is told");
  return status == fleetctl::exit_done ? fleetctl::exit_failed : status;
}
