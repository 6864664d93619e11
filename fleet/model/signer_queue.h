// Decides which request for a certificate fleet-signer handles next: the request of a machine that
// joins, or of a node that renews its certificate.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <variant>

#include "fleet/model/identities.h"
#include "fleet/model/joining.h"

namespace fleet {

class SignerQueue {
 public:
  // The next request; std::monostate if there is none.
  using Request = std::variant<std::monostate, JoinCase, PendingRenewal>;

  // Notes that there is a record with this key, or that there is none any more.
  void take(const std::string& key) { renewals_.take(key); }
  void take_absent(const std::string& key) { renewals_.take_absent(key); }

  // Returns the next request. Requests to join go before renewals. But a request whose write has
  // failed is returned only when there is no other request, so that one request that the store
  // always denies does not hold back the others.
  [[nodiscard]] Request next(const std::map<std::string, KeyValue, std::less<>>& records,
                             UnixSeconds now);
  // Called if a write has failed which was to answer the request that next() has returned last.
  void failed();

 private:
  [[nodiscard]] Request first(const std::map<std::string, KeyValue, std::less<>>& records,
                              UnixSeconds now) const;

  RenewalRequests renewals_;
  std::string last_;                            // the key of the request that was returned last
  std::set<std::string, std::less<>> put_off_;  // the keys of requests whose writes have failed
};

}  // namespace fleet
