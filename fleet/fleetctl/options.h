// fleetctl's command line as plain data, and its exit statuses. fleetctl(1) describes them.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "fleet/cell/cell_terms.h"
#include "fleet/common/store_options.h"
#include "fleet/model/nodes/identities.h"
#include "fleet/model/records/cell_records.h"
#include "fleet/model/records/node_records.h"
#include "fleet/model/records/rollout_records.h"
#include "fleet/model/rollouts/rollout_wish.h"

namespace fleetctl {

// The exit statuses, as in the table in fleetctl(1).
inline constexpr int exit_done = 0;
inline constexpr int exit_usage = 1;
inline constexpr int exit_refused = 2;
inline constexpr int exit_unreachable = 3;
inline constexpr int exit_failed = 4;
inline constexpr int exit_unknown = 5;
inline constexpr int exit_differs = 10;
// The exit status after a signal is this number plus that of the signal.
inline constexpr int signal_exit_base = 128;

class Asker;
struct Options;

// A function of commands.h that performs a command. A LocalCommand needs no existing store.
using StoreCommand = int (*)(const Options& options, Asker& asker);
using LocalCommand = int (*)(const Options& options);
using Command = std::variant<StoreCommand, LocalCommand>;

struct Options {
  Command command;
  fleet::StoreOptions store;
  bool json = false;

  std::string target;     // an expression that selects nodes
  std::string node;       // for many commands: the name of a node or person
  std::string component;  // the component's name, for many commands
  std::string version;    // the version's name, for many commands
  std::string why;        // for desire, stop: the reason, to be shown to people
  bool remove = false;    // for desire: removes the desired version, instead of setting one
  bool downgrade = false;
  bool on = false;                     // for stop: true orders the stop, false ends it
  std::vector<std::string> manifests;  // for publish: the files of manifests
  std::string url;                     // for publish: the URL below which nodes find the manifests
  std::string channel;
  std::string subject;  // for events: a record's key; for token revoke: the token's ID
  std::string who;      // for events: only events that this person ordered
  std::size_t limit = 50;
  std::string setting;  // for settings: the name of the setting
  std::string value;
  std::string role = std::string(fleet::node_kind);  // for enrol, revoke: `node` or a role
  // For the command `enrol`: the file with the certificate request.
  std::string request;
  std::string revocations;  // for revoke: the file of the revocation list
  std::string restart;      // for revoke: a program that restarts a member of etcd
  std::string signer;       // the file of the authority's certificate
  std::string signer_key;
  std::string output;
  int days = 90;

  fleet::Token token;                     // for token create: the terms of the new token
  std::int64_t expires_s = 24 * 60 * 60;  // for token create: how long it can be used
  std::vector<std::string> release_keys;  // for token create: files with public keys of releases
  std::string fingerprint;                // for approve: the fingerprint of the machine's key

  std::string rollout;  // the rollout's name
  // For the command `rollout start`: the terms of the rollout. Facts about the release, such as its
  // digest, are added later.
  fleet::RolloutTerms terms;
  bool many_batches = false;  // for rollout start: allows more batches than the usual limit
  bool dry_run = false;
  fleet::RolloutWish wish = fleet::RolloutWish::pause;
  bool leave = false;  // for rollout abort: the nodes keep the version that they run

  std::string plan;            // the plan's name
  std::string file;            // for plan run, apply: the file with the plan or document
  bool diff = false;           // for apply: only show the changes, and make none
  bool wait = false;           // for plan run: wait until the plan has ended
  bool is_controller = false;  // for forget: `node` is the name of a controller

  std::string action;  // for `fleetctl command`: the order to the node, such as `prepare`
  // for `fleetctl command`: how many seconds the node has to begin the order
  std::int64_t not_after_s = 600;

  std::string group;           // for window: the name of the group of nodes
  fleet::Window window;        // for window set: the days and times of the window
  bool ignore_window = false;  // for desire, plan run: upgrades may begin outside of windows

  int nodes = 3;          // for dev: the number of nodes
  std::string directory;  // for dev, cell init, cell start: the cell's directory
  fleet::CellTerms cell;  // for cell init: the machines of the cell
};

[[nodiscard]] std::variant<Options, fleet::Text> options_from(int argc, char** argv);

}  // namespace fleetctl
