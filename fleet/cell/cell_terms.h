// The terms of a cell, as its administrator orders them: the machines of its store, its controllers
// and its signers. From the terms follow the certificates that these machines need. This file also
// converts the terms to the text of a file in the cell's directory, and back, and decides how a
// later call of `fleetctl cell init` may change the terms. This file does no input or output.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fleet {

// The number of days for which the certificates of a cell's authorities are valid: thirty years.
// The validity is long, since a person has to bring the next certificate to each machine of the
// cell.
inline constexpr int authority_days = 10'950;

struct CellMachine {
  // The machine's name in certificates and options of the cell: a valid id, see is_id() in keys.h.
  std::string name = {};
  std::string address = {};  // the IP address or host name at which other machines reach this one
  int client_port = 2'379;   // the port at which etcd serves clients, on a member of the store
  int peer_port = 2'380;
};

struct CellTerms {
  std::vector<CellMachine> members = {};
  std::vector<CellMachine> controllers = {};
  std::vector<std::string> signers = {};  // the names of the machines with fleet-signer
};

// Returns why a cell cannot have these terms, or an empty string if it can. Each cell needs a
// member, each name must be a valid id, and a name may be listed once as a member, once as a
// controller and once as a signer. Two members must not have the same address and port, nor may two
// controllers. A machine that is a member and a controller must have the same address as both. Each
// certificate must have a file of its own.
[[nodiscard]] std::string why_no_cell(const CellTerms& terms);

// Returns a warning if the number of members is even, and otherwise an empty string. The store
// works as long as more than half of its members work. So with four members, only one may fail, as
// with three members.
[[nodiscard]] std::string advice_on_members(const CellTerms& terms);

// A certificate that a cell needs, and its key: the files FILE.pem and FILE.key in the cell's
// directory.
struct CertificateWanted {
  std::string file = {};
  std::string name = {};
  // The authority that signs this certificate, by the name of the authority's file (FILE). Empty if
  // the certificate is itself an authority's, and is signed with its own key.
  std::string authority = {};
  // The addresses at which the owner of the certificate is a server. Empty if the owner is only a
  // client.
  std::vector<std::string> addresses = {};
  int days = 0;
};

// Returns the certificates that a cell needs. The first three certificates are for the authority
// `ca`, for the authority `members`, by which the store's members trust each other, and for the
// store's user `root`. The certificates of the machines follow. A certificate with an address is
// also valid for 127.0.0.1 and ::1.
[[nodiscard]] std::vector<CertificateWanted> certificates_of(const CellTerms& terms);

// Returns the name FILE of the certificate with which the controller on this machine uses the
// store.
[[nodiscard]] std::string controller_file(const std::string& machine);

// For one certificate that the cell needs: the files that the cell's directory already has.
struct CertificateThere {
  bool certificate = false;
  bool key = false;
  std::string unfit = {};  // why the existing certificate cannot be used; may be empty
};

// The certificates to make. A certificate gets a new key, unless the directory has a key for it
// already. If `refused` is not empty, `make` is empty.
struct CertificatePlan {
  std::vector<CertificateWanted> make = {};
  std::vector<std::string> refused = {};  // the reasons for the refusal, one sentence each
};
// Decides which certificates to make. `there` has the existing files, by the names FILE. An
// existing certificate is never replaced. If the files of an authority are missing, but there is a
// certificate that this authority has signed, no new authority is made, since nobody would accept
// that certificate any more.
[[nodiscard]] CertificatePlan plan_certificates(
    const std::vector<CertificateWanted>& wanted,
    const std::map<std::string, CertificateThere>& there);

// Returns the settings of etcd on one member, as environment variables NAME=VALUE. `files` is the
// directory of the member's certificates, and `data` is the directory of its database.
[[nodiscard]] std::vector<std::string> etcd_settings(const CellTerms& terms,
                                                     const CellMachine& member,
                                                     const std::string& files,
                                                     const std::string& data);

// Returns the machine with this name, as a pointer into `machines`, or nullptr if there is none.
[[nodiscard]] const CellMachine* machine_named(const std::vector<CellMachine>& machines,
                                               const std::string& name);

// Returns the address as it is written in a URL: an IPv6 address in brackets.
[[nodiscard]] std::string host_in_url(const std::string& address);

// Returns the URLs at which clients reach the members of the store.
[[nodiscard]] std::vector<std::string> endpoints_of(const CellTerms& terms);

// Returns the terms as text, with a line for each role of each machine: `member NAME ADDRESS`,
// `controller NAME ADDRESS` or `signer NAME`.
[[nodiscard]] std::string cell_text(const CellTerms& terms);
// Parses a text that cell_text() has made. Returns a Refusal if the text is damaged, or if a cell
// cannot have these terms.
[[nodiscard]] upgrader::Result<CellTerms> cell_in(std::string_view text);

// Parses NAME=ADDRESS, the value of an option on the command line. Returns std::nullopt if the text
// does not have this form.
[[nodiscard]] std::optional<CellMachine> machine_in(std::string_view text);

// Returns the terms of a cell after `fleetctl cell init` was called with the terms `wanted`.
// `before` has the cell's terms before the call, or no value for a new cell. Controllers and
// signers may be added. Returns a Refusal if an address would change, if a member of the store
// would be added, which needs etcd's own commands, or if a cell cannot have the resulting terms.
[[nodiscard]] upgrader::Result<CellTerms> merged(const std::optional<CellTerms>& before,
                                                 const CellTerms& wanted);

}  // namespace fleet
