// A certificate for a node that has asked for one: its name is what the store knows it by, so it is
// ours to give, and nothing but the key is taken from the request.
#pragma once

#include <string>

namespace fleetctl {

struct Signing {
  std::string request;     // PEM
  std::string signer;      // PEM: the authority's certificate
  std::string signer_key;  // PEM
  std::string name;        // node:ID
  int days = 0;
};

struct Signed {
  std::string certificate;  // PEM; empty: there is none
  std::string error;
};

// Dated back a day, for machines whose clocks are behind.
[[nodiscard]] Signed sign(const Signing& signing);

}  // namespace fleetctl
