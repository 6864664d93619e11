// The records of a cell: releases, wishes, windows, and what holds for all. Plain data; how they
// are written is in record_members.h.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fleet {

// One architecture's manifest of a release, and where the bytes are.
struct ReleaseManifest {
  std::string arch = {};
  std::string manifest = {};
  std::string signature = {};
  std::string url = {};

  bool operator==(const ReleaseManifest&) const = default;
};

// release/COMPONENT/VERSION: there before anything names it, and never changed afterwards.
struct Release {
  std::vector<ReleaseManifest> manifests = {};  // by architecture
  std::string digest = {};                      // covers all of them
  std::string channel = {};
  bool prerelease = false;
  std::int64_t min_protocol = 0;
  std::string published = {};

  bool operator==(const Release&) const = default;
};

// desired/COMPONENT, the cell's, and node/ID/desired/COMPONENT, one node's. Writing the same again
// tries again.
struct Desired {
  std::string version = {};
  std::string digest = {};
  std::string why = {};
  bool pending = false;  // agents that start halt and do no work, until it is taken away
  bool pinned = false;   // of a node: a person's word, which the cell's wish does not change
  bool downgrade = false;
  bool ignore_window = false;
  std::string who = {};
  std::string trace = {};

  bool operator==(const Desired&) const = default;
};

// driver/ID, on a lease. The revision at which it was created is the fence of all that this driver
// writes.
struct DriverRecord {
  std::string controller = {};

  bool operator==(const DriverRecord&) const = default;
};

// window/GROUP.
struct Window {
  std::vector<std::string> days = {};  // mon to sun; none: every day
  std::string start = {};              // HH:MM
  std::int64_t duration_s = 0;
  std::string time_zone = {};  // of tzdata, or `site-local`: the node's own
  std::string who = {};        // has set it

  bool operator==(const Window&) const = default;
};

// stop: while it is there nothing begins; confirmations and roll-backs go on.
struct Stop {
  std::string who = {};
  std::string why = {};
  std::string since = {};

  bool operator==(const Stop&) const = default;
};

// epoch: another one than a node knows says that the store was restored from a snapshot.
struct Epoch {
  std::int64_t number = 0;
  std::string why = {};
  bool accepted = false;  // by a person: nodes go on from what the store says now

  bool operator==(const Epoch&) const = default;
};

// settings: names and texts, and beside them, as `who`, the person who has set the last of them.
struct Settings {
  std::map<std::string, std::string> values = {};
  std::string who = {};

  bool operator==(const Settings&) const = default;
};

// event/NUMBER: never changed; the oldest are erased. And order/TRACE: what a person has ordered
// who may not write events; it becomes one as soon as somebody who writes them sees it.
struct FleetEvent {
  std::string time = {};
  std::string kind = {};
  std::string subject = {};  // the key of what it is about, without the root
  std::string text = {};
  std::string trace = {};
  std::int64_t revision = 0;  // of the change that it tells; 0: it came with its own
  std::string who = {};       // has ordered it
  bool proved = false;        // by a certificate that a controller has seen; or says so itself

  bool operator==(const FleetEvent&) const = default;
};

// history/NUMBER: a rollout or a plan that has ended, which is told when its records are gone, too.
struct PastRun {
  std::string subject = {};  // `rollout/r1`
  std::string what = {};     // what it brought: `agent 2.0`
  std::string state = {};    // in which it ended
  std::string reason = {};
  std::string who = {};  // has begun it
  std::string began = {};
  std::string ended = {};  // when that was seen
  std::string trace = {};

  bool operator==(const PastRun&) const = default;
};

// notified: the last event that was told where `webhook` says, as it was set then.
struct Notified {
  std::int64_t event = 0;
  std::string webhook = {};

  bool operator==(const Notified&) const = default;
};

// One certificate that was given to somebody. Times are seconds since 1970.
struct IssuedCertificate {
  std::string serial = {};  // hexadecimal
  std::int64_t issued = 0;
  std::int64_t expires = 0;
  bool revoked = false;  // also once its owner is let in again, by another one

  bool operator==(const IssuedCertificate&) const = default;
};

// identity/KIND/WHO: who was let in, by which certificates; the name in them is KIND:WHO. Nobody
// who is a node may write it.
struct Identity {
  std::vector<IssuedCertificate> certificates = {};  // that have not expired, the oldest first
  std::string since = {};
  std::string revoked = {};  // when; empty: he is let in

  bool operator==(const Identity&) const = default;
};

}  // namespace fleet
