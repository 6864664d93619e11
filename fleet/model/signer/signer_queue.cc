#include "fleet/model/signer/signer_queue.h"

#include "fleet/model/records/keys.h"

namespace fleet {
namespace {

std::string key_of_request(const SignerQueue::Request& request) {
  if (const auto* join = std::get_if<JoinCase>(&request))
    return key_of(KeyKind::join, {join->fingerprint});
  if (const auto* renewal = std::get_if<PendingRenewal>(&request))
    return key_of(KeyKind::node_csr, {renewal->node});
  return "";
}

}  // namespace

SignerQueue::Request SignerQueue::next(const std::map<std::string, KeyValue, std::less<>>& records,
                                       UnixSeconds now) {
  Request request = first(records, now);
  if (std::holds_alternative<std::monostate>(request) && !put_off_.empty()) {
    put_off_.clear();
    request = first(records, now);
  }
  last_ = key_of_request(request);
  return request;
}

void SignerQueue::failed() {
  if (!last_.empty()) put_off_.insert(last_);
}

SignerQueue::Request SignerQueue::first(const std::map<std::string, KeyValue, std::less<>>& records,
                                        UnixSeconds now) const {
  if (auto join = next_join(records, now, put_off_)) return *std::move(join);
  if (auto renewal = renewals_.first(records, put_off_)) return *std::move(renewal);
  return {};
}

}  // namespace fleet
