#include "fleet/controller/options.h"

#include <CLI/CLI.hpp>

#include "base/version.h"
#include "fleet/http/access.h"
#include "fleet/model/drivers/driver_events.h"

namespace fleet {
namespace {

void add_http(CLI::App& app, ControllerOptions& options) {
  app.add_option("--http", options.http,
                 "HOST:PORT at which to serve the web page, /metrics and /v1")
      ->type_name("ADDRESS");
  app.add_option("--http-cert", options.http_certificate,
                 "PEM file of the HTTPS server's certificate")
      ->type_name("FILE");
  app.add_option("--http-key", options.http_key, "PEM file of the private key of --http-cert")
      ->type_name("FILE");
  app.add_option("--http-ca", options.http_authority,
                 "PEM file of the CA that signs the certificates of people")
      ->type_name("FILE");
  app.add_option("--http-crl", options.http_revocations,
                 "PEM file of the list of revoked certificates (CRL)")
      ->type_name("FILE");
}

void add_gates(CLI::App& app, ControllerOptions& options) {
  const auto take = [&options](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      auto gate = parse_prometheus_gate(text);
      if (!gate) throw CLI::ValidationError("--gate-prometheus", gate.reason());
      for (const PrometheusGate& other : options.prometheus_gates) {
        if (other.name != gate.value().name) continue;
        throw CLI::ValidationError("--gate-prometheus", other.name + ": given twice");
      }
      options.prometheus_gates.push_back(std::move(gate.value()));
    }
  };
  app.add_option_function<std::vector<std::string>>(
         "--gate-prometheus", take,
         "gate that queries Prometheus, as NAME=URL,QUERY,below=N,for=TIME")
      ->type_name("ENTRY")
      ->allow_extra_args(false);
  app.add_option("--gates", options.gates,
                 "directory of programs, each of which is a gate for rollouts")
      ->type_name("DIR");
}

// Refuses wrong options for the web server. Without certificates, only a loopback address is
// allowed, since everybody who reaches the port can read the cell's state.
void judge_http(const ControllerOptions& options) {
  const bool has_all = !options.http_certificate.empty() && !options.http_key.empty() &&
                       !options.http_authority.empty();
  const bool has_any = !options.http_certificate.empty() || !options.http_key.empty() ||
                       !options.http_authority.empty() || !options.http_revocations.empty();
  if (has_any && (!has_all || options.http.empty())) {
    throw CLI::ValidationError("--http-cert", "goes with --http, --http-key and --http-ca");
  }
  if (options.http.empty()) return;
  const auto address = address_of(options.http);
  if (!address) throw CLI::ValidationError("--http", options.http + " is no HOST:PORT");
  if (!has_all && !is_loopback(address->host)) {
    throw CLI::ValidationError("--http", options.http +
                                             " is not of this machine alone, which needs"
                                             " --http-cert, --http-key and --http-ca");
  }
}

}  // namespace

std::variant<ControllerOptions, Text> controller_options(int argc, char** argv) {
  ControllerOptions options;
  CLI::App app("drive the rollouts, plans and desired versions of a cell, beside other controllers",
               "fleet-controller");
  add_help_options(app, std::string("fleet-controller ") + upgrader::upgrader_version);
  app.add_option("--name", options.name,
                 "name of the controller; by default its host name and its process ID")
      ->type_name("TEXT");
  add_store_options(app, options.store, "the controller's");
  app.add_option("--lease", options.lease_s,
                 "seconds without store contact after which another controller may take over")
      ->type_name("S")
      ->check(CLI::Range(2, static_cast<int>(driver_lease_ms / 1'000)));
  app.add_option("--observe", options.observe_s,
                 "least seconds for which a desired version runs beside the old version")
      ->type_name("S")
      ->check(CLI::Range(0, 86'400));
  add_gates(app, options);
  app.add_option("--webhook-secret", options.webhook_secret,
                 "file of the secrets with which to sign notices to the webhook")
      ->type_name("FILE");
  add_http(app, options);
  try {
    parse(app, argc, argv);
    if (options.store.endpoints.empty()) throw CLI::RequiredError("--endpoint");
    judge_http(options);
  } catch (const CLI::Error& error) {
    return text_for(app, error);
  }
  return options;
}

}  // namespace fleet
