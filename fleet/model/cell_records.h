// The records of a cell: releases, desired versions, windows, settings, events and certificates.
// Plain data; record_members.h says how the records are written.
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

// The record release/COMPONENT/VERSION. It is written before any other record names the release,
// and never changed afterwards.
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

// The record desired/COMPONENT, which is the desired version of the cell, or the record
// node/ID/desired/COMPONENT, which is the desired version of one node. If the same version is
// written again, the nodes on which it has failed try it again.
struct Desired {
  std::string version = {};
  std::string digest = {};
  std::string why = {};
  bool pending = false;  // true: a plan holds the version back, and no node moves to it
  // True only for one node: a person has chosen its version, and the desired version of the cell
  // does not change it.
  bool pinned = false;
  bool downgrade = false;
  bool ignore_window = false;
  std::string who = {};
  std::string trace = {};
  std::string refused = {};  // why no node moves to this version; empty if nodes may move to it

  bool operator==(const Desired&) const = default;
};

// The record driver/ID: the controller that drives the work with this ID, such as a rollout or a
// plan, now. The record has a lease, so it vanishes if the controller dies. The revision at which
// the record was created is the driver's fence: each transaction of the driver requires that the
// record still has this revision.
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

// The record `stop`, which a person writes. While it exists, no rollout or upgrade begins in the
// cell; confirmations and roll-backs go on.
struct Stop {
  std::string who = {};
  std::string why = {};
  std::string since = {};

  bool operator==(const Stop&) const = default;
};

// The record `epoch`. If its number differs from the number that a node has noted, the store was
// restored from a snapshot.
struct Epoch {
  std::int64_t number = 0;
  std::string why = {};
  // True if a person has accepted the restored store. Then the nodes act on its records again.
  bool accepted = false;

  bool operator==(const Epoch&) const = default;
};

// The record `settings`: the name and value of each setting, as texts. `who` is the person who has
// made the last change.
struct Settings {
  std::map<std::string, std::string> values = {};
  std::string who = {};

  bool operator==(const Settings&) const = default;
};

// The record event/NUMBER: one event of the cell's history. An event is never changed, but the
// oldest events are erased. The record order/TRACE has the same members: it notes an order by a
// person who may not write events. The next controller that reads the note and may write events
// turns it into an event.
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

// The record notified: the last event that was sent to the webhook, and the value that the setting
// `webhook` had then.
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
  // True if the certificate was revoked. It stays true when its owner gets a new certificate.
  bool revoked = false;
  std::string key = {};  // fingerprint of the public key; may be empty in old records

  bool operator==(const IssuedCertificate&) const = default;
};

// The record identity/KIND/WHO: a node or a person that may use the cell. All its certificates have
// the name KIND:WHO. No node may write this record.
struct Identity {
  // The certificates that have not expired, the oldest first.
  std::vector<IssuedCertificate> certificates = {};
  std::string since = {};
  std::string revoked = {};  // when the identity was revoked; empty if it was not
  // When all members of the store had been restarted after the revocation, so that no connection of
  // a revoked certificate is open any more. Empty before that.
  std::string shut_out = {};
  // The labels of a node, from the token with which it joined. They win over labels that the node
  // itself reports.
  std::map<std::string, std::string> labels = {};

  bool operator==(const Identity&) const = default;
};

// The record place/LABEL/HASH/NUMBER: one place of a budget, which limits how many nodes may be
// down at the same time (budgets.h). The node that is named here has taken the place.
struct BudgetPlace {
  std::string node = {};
  std::string by = {};     // who takes the node down: rollout/RID, plan/PLAN or desired/COMPONENT
  std::string value = {};  // the label's value; the key has only its hash

  bool operator==(const BudgetPlace&) const = default;
};

}  // namespace fleet
