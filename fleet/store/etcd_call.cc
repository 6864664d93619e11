#include "fleet/store/etcd_call.h"

#include <algorithm>
#include <utility>

namespace fleet {
namespace {

using Milliseconds = Timers::Milliseconds;

// The longest pause between two rounds, each of which asks every member once.
constexpr Milliseconds pause_max{1'000};

}  // namespace

EtcdCall::EtcdCall(EtcdLine& line, Question question, std::uint64_t seed,
                   std::function<void(Ended)> then)
    : line_(line),
      question_(std::move(question)),
      backoff_(seed, pause_max),
      then_(std::move(then)),
      give_up_(line.timers.now() + line.deadline) {
  try_once();
}

// Asks one member of the store. If the call only reads, the member gets a share of the time, so
// that time is left for other members. If the call writes, the member gets all of the time, since
// another member may only be asked when it is certain that nothing was written.
void EtcdCall::try_once() {
  retry_ = nullptr;
  answer_ = std::nullopt;
  ++tries_;
  const Milliseconds left = give_up_ - line_.timers.now();
  const auto members = static_cast<std::int64_t>(line_.endpoints.count());
  const Milliseconds share = std::min(left, line_.deadline / std::max<std::int64_t>(members, 2));
  const Endpoints::Endpoint endpoint = line_.endpoints.next();
  endpoint_ = endpoint.index;
  call_ = line_.http.call({.url = endpoint.url + question_.path,
                           .body = grpc_framed(question_.body),
                           .timeout = std::max(question_.writes ? left : share, Milliseconds(1)),
                           .fresh = endpoint.fresh},
                          {.message = [this](const std::string& bytes) { answer_ = bytes; },
                           .ended = [this](const Http2::Ending& ending) { take_ending(ending); }});
}

void EtcdCall::take_ending(const Http2::Ending& ending) {
  const auto code = ending.status.code();
  if (code == grpc_ok && answer_) return end(*answer_);
  CallFailure failure{.code = code.value_or(-1),
                      .reason = code ? ending.status.message() : ending.error,
                      .sent = ending.sent};
  if (code == grpc_ok) failure.reason = "an answer without content";
  if (meaning_of(failure) != Meaning::passing) return end(failure);
  line_.endpoints.failed(endpoint_, code.has_value());
  if (!code) line_.suspected(endpoint_);
  try_again_or_end(failure);
}

void EtcdCall::try_again_or_end(const CallFailure& failure) {
  if (question_.writes && !certainly_not_written(failure)) return end(failure);
  const bool round_is_over = tries_ % line_.endpoints.count() == 0;
  const Milliseconds pause = round_is_over ? backoff_.next() : Milliseconds(0);
  if (line_.timers.now() + pause >= give_up_) return end(failure);
  retry_ = line_.timers.after(pause, [this] { try_once(); });
}

void EtcdCall::end(Ended ended) {
  const auto then = std::move(then_);
  then(std::move(ended));
}

}  // namespace fleet
