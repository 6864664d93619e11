// Sends fleetctl's requests to the store. Each function blocks until the answer comes or the time
// limit is over. Also finds out why the store refuses the user.
#pragma once

#include <uv.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "base/signal_watch.h"
#include "fleet/fleetctl/options.h"
#include "fleet/model/records/time.h"
#include "fleet/store/etcd_admin.h"
#include "fleet/store/etcd_store.h"
#include "fleet/store/http2.h"

namespace fleetctl {

class Asker {
 public:
  explicit Asker(const Options& options);
  // Opens a store that replaces etcd in a test, and answers on this object's event loop.
  using OpenStore = std::function<std::unique_ptr<fleet::Store>(uv_loop_t& loop)>;
  Asker(const Options& options, const OpenStore& open_store);
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

  [[nodiscard]] fleet::Reply<fleet::Reading> read(const fleet::Keys& keys);
  [[nodiscard]] fleet::Outcome commit(const fleet::Transaction& transaction);
  // Asks the member of the store at this endpoint for its own state.
  [[nodiscard]] fleet::Reply<fleet::MemberStatus> status(const std::string& endpoint);
  // Asks for the list of all members of the store.
  [[nodiscard]] fleet::Reply<std::vector<fleet::StoreMember>> members();
  [[nodiscard]] std::optional<fleet::Trouble> grant(const fleet::Permissions& permissions);
  [[nodiscard]] std::optional<fleet::Trouble> revoke(const std::string& user);
  [[nodiscard]] std::optional<fleet::Trouble> enable_users();
  [[nodiscard]] fleet::Reply<fleet::Lease> lease(std::chrono::seconds ttl);
  // Ends the lease. If this fails, returns the reason; the lease ends later by itself.
  std::optional<fleet::Trouble> end_lease(fleet::LeaseId lease);
  // Sleeps for the time between two reads of a record that fleetctl watches, or until stop() is not
  // 0 any more.
  void rest();
  // Keeps SIGINT, SIGTERM and SIGHUP from ending this process: stop() returns the number of the
  // first one that has come, or 0. If this process ignores SIGHUP, as under nohup(1), it still
  // does. Must be called at most once.
  void hold_stops();
  [[nodiscard]] int stop() const { return stop_; }

 private:
  template <class Value, class Ask>
  Value answer_to(const Ask& ask);
  // Completes the store's error message. If no member could be reached, adds what is wrong with the
  // user's certificate. If the request was denied, adds the denied action, `deed`.
  [[nodiscard]] fleet::Trouble explained(fleet::Trouble trouble, const std::string& deed) const;
  template <class Value>
  [[nodiscard]] fleet::Reply<Value> explained(fleet::Reply<Value> reply,
                                              const std::string& deed) const;
  [[nodiscard]] std::optional<fleet::Trouble> explained(
      const std::optional<fleet::Trouble>& trouble, const std::string& deed) const;
  [[nodiscard]] std::unique_ptr<fleet::EtcdStore> open(std::vector<std::string> endpoints,
                                                       std::chrono::milliseconds deadline);

  const Options& options_;
  upgrader::EventLoop loop_;
  std::unique_ptr<fleet::EtcdStore> etcd_;
  std::unique_ptr<fleet::Store> other_;
  fleet::Store* store_ = nullptr;  // the store in use: etcd_ or other_
  upgrader::SignalWatch stops_;
  int stop_ = 0;
};

// ---- why the store refuses the user; an error message of TLS does not say which certificate is
// wrong

// Returns why the user's certificate is not valid at the time `now`, or an empty string if it is
// valid or not used.
[[nodiscard]] std::string why_not_let_in(const fleet::Certificates& files, fleet::UnixSeconds now);

// Returns which option is missing or wrong, or an empty string. With https, all three files of
// `files` are needed; without https, none of them is used.
[[nodiscard]] std::string why_not_asked(const std::vector<std::string>& endpoints,
                                        const fleet::Certificates& files);

// Returns the message for a request that the store has denied. If a permission is missing, etcd
// says only `permission denied`, so this adds the action (`deed`, such as `write stop`) and the
// name in the user's certificate.
[[nodiscard]] std::string why_denied(const fleet::Certificates& files, const std::string& deed,
                                     const std::string& reason);

}  // namespace fleetctl
