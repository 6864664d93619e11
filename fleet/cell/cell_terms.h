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
  std::vector<std::string> signers = {};  // the names of the machines with fleet-signer
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

// Returns the certificates of a cell: first the authority that signs for clients, the authority
// that the members use among themselves, and the user root; then those of each machine. A
// certificate with an address is valid for loopback, too.
[[nodiscard]] std::vector<CertificateWanted> certificates_of(const CellTerms& terms);

// Returns the FILE of the certificate that the controller on this machine shows to the store.
[[nodiscard]] std::string controller_file(const std::string& machine);

// The files that the directory has for one wanted certificate.
struct CertificateThere {
  bool certificate = false;
  bool key = false;
  std::string unfit = {};  // why the certificate cannot be used as it is; empty if it can
};

// The certificates that are to be made, each for the key that the directory has or for a new key.
// If `refused` is not empty, none is made.
struct CertificatePlan {
  std::vector<CertificateWanted> make = {};
  std::vector<std::string> refused = {};  // a sentence for each reason
};
// Decides which certificates to make. An existing certificate is never replaced. An authority whose
// certificate and key are missing is not made anew if a certificate that it has signed still
// exists.
[[nodiscard]] CertificatePlan plan_certificates(
    const std::vector<CertificateWanted>& wanted,
    const std::map<std::string, CertificateThere>& there);

// Returns the settings of one member as variables of etcd's environment, NAME=VALUE. `files` is the
// directory of its certificates, and `data` that of its database.
[[nodiscard]] std::vector<std::string> etcd_settings(const CellTerms& terms,
                                                     const CellMachine& member,
                                                     const std::string& files,
                                                     const std::string& data);

// Returns the machine that has the name, or nullptr. The caller keeps the vector.
[[nodiscard]] const CellMachine* machine_named(const std::vector<CellMachine>& machines,
                                               const std::string& name);

// Returns the address as a URL spells it: an IPv6 address stands in brackets.
[[nodiscard]] std::string host_in_url(const std::string& address);

// Returns the URLs at which clients reach the members.
[[nodiscard]] std::vector<std::string> endpoints_of(const CellTerms& terms);

}  // namespace fleet
