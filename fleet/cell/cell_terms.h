// A cell as its administrator orders it: the machines of its store and of its controllers, and the
// certificates that they need. Plain data and decisions; files are read and written elsewhere.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace fleet {

struct CellMachine {
  std::string name = {};     // an id, as in ids.h
  std::string address = {};  // by which others reach it: an IP address or a host name
  int client_port = 2'379;   // of a member of the store
  int peer_port = 2'380;
};

struct CellTerms {
  std::vector<CellMachine> members = {};
  std::vector<CellMachine> controllers = {};
};

// Returns the reason why a cell cannot have these terms: it has no member, a name is no id or
// stands for two machines, or one machine has two addresses. Returns an empty text if it can.
[[nodiscard]] std::string why_no_cell(const CellTerms& terms);

// A certificate and its key, two files of the cell's directory: FILE.pem and FILE.key.
struct CertificateWanted {
  std::string file = {};
  std::string name = {};
  std::string authority = {};               // the FILE of its signer; empty if it signs itself
  std::vector<std::string> addresses = {};  // at which its owner serves; empty for a client
  int days = 0;
};

// The authority of clients and the one of members among themselves, then root, and for each machine
// what it needs. Loopback stands beside each address.
[[nodiscard]] std::vector<CertificateWanted> certificates_of(const CellTerms& terms);

// The name that the store and other controllers know a controller by.
[[nodiscard]] std::string controller_file(const std::string& machine);

// The files that the directory has for one wanted certificate.
struct CertificateThere {
  bool certificate = false;
  bool key = false;
  std::string unfit = {};  // why the certificate cannot be used as it is; empty if it can
};

// Which certificates are made, for the key that is there or for a new one; or why none is made.
struct CertificatePlan {
  std::vector<CertificateWanted> make = {};
  std::vector<std::string> refused = {};  // a sentence for each reason
};
// A certificate that is there is never replaced, and never signed by an authority that is younger.
[[nodiscard]] CertificatePlan plan_certificates(
    const std::vector<CertificateWanted>& wanted,
    const std::map<std::string, CertificateThere>& there);

// The settings of one member as etcd's variables: NAME=VALUE. `files` is the directory of its
// certificates, `data` that of its database.
[[nodiscard]] std::vector<std::string> etcd_settings(const CellTerms& terms,
                                                     const CellMachine& member,
                                                     const std::string& files,
                                                     const std::string& data);

// Returns the machine that has the name, or nullptr. The caller keeps the vector.
[[nodiscard]] const CellMachine* machine_named(const std::vector<CellMachine>& machines,
                                               const std::string& name);

// Returns the address as a URL spells it: an IPv6 address stands in brackets.
[[nodiscard]] std::string host_in_url(const std::string& address);

// The URLs at which clients reach the members.
[[nodiscard]] std::vector<std::string> endpoints_of(const CellTerms& terms);

}  // namespace fleet
