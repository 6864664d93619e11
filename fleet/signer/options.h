// fleet-signer's command line as plain data. fleet-signer(8) describes the options.
#pragma once

#include <string>
#include <variant>

#include "fleet/common/store_options.h"

namespace fleet {

struct SignerOptions {
  StoreOptions store;
  std::string signer;  // the path of the certificate of the authority that signs
  std::string signer_key;
  int days = 90;          // for how many days the signed certificates are valid
  std::string name;       // this signer's name, which no other signer may have
  std::string snapshots;  // the directory for snapshots; if empty, this process takes none
  int snapshots_kept = 48;
};

struct SignerText {  // the text to show before the program exits
  std::string text;
  int status = 0;
};

[[nodiscard]] std::variant<SignerOptions, SignerText> signer_options(int argc, char** argv);

}  // namespace fleet
