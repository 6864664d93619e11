#include "fleet/store/etcd_call.h"

#include <algorithm>
#include <utility>

namespace fleet {
namespace {

using Milliseconds = Timers::Milliseconds;

// The longest pause before a request is sent to the same member again; stretched() may make it
// longer. With shorter pauses, the repeated requests of all clients could keep members without a
// leader too busy to elect one.
constexpr Milliseconds pause_max{1'000};
// libcurl ends a call at its time limit, with a better error message than ours. But it does not end
// a call that waits for a connection that another call opens. So EtcdCall ends the call this much
// later.
constexpr Milliseconds behind_libcurl{50};

}  // namespace

EtcdCall::EtcdCall(EtcdLine& line, Question question, std::uint64_t seed,
                   std::function<void(Ended)> then)
    : Rider(line),
      question_(std::move(question)),
      backoff_(seed, line.endpoints().stretched(pause_max),
               line.endpoints().stretched(Backoff::first)),
      then_(std::move(then)),
      give_up_(line.timers().now() + line.deadline()) {
  try_or_wait();
}

// Sends the request as soon as the current connection may be opened, or fails if that would be
// after the request's time limit.
void EtcdCall::try_or_wait() {
  const Milliseconds now = line().timers().now();
  const Milliseconds opens = line().endpoints().present().opens;
  if (opens <= now) return try_once();
  timer_ = line().timers().after(std::min(opens, give_up_) - now, [this, opens] {
    if (opens < give_up_) return try_or_wait();
    const auto left = std::chrono::ceil<std::chrono::seconds>(opens - line().timers().now());
    end(CallFailure{.code = -1,
                    .reason = line().trouble() + "; the next connection may begin in " +
                              std::to_string(left.count()) + " s",
                    .sent = false});
  });
}

// Sends the request to the current member. A request that reads gets only a part of the remaining
// time, so that other members can be asked afterwards. A request that writes gets all of it: a
// silent member may have written, so no other member may be asked.
void EtcdCall::try_once() {
  answer_ = std::nullopt;
  begun_ = line().timers().now();
  const Endpoints& endpoints = line().endpoints();
  const Milliseconds left = give_up_ - begun_;
  const auto members = static_cast<std::int64_t>(endpoints.count());
  const Milliseconds share = std::max(line().deadline() / std::max<std::int64_t>(members, 2),
                                      endpoints.present().connect_limit);
  const Milliseconds limit =
      std::max(question_.writes ? left : std::min(left, share), Milliseconds(1));
  timer_ = line().timers().after(limit + behind_libcurl, [this] {
    take_ending(
        {.status = {}, .error = "no answer in time", .sent = call_->has_begun(), .silent = true});
  });
  call_ = call(question_.path, grpc_framed(question_.body), limit,
               {.message = [this](const std::string& bytes) { answer_ = bytes; },
                .ended = [this](const Http2::Ending& ending) { take_ending(ending); }});
}

// Called when the client has a new connection: sends the request again over it. Does not repeat a
// write that the old member may have received, since its answer may still come over the old
// connection.
void EtcdCall::leave() {
  if (call_ == nullptr || (question_.writes && call_->has_begun())) return;
  call_ = nullptr;
  try_or_wait();
}

void EtcdCall::take_ending(const Http2::Ending& ending) {
  timer_ = nullptr;
  const auto code = ending.status.code();
  if (code) line().heard(connection());
  if (code == grpc_ok && answer_) {
    line().succeeded(connection());
    return end(*answer_);
  }
  CallFailure failure{.code = code.value_or(-1),
                      .reason = code ? ending.status.message() : ending.error,
                      .sent = ending.sent};
  if (code == grpc_ok) failure.reason = "an answer without content";
  if (meaning_of(failure) != Meaning::passing) return end(failure);
  line().ended(connection(), begun_, ending);
  try_again_or_end(failure);
}

void EtcdCall::try_again_or_end(const CallFailure& failure) {
  if (question_.writes && !certainly_not_written(failure)) return end(failure);
  const bool moves = line().endpoints().present().connection != connection();
  const Milliseconds pause = moves ? Milliseconds(0) : backoff_.next();
  if (line().timers().now() + pause >= give_up_) return end(failure);
  call_ = nullptr;
  timer_ = line().timers().after(pause, [this] { try_or_wait(); });
}

void EtcdCall::end(Ended ended) {
  const auto then = std::move(then_);
  then(std::move(ended));
}

}  // namespace fleet
