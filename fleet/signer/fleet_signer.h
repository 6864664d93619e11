// Defines the main class of fleet-signer. It follows the requests for certificates in the store,
// and answers them one after the other. fleet-signer listens on no port: machines that join send
// their requests to a controller, which writes the requests into the store. fleet-signer also takes
// snapshots of the store, since etcd gives them only to a user who has all permissions.
//
// Several processes of fleet-signer may run at the same time. Each transaction compares the records
// on which its answer is based, so only the first answer to a request is written.
#pragma once

#include <uv.h>

#include <memory>
#include <string>
#include <vector>

#include "base/signal_watch.h"
#include "fleet/common/certificate.h"
#include "fleet/common/presence.h"
#include "fleet/common/store_options.h"
#include "fleet/model/nodes/identities.h"
#include "fleet/model/signer/joining.h"
#include "fleet/model/signer/signer_queue.h"
#include "fleet/model/signer/write_pace.h"
#include "fleet/signer/snapshots.h"
#include "fleet/store/etcd_admin.h"
#include "fleet/store/etcd_store.h"
#include "fleet/store/mirror.h"
#include "fleet/store/uv_timers.h"

namespace fleet {

// The command line as plain data. fleet-signer(8) describes the options.
struct SignerOptions {
  StoreOptions store;
  std::string signer;  // the path of the signing authority's certificate
  std::string signer_key;
  int days = 90;          // the number of days for which a signed certificate is valid
  std::string name;       // this signer's name; no two signers may have the same name
  std::string snapshots;  // the directory for snapshots; if empty, this process takes none
  int snapshots_kept = 48;
};

// Reads the authority's certificate and key from their files. Returns a Refusal if a file cannot be
// read, if the authority cannot sign, or if it is not that of this cell.
[[nodiscard]] Result<Signer> authority_in(const SignerOptions& options);

class FleetSigner {
 public:
  FleetSigner(uv_loop_t& loop, SignerOptions options);
  FleetSigner(const FleetSigner&) = delete;
  FleetSigner& operator=(const FleetSigner&) = delete;

  // Runs until SIGTERM or SIGINT stops this process. Returns the exit status.
  int run();

 private:
  void take_changes(const Changes& changes);
  void look();
  void show();
  void leave();
  void join(const JoinCase& one, const Signer& authority);
  void admit(const JoinCase& one, const std::string& pem, Revision recorded);
  void publish(const JoinCase& one, const std::string& pem, Revision recorded);
  void shut_out(const JoinCase& one);
  void renew(const PendingRenewal& pending, const Signer& authority);
  void sweep();
  // Commits a transaction. If it was committed, logs `news`, and handles the next request as soon
  // as the local copy of the records contains this write.
  void write(const Transaction& transaction, const std::string& news);
  void go_on_at(Revision revision);
  // Called when a write has failed. Continues with the next request after a pause.
  void go_on_later(const Outcome& outcome);
  // Logs the line in `rest`, unless it is empty, and continues with the next request after the
  // pause in `rest`.
  void go_on_after(const WritePace::Rest& rest);

  uv_loop_t& loop_;
  SignerOptions options_;
  UvTimers timers_;
  EtcdStore store_;
  EtcdAdmin admin_;
  SignerQueue queue_;
  std::unique_ptr<Mirror> mirror_;
  bool busy_ = false;
  WritePace pace_;
  std::string since_;
  std::string own_key_;  // the key of the record signer/NAME of this process
  Presence presence_;
  std::unique_ptr<Snapshots> snapshots_;  // null if this process takes no snapshots
  bool leaving_ = false;
  std::unique_ptr<Timer> later_;  // set during the pause after a write that has failed
  std::unique_ptr<Timer> sweep_;
  std::unique_ptr<Timer> left_;
  upgrader::SignalWatch signals_;
};

}  // namespace fleet
