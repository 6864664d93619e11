// Keeps the state of the cell for the web page and the metrics, updated by each changed record. The
// struct Health has facts that no record contains, such as which members of the store answer. Does
// no input or output.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fleet/model/drivers/controllers_at_work.h"
#include "fleet/model/nodes/node_view.h"
#include "fleet/model/records/cell_records.h"
#include "fleet/model/records/plan_records.h"
#include "fleet/model/records/rollout_records.h"
#include "fleet/model/records/time.h"
#include "fleet/store/store.h"

namespace fleet {

struct NodeCount {
  std::int64_t all = 0;
  std::int64_t reporting = 0;
  std::int64_t degraded = 0;
  std::int64_t upgrading = 0;
};

class CellState {
 public:
  // Updates the state with a new or changed record. `now` is the current time, or 0 if it is
  // unknown.
  void take(const KeyValue& record, UnixSeconds now = 0);
  void take_absent(const std::string& key);

  struct OneRollout {
    Rollout rollout = {};
    // The stage of each node that has got a command of the rollout: how far it has come.
    std::map<std::string, NodeStage> nodes = {};
    // the number of nodes in each batch, by the batch's number
    std::map<std::uint64_t, std::int64_t> batches = {};
    std::optional<RolloutJudge> judge = {};

    [[nodiscard]] std::map<std::string, std::int64_t> stages() const;
    [[nodiscard]] std::int64_t node_count() const;  // the number of nodes in all batches
  };

  // A new version soaks on a node: it must work there for some time, before it is confirmed. Nodes
  // do not report when a soak begins, so `since` is the time at which this controller first saw it.
  struct Soak {
    std::string attempt = {};  // the id of the upgrade to the new version
    UnixSeconds since = 0;
  };

  [[nodiscard]] const std::map<std::string, NodeView>& nodes() const { return nodes_; }
  [[nodiscard]] const std::map<std::string, OneRollout>& rollouts() const { return rollouts_; }
  [[nodiscard]] const std::map<std::string, Plan>& plans() const { return plans_; }
  [[nodiscard]] const std::map<std::string, Desired>& desired() const { return desired_; }
  [[nodiscard]] const std::map<std::string, std::string>& drivers() const { return drivers_; }
  // Returns the running fleet-signers, by their names.
  [[nodiscard]] const std::map<std::string, SignerAtWork>& signers() const { return signers_; }
  [[nodiscard]] const ControllersAtWork& controllers() const { return controllers_; }
  [[nodiscard]] const std::optional<Stop>& stop() const { return stop_; }
  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] const std::optional<Epoch>& epoch() const { return epoch_; }
  // Returns the requests of the machines that wait for a person's approval. The keys of the map are
  // the fingerprints of the machines' public keys.
  [[nodiscard]] std::map<std::string, JoinRequest> waiting_machines() const;
  // Returns the names of all machines that want to join and were not refused, even if they need no
  // approval.
  [[nodiscard]] std::vector<std::string> joining_machines() const;
  // Returns the nodes that have requested a new certificate and got no answer yet.
  [[nodiscard]] const std::set<std::string>& renewing_nodes() const { return renewing_; }
  // Returns whether a machine can join at the time `now`, with a token that is still valid.
  [[nodiscard]] bool has_usable_token(UnixSeconds now) const;
  // Returns when the certificates of nodes and people expire, by the names in them, such as
  // `operator:anna`. Revoked certificates are left out.
  [[nodiscard]] const std::map<std::string, UnixSeconds>& expiries() const { return expiries_; }
  // Returns the labels in the node's identity record, which may exist before the node writes its
  // first record. Returns an empty map if there are none.
  [[nodiscard]] std::map<std::string, std::string> given_labels(const std::string& node) const;
  // Returns the soak of a component's new version on a node, or null if none soaks there.
  [[nodiscard]] const Soak* soak(const std::string& node, const std::string& component) const;

  [[nodiscard]] NodeCount count() const;
  // Returns how many nodes run each version of each component.
  [[nodiscard]] std::map<std::string, std::map<std::string, std::int64_t>> versions() const;
  // Returns the size, in bytes, of each node's records in the store.
  [[nodiscard]] std::map<std::string, std::int64_t> bytes_by_node() const;
  [[nodiscard]] std::int64_t damaged() const;

 private:
  template <class Record>
  void keep(std::map<std::string, Record>& records, const ParsedKey& key, const KeyValue& found);
  void take_soak(const ParsedKey& key, UnixSeconds now);
  void take_rollout(const ParsedKey& key, const KeyValue& record);
  void take_identity(const ParsedKey& key, const KeyValue& record);
  void take_given(const ParsedKey& key, const std::map<std::string, std::string>& labels);
  void take_join(const ParsedKey& key, const KeyValue& record);
  void take_cell(const ParsedKey& key, const KeyValue& record);
  void forget(const ParsedKey& key);

  std::map<std::string, NodeView> nodes_;
  // the size in bytes of each record, by node and then by key
  std::map<std::string, std::map<std::string, std::int64_t>> bytes_;
  std::map<std::string, OneRollout> rollouts_;
  std::map<std::string, Plan> plans_;
  std::map<std::string, Desired> desired_;
  // the controllers, by the rollout, plan or other work that they drive
  std::map<std::string, std::string> drivers_;
  std::map<std::string, SignerAtWork> signers_;
  ControllersAtWork controllers_;
  std::set<std::string> unread_;  // the keys of records that cannot be parsed
  std::optional<Stop> stop_;
  std::optional<Epoch> epoch_;
  Settings settings_;
  // the soaks that are under way, by node and then by component
  std::map<std::string, std::map<std::string, Soak>> soaks_;
  std::map<std::string, JoinRequest> joins_;  // requests to join, by the fingerprint of the key
  std::set<std::string> approvals_;           // the fingerprints of approved keys
  std::map<std::string, Token> tokens_;       // the tokens, by their IDs
  std::set<std::string> renewing_;            // the nodes that wait for a new certificate
  std::map<std::string, UnixSeconds> expiries_;
  // the labels in the identities of nodes, by node
  std::map<std::string, std::map<std::string, std::string>> given_;
};

// ---- facts that are not in the store's records, about the store's members and this controller

struct MemberHealth {
  bool answers = false;
  MemberStatus status = {};
  std::string trouble = {};
};

struct CertificateHealth {
  std::string what = {};     // what the certificate is for: `store`, `http` or `authority`
  std::string name = {};     // KIND:WHO, the name in the certificate; may be empty
  std::int64_t expires = 0;  // seconds since 1970; 0 if the certificate cannot be read
  std::string trouble = {};
};

struct Health {
  std::string controller = {};
  bool follows = false;  // whether this controller's copy of the records is up to date
  std::string trouble = {};
  std::int64_t revision = 0;
  std::map<std::string, MemberHealth> members = {};  // the members, by their endpoints
  std::vector<CertificateHealth> certificates = {};
  double cpu_seconds = 0;
  std::int64_t resident_bytes = 0;
  std::map<int, std::int64_t> responses = {};  // how many responses were sent, by HTTP status
  std::int64_t streams = 0;

  // Returns whether more than half of the store's members answer and have a leader.
  [[nodiscard]] bool has_quorum() const;
  [[nodiscard]] bool has_no_space() const;
};

}  // namespace fleet
