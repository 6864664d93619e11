// Sends requests to the store, and blocks until the answer has come or the time limit is over. For
// fleetctl, which has nothing else to do while it waits. Also finds out why the store refuses the
// user.
#pragma once

#include <uv.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fleet/fleetctl/options.h"
#include "fleet/model/time.h"
#include "fleet/store/etcd_admin.h"
#include "fleet/store/etcd_store.h"
#include "fleet/store/http2.h"

namespace fleetctl {

class Asker {
 public:
  explicit Asker(const Options& options);
  // Opens the store that is to be used in place of etcd, in a test. That store must answer on this
  // object's event loop.
  using OpenStore = std::function<std::unique_ptr<fleet::Store>(uv_loop_t& loop)>;
  Asker(const Options& options, const OpenStore& open_store);
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;
  ~Asker();

  [[nodiscard]] fleet::Reply<fleet::Reading> read(const fleet::Keys& keys);
  [[nodiscard]] fleet::Outcome commit(const fleet::Transaction& transaction);
  // Asks this one member of the store about its state.
  [[nodiscard]] fleet::Reply<fleet::MemberStatus> status(const std::string& endpoint);
  // Asks for the list of all members of the store.
  [[nodiscard]] fleet::Reply<std::vector<fleet::StoreMember>> members();
  [[nodiscard]] std::optional<fleet::Trouble> grant(const fleet::Permissions& permissions);
  [[nodiscard]] std::optional<fleet::Trouble> revoke(const std::string& user);
  [[nodiscard]] std::optional<fleet::Trouble> enable_users();
  [[nodiscard]] fleet::Reply<fleet::Lease> lease(std::chrono::seconds ttl);
  // Ends the lease at once. If the store does not answer, the lease ends later, when its time is
  // over.
  void end_lease(fleet::LeaseId lease);
  // Sleeps for the time between two readings of a record that fleetctl watches.
  void rest();

 private:
  template <class Value, class Ask>
  Value answer_to(const Ask& ask);
  // Adds to the error what is wrong with the user's own certificate, if no member of the store
  // could be reached. If the store denies the request, adds what was asked for: `deed`.
  [[nodiscard]] fleet::Trouble explained(fleet::Trouble trouble, const std::string& deed) const;
  template <class Value>
  [[nodiscard]] fleet::Reply<Value> explained(fleet::Reply<Value> reply,
                                              const std::string& deed) const;
  [[nodiscard]] std::optional<fleet::Trouble> explained(
      const std::optional<fleet::Trouble>& trouble, const std::string& deed) const;
  [[nodiscard]] std::unique_ptr<fleet::EtcdStore> open(std::vector<std::string> endpoints,
                                                       std::chrono::milliseconds deadline);

  const Options& options_;
  uv_loop_t loop_{};
  std::unique_ptr<fleet::EtcdStore> etcd_;
  std::unique_ptr<fleet::Store> other_;
  fleet::Store* store_ = nullptr;  // the store in use: etcd_ or other_
};

// ---- the reason why the store refuses the user. The error message of TLS does not say which
// certificate is wrong

// Returns what is wrong with the user's certificate, by this machine's clock. Returns an empty text
// if the certificate is valid, or if no certificate is used.
[[nodiscard]] std::string why_not_let_in(const fleet::Certificates& files, fleet::UnixSeconds now);

// Returns the message for a request that the store has refused for the given reason. If the reason
// is a missing permission, the message also says what was asked for (`deed`, such as `write stop`)
// and under which name. etcd says only `permission denied`.
[[nodiscard]] std::string why_denied(const fleet::Certificates& files, const std::string& deed,
                                     const std::string& reason);

}  // namespace fleetctl
