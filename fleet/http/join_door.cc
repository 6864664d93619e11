#include "fleet/http/join_door.h"

#include <ctime>
#include <utility>
#include <vector>

#include "fleet/common/certificate.h"
#include "fleet/common/log_line.h"
#include "fleet/common/public_key.h"
#include "fleet/model/records/keys.h"

namespace fleet {
namespace {

// How long the answer to a machine may be delayed. fleet-signer needs only a fraction of this. If a
// person must approve the machine, the machine is told to ask again later.
constexpr std::chrono::milliseconds hold_time{2'000};
// The shortest time between two log lines about refusals, so that nobody can flood the log.
constexpr Ms refusals_together_ms = 1'000;

}  // namespace

JoinMoment JoinDoor::moment() const {
  return {.records = world_.mirror.records(),
          .now = std::time(nullptr),
          .read_certificate = [](const std::string& pem) { return issued_of(pem); }};
}

void JoinDoor::take(HttpServer::Number number, const Request& request) {
  auto question = join_question_of(request);
  if (const auto* refused = std::get_if<Response>(&question))
    return answer(number, request, *refused);
  if (!world_.mirror.follows())
    return answer(number, request, problem(503, "the store does not answer"));
  const JoinQuestion& asked = std::get<JoinQuestion>(question);
  JoinAsked one{.node = asked.node, .pem = asked.request, .hash = digest_of(asked.secret)};
  // Checking a key is slow, so check the key only if the token is known.
  if (token_with(world_.mirror.records(), one.hash) != nullptr) {
    const RequestedKey key = key_of_request(asked.request);
    if (!key.error.empty()) return answer(number, request, problem(400, key.error));
    one.fingerprint = key.fingerprint;
  }
  decide(number, request, one);
}

void JoinDoor::decide(HttpServer::Number number, const Request& request, const JoinAsked& asked) {
  JoinStep step = begin_join(asked, moment());
  if (const auto* response = std::get_if<Response>(&step))
    return answer(number, request, *response);
  if (held_.size() >= joins_held_max)
    return answer(number, request, problem(503, "many machines join at this moment"));
  const auto* wanted = std::get_if<JoinWrite>(&step);
  if (wanted == nullptr) return hold(number, asked);
  if (!rate_.take(world_.timers.now().count()))
    return answer(number, request, problem(429, "many machines join at this moment"));
  log_line("fleet-controller",
           "join: " + asked.node + " (" + asked.fingerprint + ") asks from " + request.from);
  write(number, asked, wanted->transaction);
}

void JoinDoor::write(HttpServer::Number number, const JoinAsked& asked,
                     const Transaction& transaction) {
  hold(number, asked);
  world_.store.commit(transaction, alive_.guard([this, number](const Outcome& outcome) {
    if (std::holds_alternative<Committed>(outcome)) return;
    // If the store refuses this transaction, another controller has already written the request.
    // Wait for fleet-signer's decision in this case, too.
    if (std::holds_alternative<Refused>(outcome)) return;
    if (held_.erase(number) > 0)
      world_.answer(number, problem(503, "the store: " + words(outcome)));
  }));
}

void JoinDoor::hold(HttpServer::Number number, const JoinAsked& asked) {
  held_[number] = {asked, world_.timers.after(hold_time, [this, number] {
                     const auto late = held_.extract(number);
                     world_.answer(number, join_waits(late.mapped().asked));
                   })};
}

void JoinDoor::take_changes(const Changes& changes) {
  if (held_.empty()) return;
  bool is_about_joins = false;
  for (const Change& change : changes.changes) {
    is_about_joins = is_about_joins || change.now.key.starts_with(prefix_of(KeyKind::join));
  }
  if (!is_about_joins) return;
  std::vector<std::pair<HttpServer::Number, Response>> answers;
  for (const auto& [number, one] : held_) {
    if (auto response = answer_held_join(one.asked, moment())) {
      answers.emplace_back(number, *std::move(response));
    }
  }
  for (auto& [number, response] : answers) {
    held_.erase(number);
    world_.answer(number, std::move(response));
  }
}

void JoinDoor::answer(HttpServer::Number number, const Request& request, const Response& response) {
  if (response.status >= 400) log_refusal(request.from + ": " + response.body);
  world_.answer(number, response);
}

void JoinDoor::log_refusal(const std::string& line) {
  ++not_logged_;
  const Ms now = world_.timers.now().count();
  if (logged_at_ != 0 && now - logged_at_ < refusals_together_ms) return;
  logged_at_ = now;
  const std::size_t count = std::exchange(not_logged_, 0);
  log_line("fleet-controller",
           "join: refused " + line + (count > 1 ? " (one of " + std::to_string(count) + ")" : ""));
}

}  // namespace fleet
