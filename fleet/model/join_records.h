// The records and texts by which a machine joins a cell. Plain data; record_members.h says how
// they are written.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fleet {

// The record token/ID: a token with which machines may join the cell. The store has only a hash of
// the token's secret.
struct Token {
  std::string hash = {};   // SHA-256 of the secret, in hexadecimal; begins with the token's ID
  std::string nodes = {};  // a glob for the names of the nodes; empty for all names
  // The labels of the nodes that join with this token.
  std::map<std::string, std::string> labels = {};
  std::int64_t uses = 1;     // how many nodes may join with the token
  std::int64_t used = 0;     // how many nodes have joined with the token
  std::int64_t expires = 0;  // when the token expires, in seconds since 1970
  std::string created = {};
  std::string who = {};      // the person who has made the token
  std::string revoked = {};  // when the token was revoked; empty if it was not
  // The public keys of releases: the name of each file, and its contents.
  std::map<std::string, std::string> release_keys = {};

  bool operator==(const Token&) const = default;
};

// The record join/FINGERPRINT: the request of a machine that wants to join the cell. FINGERPRINT is
// the fingerprint of the machine's public key. A controller writes the record, and fleet-signer
// answers the request.
struct JoinRequest {
  std::string node = {};     // the name that the machine wants to have in the cell
  std::string pem = {};      // the machine's request for a certificate, in PEM
  std::string token = {};    // the hash of the secret in the machine's token
  std::int64_t asked = 0;    // when the request came, in seconds since 1970
  bool waits = false;        // true: a person has to approve the request first
  std::string refused = {};  // why the request was refused; empty if it was not
  // The signed certificate. The node gets it only after the node's user was made in the store;
  // until then it is kept here.
  std::string certificate = {};

  bool operator==(const JoinRequest&) const = default;
};

// The record approval/FINGERPRINT: a person allows the machine with this key to join.
struct Approval {
  std::string node = {};
  std::string who = {};
  std::string time = {};

  bool operator==(const Approval&) const = default;
};

// The record signer/NAME of a fleet-signer at work. The record has a lease. Times are in seconds
// since 1970.
struct SignerAtWork {
  std::string version = {};
  std::string since = {};
  bool takes_snapshots = false;
  // The time of the signer's last snapshot; 0 if it has taken none.
  std::int64_t snapshot = 0;
  std::int64_t certificate_ends = 0;  // when the signer's own certificate ends; 0 if not known
  std::string trouble = {};  // why the last try to take a snapshot failed; empty if it succeeded

  bool operator==(const SignerAtWork&) const = default;
};

// The record of a fleet-controller. The record controller/NAME stays when the controller ends. The
// record controller/NAME/life/ID is that of one process at work: it has a lease, and vanishes when
// the process ends.
struct ControllerAtWork {
  std::string version = {};
  std::string since = {};  // when this process of the controller began

  bool operator==(const ControllerAtWork&) const = default;
};

// The text of a token, which a person brings to a machine.
struct TokenText {
  std::vector<std::string> controllers = {};  // the URLs of the cell's controllers
  std::vector<std::string> store = {};        // the URLs of the store's members
  std::string authority = {};                 // SHA-256 of the authority's public key
  // The SHA-256 hashes of the files with the publishers' public keys.
  std::vector<std::string> release_keys = {};
  std::string secret = {};  // 128 random bits, in hexadecimal

  bool operator==(const TokenText&) const = default;
};

// The question that a machine sends to a controller, to join the cell.
struct JoinQuestion {
  std::string node = {};
  std::string secret = {};
  std::string request = {};  // the request for a certificate, in PEM

  bool operator==(const JoinQuestion&) const = default;
};

// The controller's answer to a machine that wants to join.
struct JoinAnswer {
  std::string state = {};        // `joined`, or `waits`: a person has to approve the machine first
  std::string words = {};        // a message for people
  std::string certificate = {};  // the new certificate in PEM, if the machine has joined
  std::map<std::string, std::string> release_keys = {};

  bool operator==(const JoinAnswer&) const = default;
};

}  // namespace fleet
