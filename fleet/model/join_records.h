// The records and texts by which a machine joins a cell. Plain data; record_members.h says how they
// are written.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fleet {

// The record token/ID: a token that lets machines in. The secret itself is not in the store.
struct Token {
  std::string hash = {};   // SHA-256 of the secret, in hexadecimal; ID is its beginning
  std::string nodes = {};  // a glob: the names that it lets in; empty for all names
  std::map<std::string, std::string> labels = {};  // of the nodes that it lets in
  std::int64_t uses = 1;                           // how many nodes it lets in
  std::int64_t used = 0;                           // how many it has let in
  std::int64_t expires = 0;                        // seconds since 1970
  std::string created = {};
  std::string who = {};      // the person who has made it
  std::string revoked = {};  // when it was revoked; empty if it was not
  // the public keys that releases are signed with: the names of their files, and their contents
  std::map<std::string, std::string> release_keys = {};

  bool operator==(const Token&) const = default;
};

// The record join/FINGERPRINT: the request of a machine that is not in the cell yet, by the
// fingerprint of its public key. A controller writes it, and fleet-signer answers it.
struct JoinRequest {
  std::string node = {};     // the name that the machine wants
  std::string pem = {};      // its request for a certificate
  std::string token = {};    // the hash of its token's secret
  std::int64_t asked = 0;    // when it came, in seconds since 1970
  bool waits = false;        // fleet-signer waits for the approval of a person
  std::string refused = {};  // why there is no certificate; empty if it was not refused

  bool operator==(const JoinRequest&) const = default;
};

// The record approval/FINGERPRINT: a person lets the machine with this key in.
struct Approval {
  std::string node = {};
  std::string who = {};
  std::string time = {};

  bool operator==(const Approval&) const = default;
};

// The text of a token, as a person carries it to a machine.
struct TokenText {
  std::vector<std::string> controllers = {};   // URLs
  std::vector<std::string> store = {};         // URLs of the store's members
  std::string authority = {};                  // SHA-256 of the authority's public key
  std::vector<std::string> release_keys = {};  // SHA-256 of each file with a public key
  std::string secret = {};                     // 128 random bits, in hexadecimal

  bool operator==(const TokenText&) const = default;
};

// The text that a machine sends to a controller.
struct JoinQuestion {
  std::string node = {};
  std::string secret = {};
  std::string request = {};  // for a certificate, in PEM

  bool operator==(const JoinQuestion&) const = default;
};

// The text that a controller sends back.
struct JoinAnswer {
  std::string state = {};        // `joined` or `waits`
  std::string words = {};        // for a person
  std::string certificate = {};  // in PEM, if the machine has joined
  std::map<std::string, std::string> release_keys = {};

  bool operator==(const JoinAnswer&) const = default;
};

}  // namespace fleet
