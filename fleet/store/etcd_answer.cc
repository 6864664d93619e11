#include "fleet/store/etcd_answer.h"

#include "fleet/store/grpc_frame.h"

namespace fleet {
namespace {

bool says(const CallFailure& failure, std::string_view words) {
  return failure.reason.find(words) != std::string::npos;
}

// Returns whether etcd has refused the call before it did anything: permissions have just changed,
// or the member is overloaded or has no leader.
bool is_turned_away(const CallFailure& failure) {
  return says(failure, "etcdserver: no leader") || says(failure, "etcdserver: too many requests") ||
         says(failure, "revision of auth store is old") || says(failure, "etcdserver: not capable");
}

}  // namespace

Trouble trouble_of(const CallFailure& failure) {
  const bool denied = meaning_of(failure) == Meaning::denied;
  return {denied ? Trouble::Kind::denied : Trouble::Kind::unreachable, failure.reason};
}

Meaning meaning_of(const CallFailure& failure) {
  if (is_turned_away(failure)) return Meaning::passing;
  switch (failure.code) {
    case grpc_not_found:
      return says(failure, "lease not found") ? Meaning::lease_gone : Meaning::denied;
    case grpc_out_of_range:
      return says(failure, "compacted") ? Meaning::compacted : Meaning::denied;
    case grpc_invalid_argument:
    case grpc_permission_denied:
    case grpc_resource_exhausted:
    case grpc_failed_precondition:
    case grpc_unimplemented:
    case grpc_data_loss:
    case grpc_unauthenticated:
      return Meaning::denied;
    default:
      return Meaning::passing;
  }
}

bool certainly_not_written(const CallFailure& failure) {
  return !failure.sent || is_turned_away(failure) || meaning_of(failure) != Meaning::passing;
}

}  // namespace fleet
