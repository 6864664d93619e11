// The records of one node: its description, its versions, its instances (processes of fleet-agent),
// its commands and its answers. This file contains only data structures; record_members.h says how
// the records are written. Times of the wall clock are strings that are only shown to people.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fleet {

// The record node/ID/info: what a node reports about itself. The node writes this record again only
// if a value has changed.
struct NodeInfo {
  std::map<std::string, std::string> facts = {};   // os, arch and more, found by fleet-agent
  std::map<std::string, std::string> labels = {};  // from the options of fleet-agent
  std::int64_t protocol = 0;  // the version of the command protocol that the node knows; 0: unknown
  std::string upgrader_protocol = {};
  std::string library_protocol = {};
  // The versions on disk, by component.
  std::map<std::string, std::vector<std::string>> on_disk = {};
  std::string time_zone = {};  // the node's zone, for windows with `site-local`

  bool operator==(const NodeInfo&) const = default;
};

// The record node/ID/versions: the versions that run on the node. In JSON it is a flat object of
// strings.
struct Versions {
  std::map<std::string, std::string> running = {};  // the running version, by component

  bool operator==(const Versions&) const = default;
};

// The record node/ID/instance/UUID: one process of fleet-agent. The record has a lease, so it
// vanishes soon after the process.
struct Instance {
  std::string version = {};  // the version of fleet-agent; may be empty
  std::string phase = {};
  std::string boot_id = {};
  std::string since = {};
  std::string last_command = {};
  bool ready = false;
  std::string degraded = {};  // why the node is degraded; empty if it is not
  std::int64_t generation = 0;
  std::string machine = {};  // an id of the machine, the same at each boot; may be empty

  bool operator==(const Instance&) const = default;
};

// The record node/ID/active: the active instance, which is the process of fleet-agent that acts for
// the node. Other instances, such as a second one during an upgrade of fleet-agent, only wait. The
// record has no lease.
struct Active {
  std::string instance = {};
  std::string boot_id = {};
  std::int64_t generation = 0;

  bool operator==(const Active&) const = default;
};

enum class UpgradePhase {
  unknown,
  // The upgrade has begun. If it is for a desired version, the release is being fetched. If it is
  // by a command, the release is on disk already.
  staging,
  // The release for a desired version is on disk, and the new version is not ready yet.
  verifying,
  cutover_ready,  // the new version runs beside the old one, and waits for the command `stop`
  soaking,        // the new version is active and on trial, for soak_ms
  soaked,         // the new version has worked for soak_ms, and waits for `confirm`
  done,
  failed,
  unconfirmed,  // the node went back to the old version, since no `confirm` came
  rolled_back,  // a command has brought the node back to the old version
};
constexpr auto names(UpgradePhase) {
  return std::to_array<std::string_view>({"unknown", "staging", "verifying", "cutover-ready",
                                          "soaking", "soaked", "done", "failed", "unconfirmed",
                                          "rolled-back"});
}

// Returns whether an upgrade in this phase is under way, that is, has not ended.
constexpr bool is_under_way(UpgradePhase phase) {
  switch (phase) {
    case UpgradePhase::staging:
    case UpgradePhase::verifying:
    case UpgradePhase::cutover_ready:
    case UpgradePhase::soaking:
    case UpgradePhase::soaked:
      return true;
    case UpgradePhase::unknown:
    case UpgradePhase::done:
    case UpgradePhase::failed:
    case UpgradePhase::unconfirmed:
    case UpgradePhase::rolled_back:
      break;
  }
  return false;
}

// A capsule is the evidence of one failed upgrade, for people who cannot look at the node itself.
// It is a part of other records, and has at most capsule_bytes_max bytes of JSON. The capsule comes
// from the node, so no string in it can be trusted.
inline constexpr std::size_t capsule_bytes_max = 1'500;
struct Capsule {
  // The stage in which the upgrade failed; `prepare` if the release could not be prepared.
  std::string stage = {};
  std::string reason = {};        // why the upgrade failed, for people
  std::int64_t exit_status = -1;  // -1: the process did not exit, or the status is unknown
  std::int64_t signal = 0;        // the signal that ended the process; 0: none, or unknown
  std::int64_t lived_ms = -1;     // how long the process ran; -1: unknown
  // The most memory that the new version's processes were seen to use; -1: unknown.
  std::int64_t peak_kib = -1;
  // The processor time that the new version's processes were seen to use; -1: unknown.
  std::int64_t cpu_ms = -1;
  // The last lines of the process's output, the newest at the end.
  std::vector<std::string> lines = {};
  // How the release differs from the previous release, one string for each difference.
  std::vector<std::string> differs = {};

  bool operator==(const Capsule&) const = default;
};

// The record node/ID/upgrade/COMPONENT: the phase and the result of the last upgrade.
struct Upgrade {
  UpgradePhase phase = UpgradePhase::unknown;
  std::string attempt = {};  // the id of the upgrade that is recorded here
  std::string error = {};
  std::string from = {};
  std::string to = {};
  std::string began = {};
  std::string changed = {};
  std::vector<Capsule> evidence = {};  // at most one: why the upgrade has failed

  bool operator==(const Upgrade&) const = default;
};

// The type of a measure (a number that a component reports about itself): a counter only rises, a
// gauge goes up and down.
enum class MeasureType { unknown, counter, gauge };
constexpr auto names(MeasureType) {
  return std::to_array<std::string_view>({"unknown", "counter", "gauge"});
}

// The direction in which a measure gets worse. If it is `unknown`, the component has not given it,
// and the measure is shown to people, but not used to judge a version.
enum class MeasureWorse { unknown, up, down };
constexpr auto names(MeasureWorse) {
  return std::to_array<std::string_view>({"unknown", "up", "down"});
}

