// The records of one node: what it is, what runs on it, what it was told and what it answered.
// Plain data; how they are written is in record_members.h. Times of day are texts, only ever shown.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fleet {

// node/ID/info: written only when it changes.
struct NodeInfo {
  std::map<std::string, std::string> facts = {};   // os, arch, ...: found by the node
  std::map<std::string, std::string> labels = {};  // given by whoever set the node up
  std::int64_t protocol = 0;  // of fleet-agent, what --min-protocol asks for; 0: none was reported
  std::string upgrader_protocol = {};
  std::string library_protocol = {};
  std::map<std::string, std::vector<std::string>> on_disk = {};  // component: versions
  std::string time_zone = {};                                    // of windows that are site-local

  bool operator==(const NodeInfo&) const = default;
};

// node/ID/versions: what runs, as it was found. In JSON a flat object of texts.
struct Versions {
  std::map<std::string, std::string> running = {};  // component: version

  bool operator==(const Versions&) const = default;
};

// node/ID/instance/UUID, on a lease: one process of fleet-agent.
struct Instance {
  std::string version = {};  // empty: it reported none, which reads as unknown
  std::string phase = {};
  std::string boot_id = {};
  std::string since = {};
  std::string last_command = {};
  bool ready = false;
  std::string degraded = {};  // why; empty: it is not
  std::int64_t generation = 0;
  std::string machine = {};  // another for each machine, the same at each boot; empty: not known

  bool operator==(const Instance&) const = default;
};

// node/ID/active: the instance that acts. It has no lease.
struct Active {
  std::string instance = {};
  std::string boot_id = {};
  std::int64_t generation = 0;

  bool operator==(const Active&) const = default;
};

enum class UpgradePhase {
  unknown,
  staging,        // the release is being fetched
  verifying,      // signature, self-test
  prepared,       // on disk and verified; nothing has been begun
  cutover_ready,  // the new version stands beside the old one and waits for `stop`
  soaking,        // it works, on trial, and the time to observe it is running
  soaked,         // that time has passed in health; waits for `confirm`
  done,
  failed,
  unconfirmed,  // went back because `confirm` did not come in time: not the release's failure
  rolled_back,  // went back because it was told to
};
constexpr auto names(UpgradePhase) {
  return std::to_array<std::string_view>({"unknown", "staging", "verifying", "prepared",
                                          "cutover-ready", "soaking", "soaked", "done", "failed",
                                          "unconfirmed", "rolled-back"});
}

// Begun, and not ended in one way or another.
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

// node/ID/upgrade/COMPONENT: how far the upgrade is; cleared of its error by the next success.
struct Upgrade {
  UpgradePhase phase = UpgradePhase::unknown;
  std::string attempt = {};  // the id of the command that began it
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
  apply,    // of a rollout: begin, and stay on trial until `confirm`
  upgrade,  // of a machine: begin and end
  confirm,
  rollback,
  stop,  // the old instance may go
  reboot,
  status,
};
constexpr auto names(CommandAction) {
  return std::to_array<std::string_view>({"unknown", "prepare", "apply", "upgrade", "confirm",
                                          "rollback", "stop", "reboot", "status"});
}

// node/ID/command/COMPONENT: on a lease that is its not-after.
struct Command {
  std::string id = {};  // TRACE.STEP.ATTEMPT
  CommandAction action = CommandAction::unknown;
  std::string version = {};       // of the release
  std::string digest = {};        // of all its manifests
  std::string instance = {};      // whom it is meant for; empty: the active one
  std::int64_t not_after_ms = 0;  // from its receipt, on the node's monotonic clock
  std::int64_t soak_ms = 0;
  std::int64_t confirm_ms = 0;   // from the new version's activation, until it goes back by itself
  std::int64_t deadline_ms = 0;  // of `stop`: how long the old instance may take to end
  std::int64_t delay_ms = 0;     // from its receipt: it is not begun before
  std::string reason = {};
  bool downgrade = false;
  std::string trace = {};

  bool operator==(const Command&) const = default;
};

// The results that an answer may have besides an error in words.
inline constexpr std::string_view result_done = "done";
inline constexpr std::string_view result_reboot_required = "reboot-required";
// It cannot be known what came of it: the versions that run must say.
inline constexpr std::string_view result_interrupted = "interrupted";
// To a roll-back: the new version is committed already, and stays.
inline constexpr std::string_view result_committed = "committed";

// node/ID/answer/COMPONENT.
struct Answer {
  std::string command = {};  // its id
  std::string result = {};
  std::string instance = {};

  bool operator==(const Answer&) const = default;
};

// node/ID/claim/COMPONENT: what moves the node now; while it is there the desired version is not
// looked at.
struct Claim {
  std::string by = {};  // rollout/RID, plan/NAME, command/WHO

  bool operator==(const Claim&) const = default;
};

// node/ID/csr: a request to renew the node's certificate, under the same name and with the same
// key.
struct CertificateRequest {
  std::string pem = {};
  std::string certificate = {};  // PEM, the one that is to be renewed

  bool operator==(const CertificateRequest&) const = default;
};

// node/ID/certificate: what came of the last request, a certificate or why there is none.
struct NodeCertificate {
  std::string pem = {};
  std::string error = {};

  bool operator==(const NodeCertificate&) const = default;
};

}  // namespace fleet
