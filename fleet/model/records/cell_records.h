// This file defines the records of a cell, such as releases, desired versions, windows, settings,
// events and certificates. It also defines the records and messages with which a machine joins the
// cell. The file contains only data structures; record_members.h says how they are written as JSON.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fleet {

// The manifest of a release for one architecture, with its signature and its URL.
struct ReleaseManifest {
  std::string arch = {};
  std::string manifest = {};
  std::string signature = {};
  std::string url = {};

  bool operator==(const ReleaseManifest&) const = default;
};

// The record release/COMPONENT/VERSION: a release that was published. It is written before any
// other record names the release, and is never changed.
struct Release {
  // The manifests of the release, one for each architecture, sorted.
  std::vector<ReleaseManifest> manifests = {};
  std::string digest = {};  // a hash over all manifests and signatures
  std::string channel = {};
  bool prerelease = false;
  std::int64_t min_protocol = 0;
  std::string published = {};

  bool operator==(const Release&) const = default;
};

// Two kinds of records: desired/COMPONENT is the desired version of the cell, and
// node/ID/desired/COMPONENT is the desired version of one node. If the same version is written
// again, the nodes on which it has failed try it again.
struct Desired {
  std::string version = {};
  std::string digest = {};
  std::string why = {};
  bool pending = false;  // true: a plan holds the version back, and no node moves to it yet
  // True only in the record of one node: a person has chosen this version for the node, and the
  // desired version of the cell does not move the node.
  bool pinned = false;
  bool downgrade = false;
  bool ignore_window = false;
  std::string who = {};
  std::string trace = {};
  std::string refused = {};  // why no node moves to this version; empty if nodes may move to it
  // The version that was desired before the plan that holds `version` back. The plan restores this
  // version if the plan fails and goes back. Empty if `pending` is false.
  std::string previous = {};
  // The reason why no node may move to the version `previous`, which the plan may restore. Empty if
  // nodes may move to it.
  std::string previous_refused = {};

  bool operator==(const Desired&) const = default;
};

// The record driver/ID: the controller that currently drives the work with this ID, such as a
// rollout or a plan. The record has a lease, so it vanishes if the controller dies. The revision at
// which the record was created is the driver's fence. Each transaction of the driver compares the
// fence, so a controller that has lost the record writes nothing.
struct DriverRecord {
  std::string controller = {};

  bool operator==(const DriverRecord&) const = default;
};

// The record window/GROUP: the times at which upgrades may begin on the nodes of the group.
struct Window {
  std::vector<std::string> days = {};  // days of the week, as `mon` to `sun`; if empty, every day
  std::string start = {};              // the time of day at which the window opens, as HH:MM
  std::int64_t duration_s = 0;
  std::string time_zone = {};  // a zone of tzdata, or `site-local` for the node's own zone
  std::string who = {};        // the person who has set the window

  bool operator==(const Window&) const = default;
};

// The record `stop`, which a person writes. While this record exists, no rollout or upgrade begins
// in the cell, but confirmations, roll-backs and undos go on.
struct Stop {
  std::string who = {};
  std::string why = {};
  std::string since = {};

  bool operator==(const Stop&) const = default;
};

// The record `epoch`. After the store was restored from a snapshot, a person increases `number`
// with `fleetctl restored`. Each node notes this number. When the number in the store differs from
// the noted number, the node knows that the store was restored.
struct Epoch {
  std::int64_t number = 0;
  std::string why = {};
  // True if a person has accepted the restored store. Until then, a node that has noted a different
  // epoch does not act on the store's records.
  bool accepted = false;
  // The revision at which `number` was written, or 0 as long as the epoch is not accepted.
  std::int64_t begins = 0;

  bool operator==(const Epoch&) const = default;
};

// The record `settings`: the name and value of each setting, as strings. `who` is the person who
// has made the last change.
struct Settings {
  std::map<std::string, std::string> values = {};
  std::string who = {};

  bool operator==(const Settings&) const = default;
};

// Two kinds of records. The record event/NUMBER is one event of the cell's history. An event is
// never changed, but the oldest events are erased. The record order/TRACE is a note: a person or
// program that may not write events has written it instead of an event. The controller that writes
// the history later replaces the note with an event.
struct FleetEvent {
  std::string time = {};
  std::string kind = {};
  std::string subject = {};  // the key of the record that the event is about, without /fleet/v1/
  std::string text = {};
  std::string trace = {};
  // The revision of the change that the event reports. 0 if the event was written in the same
  // transaction as the change.
  std::int64_t revision = 0;
  std::string who = {};  // the person who has ordered the change
  // True if a controller has checked the certificate of the person `who`. If false, the name proves
  // nothing: the writer of the record may have made it up.
  bool proved = false;

  bool operator==(const FleetEvent&) const = default;
};

// The record history/NUMBER: one line about a rollout or a plan that has ended. This record stays
// when the other records of the rollout or plan are erased.
struct PastRun {
  std::string subject = {};  // the rollout or plan, such as `rollout/r1`
  std::string what = {};     // the release that was rolled out: `agent 2.0`
  std::string state = {};    // the state in which the rollout or plan ended
  std::string reason = {};
  std::string who = {};  // the person who began the rollout or plan
  std::string began = {};
  std::string ended = {};  // when a controller saw that the rollout or plan had ended
  std::string trace = {};

