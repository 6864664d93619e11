// fleetctl's command line as plain data. The page fleetctl(1) says what it means.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "fleet/common/store_options.h"
#include "fleet/model/cell_records.h"
#include "fleet/model/identities.h"
#include "fleet/model/node_records.h"
#include "fleet/model/rollout_records.h"
#include "fleet/model/rollout_wish.h"

namespace fleetctl {

enum class Command {
  status,
  nodes,
  show,
  versions,
  desire,
  stop,
  publish,
  apply,
  releases,
  enrol,
  renew,
  revoke,
  forget,
  rollout_start,
  rollout_list,
  rollout_show,
  rollout_watch,
  rollout_order,
  plan_run,
  plan_list,
  plan_show,
  plan_recover,
  window_set,
  window_list,
  window_remove,
  node_command,
  restored,
  accept_epoch,
  events,
  history,
  settings_list,
  settings_set,
  settings_unset,
};

struct Options {
  Command command = Command::status;
  fleet::StoreOptions store;
  bool json = false;

  std::string target;     // of nodes
  std::string node;       // show, desire, enrol
  std::string component;  // desire, publish, releases
  std::string version;    // desire
  std::string why;        // desire, stop
  bool downgrade = false;
  bool on = false;                     // stop
  std::vector<std::string> manifests;  // publish: files
  std::string url;                     // publish: where they will be found
  std::string channel;
  std::string subject;  // events
  std::string who;      // events
  std::size_t limit = 50;
  std::string setting;  // settings: its name
  std::string value;
  std::string role = std::string(fleet::node_kind);  // enrol, revoke
  std::string request;                               // enrol: what the key has signed
  std::string revocations;                           // revoke: a file
  std::string restart;                               // revoke: a program
  std::string signer;                                // the authority's certificate
  std::string signer_key;
  std::string output;
  int days = 90;

  std::string rollout;        // its name
  fleet::RolloutTerms terms;  // rollout start, without the release's digest
  bool many_batches = false;  // rollout start: so many are meant
  bool dry_run = false;
  fleet::RolloutWish wish = fleet::RolloutWish::pause;
  bool leave = false;  // rollout abort: nodes stay where they are

  std::string plan;   // its name
  std::string file;   // plan run, apply: what a person wrote
  bool diff = false;  // apply: only show it
  bool wait = false;  // plan run: until it has ended

  fleet::CommandAction action = fleet::CommandAction::unknown;  // command
  std::int64_t not_after_s = 600;                               // command

  std::string group;           // of nodes
  fleet::Window window;        // window set
  bool ignore_window = false;  // desire, plan run
};

// To show, and to exit with.
struct Text {
  std::string text;
  int status = 0;
};

[[nodiscard]] std::variant<Options, Text> options_from(int argc, char** argv);

}  // namespace fleetctl
