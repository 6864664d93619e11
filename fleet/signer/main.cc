// The main program of fleet-signer: reads the arguments, and runs the signer or prints a text such
// as the help.
#include <curl/curl.h>
#include <uv.h>

#include <cstdio>

#include "fleet/signer/fleet_signer.h"
#include "fleet/signer/options.h"

int main(int argc, char** argv) {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  const auto asked = fleet::signer_options(argc, argv);
  if (const auto* text = std::get_if<fleet::SignerText>(&asked)) {
    std::fputs(text->text.c_str(), text->status == 0 ? stdout : stderr);
    return text->status;
  }
  uv_loop_t loop;
  if (uv_loop_init(&loop) != 0) {
    std::perror("fleet-signer: cannot start");
    return 1;
  }
  fleet::FleetSigner signer(loop, std::get<fleet::SignerOptions>(asked));
  return signer.run();
}
