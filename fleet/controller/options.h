// fleet-controller's command line as plain data.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "fleet/common/store_options.h"

namespace fleet {

struct ControllerOptions {
  std::string name;  // as its drivers' records have it
  StoreOptions store;
  int lease_s = 15;
  int observe_s = 30;
  std::string signer;  // of renewed certificates; empty: none are signed here
  std::string signer_key;
  int days = 90;
  std::string snapshots;  // a directory; empty: none are taken here
  int snapshots_kept = 48;
  std::string http;  // address; empty: nothing is served
  std::string http_certificate;
  std::string http_key;
  std::string http_authority;
  std::string http_revocations;
};

struct ControllerText {  // to show, and to exit with
  std::string text;
  int status = 0;
};

[[nodiscard]] std::variant<ControllerOptions, ControllerText> controller_options(int argc,
                                                                                 char** argv);

}  // namespace fleet
