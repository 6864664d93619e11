// Implements the main program of fleet-signer: parses the arguments, and runs the signer or prints
// a text such as the help.
#include <curl/curl.h>
#include <uv.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <variant>

#include "base/descriptors.h"
#include "base/standard_output.h"
#include "base/version.h"
#include "fleet/common/identity.h"
#include "fleet/common/log_line.h"
#include "fleet/common/process_signals.h"
#include "fleet/model/records/keys.h"
#include "fleet/signer/fleet_signer.h"

namespace fleet {
namespace {

void add_snapshots(CLI::App& app, SignerOptions& options) {
  app.add_option("--snapshots", options.snapshots, "directory for hourly snapshots of the store")
      ->type_name("DIR");
  app.add_option("--snapshots-kept", options.snapshots_kept, "number of snapshots to keep")
      ->type_name("N")
      ->check(CLI::Range(1, 100'000));
}

std::variant<SignerOptions, Text> signer_options(int argc, char** argv) {
  SignerOptions options;
  CLI::App app("sign the certificates of a cell's machines, and take snapshots of its store",
               "fleet-signer");
  add_help_options(app, std::string("fleet-signer ") + upgrader::upgrader_version);
  app.add_option("--name", options.name,
                 "name of this signer in the store; by default the machine's host name")
      ->type_name("ID");
  add_store_options(app, options.store, "the signer's");
  app.add_option("--signer", options.signer, "PEM file of the CA certificate to sign with")
      ->type_name("FILE")
      ->required();
  app.add_option("--signer-key", options.signer_key, "PEM file of the private key of --signer")
      ->type_name("FILE")
      ->required();
  app.add_option("--days", options.days, "validity of a signed certificate, in days")
      ->type_name("N")
      ->check(CLI::Range(1, 3'650));
  add_snapshots(app, options);
  try {
    parse(app, argc, argv);
    if (options.store.endpoints.empty()) throw CLI::RequiredError("--endpoint");
    if (options.name.empty()) options.name = name_of_this_machine();
    if (!is_id(options.name)) throw CLI::ValidationError("--name", options.name + " is no id");
  } catch (const CLI::Error& error) {
    return text_for(app, error);
  }
  return options;
}

}  // namespace
}  // namespace fleet

int main(int argc, char** argv) {
  if (upgrader::open_standard_descriptors(true) != 0) return 1;
  fleet::prepare_signals();
  curl_global_init(CURL_GLOBAL_DEFAULT);
  const auto asked = fleet::signer_options(argc, argv);
  if (const auto* text = std::get_if<fleet::Text>(&asked)) {
    return upgrader::print_text("fleet-signer", text->text, text->status);
  }
  const auto& options = std::get<fleet::SignerOptions>(asked);
  if (const auto authority = fleet::authority_in(options); !authority) {
    fleet::log_line("fleet-signer", "cannot sign: " + authority.reason());
    return 1;
  }
  uv_loop_t loop;
  if (uv_loop_init(&loop) != 0) {
    std::perror("fleet-signer: cannot start");
    return 1;
  }
  fleet::FleetSigner signer(loop, options);
  return signer.run();
}
