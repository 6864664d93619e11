// The records of a cell: releases, wishes, windows, and settings that hold for all nodes. Plain
// data; record_members.h says how the records are written.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fleet {

// The manifest of a release for one architecture, and the address of its file.
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
  std::vector<ReleaseManifest> manifests = {};  // sorted by architecture
  std::string digest = {};                      // of all manifests together
  std::string channel = {};
  bool prerelease = false;
  std::int64_t min_protocol = 0;
  std::string published = {};

  bool operator==(const Release&) const = default;
};

// The record desired/COMPONENT, the desired version of the cell, or node/ID/desired/COMPONENT, the
// desired version of one node. Writing the same version again makes another attempt.
struct Desired {
  std::string version = {};
  std::string digest = {};
  std::string why = {};
  bool pending = false;  // while true, agents that start halt and do no work
  // Only for one node: a person has chosen its version, and a wish of the cell does not change it.
  bool pinned = false;
  bool downgrade = false;
  bool ignore_window = false;
  std::string who = {};
  std::string trace = {};
  std::string refused = {};  // why no node is moved to the version; empty: nodes may be moved

  bool operator==(const Desired&) const = default;
};

// The record driver/ID, on a lease. Its create revision is the fence: each write of the driver that
// has this record compares that revision.
struct DriverRecord {
  std::string controller = {};

  bool operator==(const DriverRecord&) const = default;
};

// The record window/GROUP: the times at which upgrades may begin on the nodes of the group.
struct Window {
  std::vector<std::string> days = {};  // mon to sun; every day if empty
  std::string start = {};              // as HH:MM
  std::int64_t duration_s = 0;
  std::string time_zone = {};  // a zone of tzdata, or `site-local` for the node's own zone
  std::string who = {};        // the person who has set the window

  bool operator==(const Window&) const = default;
};

// The record stop: while it exists nothing new begins; confirmations and roll-backs go on.
struct Stop {
  std::string who = {};
  std::string why = {};
  std::string since = {};

  bool operator==(const Stop&) const = default;
};

// The record epoch. If its number differs from the number that a node knows, the store was restored
// from a snapshot.
struct Epoch {
  std::int64_t number = 0;
  std::string why = {};
  // True if a person has accepted the restored store. Then the nodes go on from its records.
  bool accepted = false;

  bool operator==(const Epoch&) const = default;
};

// The record settings: names and texts. `who` is the person who has set the last of them.
struct Settings {
  std::map<std::string, std::string> values = {};
  std::string who = {};

  bool operator==(const Settings&) const = default;
};

// The record event/NUMBER, which is never changed; the oldest events are erased. Also the record
// order/TRACE, in which a person who may not write events notes an order: the next controller that
// sees it and may write events turns it into an event.
struct FleetEvent {
  std::string time = {};
  std::string kind = {};
  std::string subject = {};  // the key of the record that the event is about, without the root
  std::string text = {};
  std::string trace = {};
  // The revision of the change that the event tells of; 0 if one transaction has written the change
  // and the event.
  std::int64_t revision = 0;
  std::string who = {};  // the person who has ordered the change
  // True if a controller has seen the certificate of `who`. Otherwise `who` is only a claim.
  bool proved = false;

  bool operator==(const FleetEvent&) const = default;
};

// The record history/NUMBER: a rollout or a plan that has ended. It still tells of the run when the
// run's own records are gone.
struct PastRun {
  std::string subject = {};  // such as `rollout/r1`
  std::string what = {};     // the release that the run brought: `agent 2.0`
  std::string state = {};    // the state in which the run ended
  std::string reason = {};
  std::string who = {};  // the person who has begun the run
  std::string began = {};
  std::string ended = {};  // when a controller saw the run's end
  std::string trace = {};

  bool operator==(const PastRun&) const = default;
};

// The record notified: the last event that was sent to the address in the setting `webhook`, and
// that address as it was then.
struct Notified {
  std::int64_t event = 0;
  std::string webhook = {};

  bool operator==(const Notified&) const = default;
};

// One certificate that was issued to a node or a person. Times are seconds since 1970.
struct IssuedCertificate {
  std::string serial = {};  // hexadecimal
  std::int64_t issued = 0;
  std::int64_t expires = 0;
  bool revoked = false;  // stays true if the owner gets another certificate
  std::string key = {};  // the fingerprint of its public key; empty in records of earlier versions

  bool operator==(const IssuedCertificate&) const = default;
};

// The record identity/KIND/WHO: a node or a person that was let in, and the certificates for it;
// the name in them is KIND:WHO. No node may write this record.
struct Identity {
  // The certificates that have not expired, the oldest first.
  std::vector<IssuedCertificate> certificates = {};
  std::string since = {};
  std::string revoked = {};  // when the owner was revoked; empty if the owner is let in
  // of a node, from its token: these win over the labels that the node itself reports
  std::map<std::string, std::string> labels = {};

  bool operator==(const Identity&) const = default;
};

}  // namespace fleet
