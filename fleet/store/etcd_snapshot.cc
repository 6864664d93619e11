#include "fleet/store/etcd_snapshot.h"

#include <utility>

#include "fleet/store/etcd_messages.h"

namespace fleet {
namespace {

// The time limit for the whole copy. It is long enough for some GiB over a slow connection.
constexpr std::chrono::minutes longest{20};

}  // namespace

EtcdSnapshot::EtcdSnapshot(EtcdLine& line, Observer observer)
    : Rider(line), observer_(std::move(observer)) {
  call_ = call("/etcdserverpb.Maintenance/Snapshot", grpc_framed(""), longest,
               {.message = [this](const std::string& message) { take(message); },
                .ended = [this](const Http2::Ending& ending) { take_ending(ending); }});
}

void EtcdSnapshot::take(const std::string& message) {
  line().heard(connection());
  const auto bytes = etcd_messages::snapshot_part(message);
  is_damaged_ = is_damaged_ || !bytes;
  if (bytes) observer_.part(*bytes);
}

void EtcdSnapshot::take_ending(const Http2::Ending& ending) {
  const auto code = ending.status.code();
  std::optional<Trouble> trouble;
  if (code != grpc_ok) {
    const CallFailure failure{.code = code.value_or(-1),
                              .reason = code ? ending.status.message() : ending.error};
    trouble = trouble_of(failure);
    if (trouble->kind != Trouble::Kind::denied)
      line().ended(connection(), line().timers().now(), ending);
  } else if (is_damaged_) {
    trouble = {Trouble::Kind::unreachable, "an answer that is none"};
  }
  const auto ended = std::move(observer_.ended);
  ended(trouble);
}

}  // namespace fleet