// The most measures that one component may report.
inline constexpr std::size_t measures_max = 16;

// A measure, such as a latency, as a part of the record NodeHealth. `value` is a string: the number
// as the component has written it.
struct Measure {
  std::string name = {};
  MeasureType type = MeasureType::unknown;
  MeasureWorse worse = MeasureWorse::unknown;
  std::string value = {};
  // How much the value has changed, or a counter has risen, between the beginning and the end of
  // the comparison. Empty before the end, and if the measure was missing at the beginning.
  std::string change = {};

  bool operator==(const Measure&) const = default;
};

// The record node/ID/health/COMPONENT: failures and measures of the component while a rollout
// compares this node with other nodes. The counts begin at 0 when the new version becomes active
// or, on a node of the control group (which keeps the old version), when the rollout first asks the
// node for its health. As long as `boot_id` and `instance` stay the same, the counts only rise.
struct NodeHealth {
  // The id of the upgrade to the new version. On a node of the control group, it is the member
  // `run` of the record node/ID/control/COMPONENT.
  std::string run = {};
  std::string version = {};
  std::string boot_id = {};
  std::string instance = {};  // the process of fleet-agent that has counted the failures
  std::int64_t sequence = 0;  // counts the writes of this record
  // How many failures this process of fleet-agent had counted before the comparison began. If this
  // is not 0, the rollout does not compare the node.
  std::int64_t before = 0;
  std::int64_t ends = 0;       // how often the component has exited without an order
  std::int64_t unhealthy = 0;  // how often the component's health check has failed
  std::int64_t fallbacks = 0;  // how often an upgrade has fallen back to the old version
  bool over = false;           // the comparison is over, and the changes of the measures are known
  std::string trouble = {};    // why some or all measures are missing; empty if none is missing
  std::vector<Measure> measures = {};

  // Returns how many failures have been counted.
  [[nodiscard]] std::int64_t failures() const { return ends + unhealthy + fallbacks; }

  bool operator==(const NodeHealth&) const = default;
};

// The record node/ID/control/COMPONENT asks this node, which belongs to the control group of a
// rollout, for its health. The node counts failures and reads measures for soak_ms, by its own
// clock, as the nodes of the current batch do.
struct ControlWatch {
  std::string by = {};   // the rollout that asks for the report, as rollout/NAME
  std::string run = {};  // ROLLOUT.control.NUMBER, with another number for each batch
  std::int64_t soak_ms = 0;

  bool operator==(const ControlWatch&) const = default;
};

enum class CommandAction {
  unknown,
  prepare,
  apply,    // begins an upgrade that must be followed by `confirm`
  upgrade,  // begins an upgrade that needs no `confirm`
  confirm,
  rollback,
  stop,  // stops the old version, so that the new version, which waits, replaces it
  reboot,
  status,
};
constexpr auto names(CommandAction) {
  return std::to_array<std::string_view>({"unknown", "prepare", "apply", "upgrade", "confirm",
                                          "rollback", "stop", "reboot", "status"});
}

// The record node/ID/command/COMPONENT. It has a lease, and vanishes when it is too late to begin
// the command.
struct Command {
  std::string id = {};  // the command's id: see command_id_bytes_max in keys.h
  CommandAction action = CommandAction::unknown;
  std::string version = {};       // the version of the release to fetch or to run
  std::string digest = {};        // a hash of all manifests of the release
  std::string instance = {};      // the instance that must obey; if empty, the active instance
  std::int64_t not_after_ms = 0;  // the command must begin within this time after its receipt
  std::int64_t soak_ms = 0;
  // The time from the activation of the new version within which `confirm` must come. Otherwise the
  // node goes back to the old version.
  std::int64_t confirm_ms = 0;
  std::int64_t deadline_ms = 0;  // for `stop`: the time within which the old instance must exit
  std::int64_t delay_ms = 0;     // the time from the command's receipt to its beginning
  std::string reason = {};
  bool downgrade = false;
  bool undo = false;  // goes back to the version that ran just before; fetches nothing
  std::string trace = {};
  bool judged = false;  // the rollout compares nodes, so this node reports its health

  bool operator==(const Command&) const = default;
};

// The possible results in the answer to a command. If a command has failed, its answer has an error
// message in place of one of these results.
inline constexpr std::string_view result_done = "done";
inline constexpr std::string_view result_reboot_required = "reboot-required";
// fleet-agent exited during the command, so the outcome of the command is unknown. The running
// version may show the outcome.
inline constexpr std::string_view result_interrupted = "interrupted";
// The result of a command `rollback` that came too late: the new version is committed and stays.
inline constexpr std::string_view result_committed = "committed";

// The record node/ID/answer/COMPONENT: the node's answer to its last command.
struct Answer {
  std::string command = {};  // the id of the answered command
  std::string result = {};
  std::string instance = {};
  std::vector<Capsule> evidence = {};  // at most one: why the command has failed

  bool operator==(const Answer&) const = default;
};

// The record node/ID/claim/COMPONENT: the rollout or person that moves the node now, that is,
// changes its version. While the claim exists, the desired version does not move the node.
struct Claim {
  std::string by = {};  // rollout/NAME or command/PERSON

  bool operator==(const Claim&) const = default;
};

// The record node/ID/csr: a request to renew the node's certificate. The new certificate has the
// name and the key of the old one.
struct CertificateRequest {
  std::string pem = {};
  std::string certificate = {};  // the certificate to be renewed, in PEM

  bool operator==(const CertificateRequest&) const = default;
};

// The record node/ID/certificate: the answer to the node's last request for a certificate. The
// record contains the certificate, or the reason why the request was refused.
struct NodeCertificate {
  std::string pem = {};
  std::string error = {};

  bool operator==(const NodeCertificate&) const = default;
};

}  // namespace fleet