  bool operator==(const PastRun&) const = default;
};

// The record `notified`: the last event that was sent to the webhook, and the value that the
// setting `webhook` had at that time.
struct Notified {
  std::int64_t event = 0;
  std::string webhook = {};

  bool operator==(const Notified&) const = default;
};

// One certificate that was issued to a node or a person. Times are seconds since 1970.
struct IssuedCertificate {
  std::string serial = {};  // the certificate's number, in hexadecimal
  std::int64_t issued = 0;
  std::int64_t expires = 0;
  // True if the certificate was revoked. A new certificate of the same owner does not change this.
  bool revoked = false;
  std::string key = {};  // fingerprint of the public key; may be empty in old records

  bool operator==(const IssuedCertificate&) const = default;
};

// The record identity/KIND/WHO: a node or a person that may use the cell. All certificates of this
// node or person have the name KIND:WHO. No node may write this record.
struct Identity {
  // The certificates that have not expired, the oldest first.
  std::vector<IssuedCertificate> certificates = {};
  std::string since = {};
  std::string revoked = {};  // when the identity was revoked; empty if it was not
  // The time at which the last member of the store was restarted after this identity was revoked.
  // Since then, no connection with a revoked certificate is open. Empty if not all members were
  // restarted yet.
  std::string shut_out = {};
  // The labels of a node, from the token with which it joined. They override labels that the node
  // itself reports.
  std::map<std::string, std::string> labels = {};

  bool operator==(const Identity&) const = default;
};

// The record place/LABEL/HASH/NUMBER: one place of a budget, which limits how many nodes may be
// down at the same time (budgets.h). The node that is named here has taken the place.
struct BudgetPlace {
  std::string node = {};
  // The rollout, plan or desired version that takes the node down: `rollout/RID`, `plan/PLAN` or
  // `desired/COMPONENT`.
  std::string by = {};
  std::string value = {};  // the label's value; the key has only its hash

  bool operator==(const BudgetPlace&) const = default;
};

// ---- machines that join

// The record token/ID: a token with which machines may join the cell. The record contains a hash of
// the token's secret, not the secret.
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
  // The public keys of the publishers of releases: the contents of each key file, by the file name.
  std::map<std::string, std::string> release_keys = {};

  bool operator==(const Token&) const = default;
};

// The record join/FINGERPRINT: the request of a machine that wants to join the cell. FINGERPRINT is
// the fingerprint of the machine's public key. A controller writes the record, and fleet-signer
// answers the request.
struct JoinRequest {
  std::string node = {};     // the name that the machine wants to have in the cell
  std::string pem = {};      // the machine's request for a certificate, in PEM
  std::string token = {};    // the hash of the secret in the token that the machine has sent
  std::int64_t asked = 0;    // when the controller got the request, in seconds since 1970
  bool waits = false;        // true: a person has to approve the request first
  std::string refused = {};  // why the request was refused; empty if it was not
  // The signed certificate, which is kept here until the store has a user for the node. Then the
  // node gets the certificate.
  std::string certificate = {};

  bool operator==(const JoinRequest&) const = default;
};

// The record approval/FINGERPRINT: a person allows the machine whose public key has this
// fingerprint to join.
struct Approval {
  std::string node = {};
  std::string who = {};
  std::string time = {};

  bool operator==(const Approval&) const = default;
};

// The record signer/NAME: a fleet-signer that is running. The record has a lease, so it vanishes
// when this fleet-signer has exited or was killed. Times are in seconds since 1970.
struct SignerAtWork {
  std::string version = {};
  std::string since = {};
  bool takes_snapshots = false;
  // The time of the last snapshot of the store that this signer has taken; 0 if there is no such
  // snapshot.
  std::int64_t snapshot = 0;
  std::int64_t certificate_ends = 0;  // when the signer's own certificate ends; 0 if not known
  std::string trouble = {};           // why the last snapshot failed; empty if it succeeded

  bool operator==(const SignerAtWork&) const = default;
};

// Two records of a fleet-controller. The record controller/NAME stays when the controller exits.
// The record controller/NAME/life/ID belongs to one running process of the controller: it has a
// lease, and vanishes when the process exits.
struct ControllerAtWork {
  std::string version = {};
  std::string since = {};  // when this process of the controller began

  bool operator==(const ControllerAtWork&) const = default;
};

// The parts of the string that is called a token. A person brings this string to a machine that is
// to join.
struct TokenText {
  std::vector<std::string> controllers = {};  // the URLs of the cell's controllers
  std::vector<std::string> store = {};        // the URLs of the store's members
  std::string authority = {};                 // SHA-256 of the authority's public key
  // The SHA-256 hashes of the files with the publishers' public keys.
  std::vector<std::string> release_keys = {};
  std::string secret = {};  // 128 random bits, in hexadecimal

  bool operator==(const TokenText&) const = default;
};

// The message that a machine sends to a controller in order to join the cell.
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
