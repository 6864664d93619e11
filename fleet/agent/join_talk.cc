#include "fleet/agent/join_talk.h"

#include <algorithm>

#include "fleet/model/records/record_text.h"
#include "fleet/model/records/record_tree.h"

namespace fleet {
namespace {

using upgrader::Duration;
using upgrader::Time;

// The machine pauses after each unsuccessful round over all controllers, and when a controller
// tells it to wait. Pauses double, from the shortest to the longest. The first ones are short,
// since most machines get their certificate soon.
constexpr Duration shortest_pause{200};
constexpr Duration longest_pause{5'000};
constexpr int doublings_max = 5;
// The machine gives up after this many answers that the token is unknown. One such answer means
// little: the controller may not have read a new token yet.
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
  // Give up if all controllers failed, and one had a certificate from an authority other than the
  // token's. Trying again would not help.
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
