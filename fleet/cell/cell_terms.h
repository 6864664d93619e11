// The terms of a cell, as an administrator has ordered them: the machines of its store, its
// controllers and its signers. This file decides which certificates these machines need, and which
// changes of the terms `fleetctl cell init` accepts later. It also converts the terms to text and
// back. Does no input or output.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fleet {

// How long certificates of a cell's authorities are valid: thirty years, since a person has to
// bring the next one to each machine of the cell.
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

// Returns why a cell cannot have these terms, or an empty string. A cell needs a member, and each
// name must be a valid id. Within one role, no two machines may have the same name, or the same
// address and port. A machine that is a member and a controller must have the same address as both,
// and no two certificates may have the same file.
[[nodiscard]] std::string why_no_cell(const CellTerms& terms);

// Returns a warning if the number of members is even, or an empty string. More than half of the
// members must work: of four members, only one may fail, as of three.
[[nodiscard]] std::string advice_on_members(const CellTerms& terms);

// A certificate that a cell needs, and its key: the files FILE.pem and FILE.key in the cell's
// directory.
struct CertificateWanted {
  std::string file = {};
  std::string name = {};
  // The authority that signs this certificate, by its FILE; empty if the certificate is an
  // authority's own.
  std::string authority = {};
  // the addresses of the owner's servers; empty if the owner is only a client
  std::vector<std::string> addresses = {};
  int days = 0;
};

// Returns the certificates that a cell needs. The first three belong to the authority `ca`, to the
// authority `members` (by which the store's members trust each other), and to the store's user
// `root`. The machines' certificates follow. A certificate with an address is also valid for
// 127.0.0.1 and ::1.
[[nodiscard]] std::vector<CertificateWanted> certificates_of(const CellTerms& terms);

// Returns the name FILE of the certificate with which the controller on this machine uses the
// store.
[[nodiscard]] std::string controller_file(const std::string& machine);

// For one certificate: which of its files exist in the cell's directory.
struct CertificateThere {
  bool certificate = false;
  bool key = false;
  // an existing file of the two that cannot be read or has no content, with the reason; may be
  // empty
  std::string unread = {};
  std::string unfit = {};  // why the existing certificate cannot be used; may be empty
  // whether the certificate is unfit only because this machine's clock is outside its validity
  bool wrong_time = false;
};

// The certificates to make, each with a new key unless the directory already has one. If `refused`
// is not empty, `make` is empty.
struct CertificatePlan {
  std::vector<CertificateWanted> make = {};
  std::vector<std::string> refused = {};  // the reasons for the refusal, one sentence each
};
// Decides which certificates to make; never replaces an existing one. `there` has the existing
// files, by their names. An authority whose files are missing is not made anew if a certificate
// exists that it has signed: nobody would accept that certificate any more. For the same reason, no
// message advises to move away an authority that has signed a certificate.
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

// Merges the terms `wanted` from a call of `fleetctl cell init` into the cell's earlier terms,
// `before` (no value for a new cell). Controllers and signers may be added. Returns a Refusal if an
// address would change, or if a member would be added, which needs etcd's own commands. Also
// refuses if the resulting cell is impossible.
[[nodiscard]] upgrader::Result<CellTerms> merged(const std::optional<CellTerms>& before,
                                                 const CellTerms& wanted);

}  // namespace fleet
