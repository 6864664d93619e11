// The description of a cell, as its administrator orders it: the machines of its store, its
// controllers and its signers, and the certificates that these machines need. This file also
// converts the description to the text that is kept in the cell's directory, and back. It decides
// how a later call of `fleetctl cell init` may change the description. It does no input or output:
// code elsewhere reads and writes the files.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fleet {

// The number of days for which a cell's authorities are valid: thirty years. Every machine of a
// cell needs the authority's next certificate before this one ends, and nothing brings that
// certificate to the machines by itself.
inline constexpr int authority_days = 10'950;

struct CellMachine {
  // The machine's name in certificates and options of the cell. It must be a valid id: see is_id()
  // in keys.h.
  std::string name = {};
  std::string address = {};  // the IP address or host name at which other machines reach this one
  // The port at which etcd serves clients, if the machine is a member of the store.
  int client_port = 2'379;
  int peer_port = 2'380;
};

struct CellTerms {
  std::vector<CellMachine> members = {};
  std::vector<CellMachine> controllers = {};
  std::vector<std::string> signers = {};  // the names of the machines with fleet-signer
};

// Returns why a cell cannot have this description, or an empty string if it can. It cannot if it
// has no member, if a name is not a valid id or belongs to two machines, or if two machines have
// the same address.
[[nodiscard]] std::string why_no_cell(const CellTerms& terms);

// Returns a warning if the number of members is even, and an empty string otherwise. The store
// works as long as more than half of its members work. So a store of four members survives the
// failure of only one member, as a store of three members does.
[[nodiscard]] std::string advice_on_members(const CellTerms& terms);

// A certificate that a cell needs, and its key. They are two files in the cell's directory:
// FILE.pem and FILE.key.
struct CertificateWanted {
  std::string file = {};
  std::string name = {};
  // The authority that signs this certificate: the name of the authority's own certificate file,
  // without the ending `.pem`. Empty if the certificate is signed with its own key, as an
  // authority's certificate is.
  std::string authority = {};
  // The addresses at which the owner of the certificate is a server. Empty if the owner is only a
  // client.
  std::vector<std::string> addresses = {};
  int days = 0;
};

// Returns the certificates that a cell needs. The first three certificates belong to the authority
// for clients, to the authority by which the store's members trust each other, and to the store's
// user `root`. The certificates of each machine follow. A certificate with an address is also valid
// for 127.0.0.1 and ::1.
[[nodiscard]] std::vector<CertificateWanted> certificates_of(const CellTerms& terms);

// Returns the name FILE (without the ending `.pem`) of the certificate by which the store knows the
// controller on this machine.
[[nodiscard]] std::string controller_file(const std::string& machine);

// The files that the cell's directory already has for one certificate that the cell needs.
struct CertificateThere {
  bool certificate = false;
  bool key = false;
  std::string unfit = {};  // why the existing certificate cannot be used; may be empty
};

// The certificates to make. If the directory already has a key for a certificate, that key is used.
// If `refused` is not empty, no certificate is made.
struct CertificatePlan {
  std::vector<CertificateWanted> make = {};
  std::vector<std::string> refused = {};  // the reasons for the refusal, one sentence each
};
// Decides which certificates to make. An existing certificate is never replaced. If the files of an
// authority are missing, but a certificate exists that this authority has signed, refuses to make a
// new authority, since nobody would accept the existing certificate any more.
[[nodiscard]] CertificatePlan plan_certificates(
    const std::vector<CertificateWanted>& wanted,
    const std::map<std::string, CertificateThere>& there);

// Returns one member's settings for etcd, as environment variables NAME=VALUE. `files` is the
// directory of the member's certificates, and `data` the directory of its database.
[[nodiscard]] std::vector<std::string> etcd_settings(const CellTerms& terms,
                                                     const CellMachine& member,
                                                     const std::string& files,
                                                     const std::string& data);

// Returns the machine with this name, or nullptr. The result points into the caller's vector.
[[nodiscard]] const CellMachine* machine_named(const std::vector<CellMachine>& machines,
                                               const std::string& name);

// Returns the address as it is written in a URL: an IPv6 address in brackets.
[[nodiscard]] std::string host_in_url(const std::string& address);

// Returns the URLs at which clients reach the members of the store.
[[nodiscard]] std::vector<std::string> endpoints_of(const CellTerms& terms);

// Returns the cell's description as text, with a line for each role of each machine: `member NAME
// ADDRESS`, `controller NAME ADDRESS` or `signer NAME`.
[[nodiscard]] std::string cell_text(const CellTerms& terms);
// Parses a text that cell_text() has made. If the text is damaged, returns a Refusal with the
// number of the first wrong line.
[[nodiscard]] upgrader::Result<CellTerms> cell_in(std::string_view text);

// Parses NAME=ADDRESS, the value of an option on the command line. Returns std::nullopt if the text
// does not have this form.
[[nodiscard]] std::optional<CellMachine> machine_in(std::string_view text);

// Returns the description of a cell after `fleetctl cell init` was called with `wanted`. `before`
// is the cell's current description, or std::nullopt for a new cell. Controllers and signers may be
// added. Returns a Refusal if an address would change, or if a member of the store would be added,
// since a member can be added to a running store only by etcd itself.
[[nodiscard]] upgrader::Result<CellTerms> merged(const std::optional<CellTerms>& before,
                                                 const CellTerms& wanted);

}  // namespace fleet
