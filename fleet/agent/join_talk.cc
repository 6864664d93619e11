#include "fleet/agent/join_talk.h"

#include <algorithm>

#include "fleet/model/records/record_text.h"
#include "fleet/model/records/record_tree.h"

namespace fleet {
namespace {

using upgrader::Duration;
using upgrader::Time;

// The shortest and the longest pause. The machine pauses when it has asked every controller once in
// vain, and when a controller has told it to wait. Each pause is twice as long as the previous one,
// up to the longest pause. The first pause is short, since most machines get their certificate
// soon.
constexpr Duration shortest_pause{200};
constexpr Duration longest_pause{5'000};
constexpr int doublings_max = 5;
// The machine gives up when controllers have answered this many times that the token is unknown. A
// single such answer means little: if the token was made a moment ago, a controller may not have
// read it yet.
constexpr int unknown_max = 4;

constexpr long status_joined = 200;
constexpr long status_waits = 202;
constexpr long status_busy = 429;
constexpr long status_unknown = 401;
constexpr long status_refused_first = 400;
constexpr long status_trouble_first = 500;

// Returns the reason in a controller's refusal, or the HTTP status if the refusal has no reason.
std::string reason_in(const JoinReply& reply) {
  const auto tree = parse_foreign_tree(reply.body);
  const std::string reason = tree ? tree.value().text_of("reason") : "";
  return reason.empty() ? "status " + std::to_string(reply.status) : reason;
}

}  // namespace

JoinNext JoinTalk::next(Time now) const {
  if (now >= until_) return end();
  return JoinAsk{controller_};
}

JoinNext JoinTalk::take(const JoinReply& reply, Time now) {
  const bool may_come = reply.status == status_unknown && ++unknown_ < unknown_max;
  const bool is_refusal = !may_come && reply.status >= status_refused_first &&
                          reply.status < status_trouble_first && reply.status != status_busy;
  if (is_refusal) return JoinEnd{join_failed, "refused: " + reason_in(reply)};
  if (reply.status == status_joined || reply.status == status_waits) {
    const auto answer = read_record<JoinAnswer>(reply.body);
    if (answer && reply.status == status_joined) return JoinHave{answer.value()};
    waits_ = answer ? answer.value().words : "waits";
    return pause(now);
  }
  trouble_ = reply.status == 0 ? reply.error : reason_in(reply);
  other_authority_ = other_authority_ || reply.other_authority;
  controller_ = (controller_ + 1) % controllers_;
  const bool is_round_over = controller_ == 0;
  if (!is_round_over) return next(now);
  // Give up if a controller's certificate was not signed by the authority that the token names, and
  // no controller has told the machine to wait. The next answers would be the same.
  if (other_authority_ && waits_.empty()) return JoinEnd{join_failed, trouble_};
  return pause(now);
}

JoinNext JoinTalk::pause(Time now) {
  if (now >= until_) return end();
  const Duration wanted =
      std::min(shortest_pause * (1 << std::min(tries_, doublings_max)), longest_pause);
  ++tries_;
  return JoinPause{std::min<Duration>(wanted, until_ - now)};
}

JoinEnd JoinTalk::end() const {
  if (!waits_.empty()) return {join_waiting, waits_ + "; then run the same command again"};
  return {join_unreachable, "no controller can be asked: " + trouble_};
}

std::string JoinTalk::news() {
  const std::string& now = waits_.empty() ? trouble_ : waits_;
  if (now == told_) return "";
  told_ = now;
  return now;
}

}  // namespace fleet
