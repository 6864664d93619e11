// Describes a cell as its administrator orders it: the machines of its store, its controllers and
// its signers, and the certificates that they need. Plain data and decisions; other code reads and
// writes the files.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace fleet {

struct CellMachine {
  // The name by which the cell's certificates and options name the machine; must pass is_id()
  // (ids.h).
  std::string name = {};
  std::string address = {};  // IP address or host name, by which other machines reach it
  // The port of etcd for clients, if the machine is a member of the store.
  int client_port = 2'379;
  int peer_port = 2'380;
};

struct CellTerms {
  std::vector<CellMachine> members = {};
  std::vector<CellMachine> controllers = {};
  std::vector<std::string> signers = {};  // the names of the machines with fleet-signer
};

// Returns why a cell cannot have these terms, or an empty text if it can. It cannot if it has no
// member, if a name is not an id or belongs to two machines, or if two machines have the same
// address.
[[nodiscard]] std::string why_no_cell(const CellTerms& terms);

// A certificate that a cell needs, with its key. Certificate and key are two files of the cell's
// directory: FILE.pem and FILE.key.
struct CertificateWanted {
  std::string file = {};
  std::string name = {};
  // FILE of the authority that signs the certificate; empty if it signs itself.
  std::string authority = {};
  // Addresses of the owner's servers; empty if the owner is only a client.
  std::vector<std::string> addresses = {};
  int days = 0;
};

// Returns the certificates of a cell: first the authority for clients, the authority for the
// members among themselves, and the user `root`; then those of each machine. A certificate with an
// address is valid for 127.0.0.1 and ::1, too.
[[nodiscard]] std::vector<CertificateWanted> certificates_of(const CellTerms& terms);

// Returns the FILE (name without ending) of the certificate by which the store knows the controller
// on this machine.
[[nodiscard]] std::string controller_file(const std::string& machine);

// The files that the directory already has for one wanted certificate.
struct CertificateThere {
  bool certificate = false;
  bool key = false;
  std::string unfit = {};  // why the existing certificate cannot be used; may be empty
};

// The certificates that have to be made. If the directory has a key for one of them, that key is
// used. If `refused` is not empty, none is made.
struct CertificatePlan {
  std::vector<CertificateWanted> make = {};
  std::vector<std::string> refused = {};  // why no certificate is made: a sentence for each reason
};
// Decides which certificates to make. An existing certificate is never replaced. If an authority
// and its key are both missing, but a certificate that it has signed exists, refuses to make a new
// authority: the certificate would be worthless.
[[nodiscard]] CertificatePlan plan_certificates(
    const std::vector<CertificateWanted>& wanted,
    const std::map<std::string, CertificateThere>& there);

// Returns the settings of one member as variables of etcd's environment, NAME=VALUE. `files` is the
// directory of its certificates, and `data` that of its database.
[[nodiscard]] std::vector<std::string> etcd_settings(const CellTerms& terms,
                                                     const CellMachine& member,
                                                     const std::string& files,
                                                     const std::string& data);

// Returns the machine with this name, or nullptr. The result points into the caller's vector.
[[nodiscard]] const CellMachine* machine_named(const std::vector<CellMachine>& machines,
                                               const std::string& name);

// Returns the address as it is written in a URL: an IPv6 address in brackets.
[[nodiscard]] std::string host_in_url(const std::string& address);

// Returns the URLs at which clients reach the members.
[[nodiscard]] std::vector<std::string> endpoints_of(const CellTerms& terms);

}  // namespace fleet
