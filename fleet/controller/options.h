// fleet-controller's command line as plain data. fleet-controller(8) describes the options.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "fleet/common/store_options.h"
#include "fleet/model/desired/desired_decision.h"
#include "fleet/model/rollouts/gates.h"

namespace fleet {

struct ControllerOptions {
  std::string name;  // the controller's name in its records
  StoreOptions store;
  int lease_s = 15;
  int observe_s = 30;
  std::vector<PrometheusGate> prometheus_gates;
  std::string gates;           // a directory whose programs are gates; may be empty
  std::string webhook_secret;  // a file of secrets; if empty, notices are not signed
  std::string http;            // HOST:PORT of the web server; if empty, there is none
  std::string http_certificate;
  std::string http_key;
  std::string http_authority;
  std::string http_revocations;

  // Returns the settings with which the controller moves nodes to desired versions.
  [[nodiscard]] DesiredSettings desired() const { return {.observe_ms = Ms{1'000} * observe_s}; }
};

[[nodiscard]] std::variant<ControllerOptions, Text> controller_options(int argc, char** argv);

}  // namespace fleet
