// The records of one node: its description, the versions that it runs, its commands and its
// answers. Plain data; record_members.h says how records are written. Times of day are texts, and
// only shown.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fleet {

// The record node/ID/info, which is written only when it changes.
struct NodeInfo {
  std::map<std::string, std::string> facts = {};   // os, arch, ...: the node finds them out itself
  std::map<std::string, std::string> labels = {};  // given by the person who set the node up
  std::int64_t protocol = 0;  // of fleet-agent, for --min-protocol; 0 if none was reported
  std::string upgrader_protocol = {};
  std::string library_protocol = {};
  std::map<std::string, std::vector<std::string>> on_disk = {};  // for each component its versions
  std::string time_zone = {};  // for windows whose zone is site-local

  bool operator==(const NodeInfo&) const = default;
};

// The record node/ID/versions: the versions that run, as the node has found them. In JSON it is a
// flat object of texts.
struct Versions {
  std::map<std::string, std::string> running = {};  // for each component its version

  bool operator==(const Versions&) const = default;
};

// The record node/ID/instance/UUID, on a lease: one process of fleet-agent.
struct Instance {
  std::string version = {};  // empty if none was reported, which reads as unknown
  std::string phase = {};
  std::string boot_id = {};
  std::string since = {};
  std::string last_command = {};
  bool ready = false;
  std::string degraded = {};  // why the node is degraded; empty if it is not
  std::int64_t generation = 0;
  std::string machine = {};  // differs between machines, the same at each boot; empty if unknown

  bool operator==(const Instance&) const = default;
};

// The record node/ID/active: the instance that acts for the node. It has no lease.
struct Active {
  std::string instance = {};
  std::string boot_id = {};
  std::int64_t generation = 0;

  bool operator==(const Active&) const = default;
};

enum class UpgradePhase {
  unknown,
  staging,        // the release is being fetched
  verifying,      // signature and self-test are being checked
  prepared,       // the release is on disk and verified; no upgrade has begun
  cutover_ready,  // the new version stands beside the old one and waits for `stop`
  soaking,        // the new version works, on trial, and is observed for soak_ms
  soaked,         // the soak has passed in health; the node waits for `confirm`
  done,
  failed,
  unconfirmed,  // went back because `confirm` came too late: not the release's failure
  rolled_back,  // went back because of an order
};
constexpr auto names(UpgradePhase) {
  return std::to_array<std::string_view>({"unknown", "staging", "verifying", "prepared",
                                          "cutover-ready", "soaking", "soaked", "done", "failed",
                                          "unconfirmed", "rolled-back"});
}

// Returns whether an upgrade in this phase has begun and not ended.
constexpr bool is_under_way(UpgradePhase phase) {
  switch (phase) {
    case UpgradePhase::staging:
    case UpgradePhase::verifying:
    case UpgradePhase::prepared:
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

// The record node/ID/upgrade/COMPONENT: how far the upgrade is. The next success clears its error.
struct Upgrade {
  UpgradePhase phase = UpgradePhase::unknown;
  std::string attempt = {};  // the id of the command that began the upgrade
  std::string error = {};
  std::string from = {};
  std::string to = {};
  std::string began = {};
  std::string changed = {};

  bool operator==(const Upgrade&) const = default;
};

enum class CommandAction {
  unknown,
  prepare,
  apply,    // for rollouts: begins an upgrade that stays on trial until `confirm`
  upgrade,  // for machines: the upgrader commits by itself
  confirm,
  rollback,
  stop,  // lets the old instance end
  reboot,
  status,
};
constexpr auto names(CommandAction) {
  return std::to_array<std::string_view>({"unknown", "prepare", "apply", "upgrade", "confirm",
                                          "rollback", "stop", "reboot", "status"});
}

// The record node/ID/command/COMPONENT, on a lease whose end is the command's not-after.
struct Command {
  std::string id = {};  // TRACE.STEP.ATTEMPT
  CommandAction action = CommandAction::unknown;
  std::string version = {};       // the version of the release
  std::string digest = {};        // of all manifests of the release
  std::string instance = {};      // the instance that has to obey; the active one if empty
  std::int64_t not_after_ms = 0;  // counted from the receipt, on the node's monotonic clock
  std::int64_t soak_ms = 0;
  // the time after which the new version goes back by itself, counted from its activation
  std::int64_t confirm_ms = 0;
  std::int64_t deadline_ms = 0;  // for `stop`: the time that the old instance may take to end
  std::int64_t delay_ms = 0;     // counted from the receipt: the command is not begun before
  std::string reason = {};
  bool downgrade = false;
  bool undo = false;  // go back to the version that ran just before, and fetch nothing
  std::string trace = {};

  bool operator==(const Command&) const = default;
};

// The results in an answer. An answer may have an error in words instead.
inline constexpr std::string_view result_done = "done";
inline constexpr std::string_view result_reboot_required = "reboot-required";
// The answer to a command whose outcome cannot be known: only the versions that run can tell.
inline constexpr std::string_view result_interrupted = "interrupted";
// The answer to a roll-back that comes too late: the new version is committed, and stays.
inline constexpr std::string_view result_committed = "committed";

// The record node/ID/answer/COMPONENT.
struct Answer {
  std::string command = {};  // the command's id
  std::string result = {};
  std::string instance = {};

  bool operator==(const Answer&) const = default;
};

// The record node/ID/claim/COMPONENT: names the run or command that moves the node now. While it
// exists, the desired version does not move the node.
struct Claim {
  std::string by = {};  // rollout/RID, plan/NAME or command/WHO

  bool operator==(const Claim&) const = default;
};

// The record node/ID/csr: a request to renew the node's certificate, under the same name and with
// the same key.
struct CertificateRequest {
  std::string pem = {};
  std::string certificate = {};  // the certificate that is to be renewed, in PEM

  bool operator==(const CertificateRequest&) const = default;
};

// The record node/ID/certificate: the answer to the last request, which is a certificate or the
// reason why there is none.
struct NodeCertificate {
  std::string pem = {};
  std::string error = {};

  bool operator==(const NodeCertificate&) const = default;
};

}  // namespace fleet
