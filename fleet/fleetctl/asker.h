// Sends requests to the store and blocks until the answer has come or the time limit is over. Used
// by fleetctl, which has nothing else to do meanwhile.
#pragma once

#include <uv.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fleet/fleetctl/options.h"
#include "fleet/store/etcd_admin.h"
#include "fleet/store/etcd_store.h"

namespace fleetctl {

class Asker {
 public:
  explicit Asker(const Options& options);
  // Opens another store in place of etcd, for tests. That store answers on this object's loop.
  using OpenStore = std::function<std::unique_ptr<fleet::Store>(uv_loop_t& loop)>;
  Asker(const Options& options, const OpenStore& open_store);
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;
  ~Asker();

  [[nodiscard]] fleet::Reply<fleet::Reading> read(const fleet::Keys& keys);
  [[nodiscard]] fleet::Outcome commit(const fleet::Transaction& transaction);
  // Asks this member of the store, and no other.
  [[nodiscard]] fleet::Reply<fleet::MemberStatus> status(const std::string& endpoint);
  [[nodiscard]] std::optional<fleet::Trouble> grant(const fleet::Permissions& permissions);
  [[nodiscard]] std::optional<fleet::Trouble> revoke(const std::string& user);
  [[nodiscard]] std::optional<fleet::Trouble> enable_users();
  [[nodiscard]] fleet::Reply<fleet::Lease> lease(std::chrono::seconds ttl);
  // Ends the lease at once, if the store answers. Otherwise the lease ends when its time is over.
  void end_lease(fleet::LeaseId lease);
  // Pauses for a moment, between two looks at records that change.
  void rest();

 private:
  template <class Value, class Ask>
  Value answer_to(const Ask& ask);
  // Adds to the error what is wrong with the person's own certificate, if no member could be
  // reached.
  [[nodiscard]] fleet::Trouble explained(fleet::Trouble trouble) const;
  template <class Value>
  [[nodiscard]] fleet::Reply<Value> explained(fleet::Reply<Value> reply) const;
  [[nodiscard]] std::optional<fleet::Trouble> explained(
      const std::optional<fleet::Trouble>& trouble) const;
  [[nodiscard]] std::unique_ptr<fleet::EtcdStore> open(std::vector<std::string> endpoints,
                                                       std::chrono::milliseconds deadline);

  const Options& options_;
  uv_loop_t loop_{};
  std::unique_ptr<fleet::EtcdStore> etcd_;
  std::unique_ptr<fleet::Store> other_;
  fleet::Store* store_ = nullptr;  // the store in use: etcd_ or other_
};

}  // namespace fleetctl
