// Decides which request for a certificate fleet-signer handles next: the request of a machine that
// joins, or of a node that renews its certificate.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <variant>

#include "fleet/model/nodes/identities.h"
#include "fleet/model/signer/joining.h"

namespace fleet {

class SignerQueue {
 public:
  // The next request; std::monostate if there is none.
  using Request = std::variant<std::monostate, JoinCase, PendingRenewal>;

  // Called when a record with this key was written (take) or erased (take_absent).
  void take(const std::string& key) { renewals_.take(key); }
  void take_absent(const std::string& key) { renewals_.take_absent(key); }

  // Returns the next request. Requests to join go before renewals. A request whose answer could not
  // be written is returned again only when there are no other requests. Otherwise a request whose
  // answer the store always denies would delay the others for ever.
  [[nodiscard]] Request next(const std::map<std::string, KeyValue, std::less<>>& records,
                             UnixSeconds now);
  // Called if the answer to the request that next() returned last could not be written.
  void failed();

 private:
  [[nodiscard]] Request first(const std::map<std::string, KeyValue, std::less<>>& records,
                              UnixSeconds now) const;

  RenewalRequests renewals_;
  std::string last_;                            // the key of the request that was returned last
  std::set<std::string, std::less<>> put_off_;  // requests whose answers could not be written
};

}  // namespace fleet
