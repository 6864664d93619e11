// Implements the part of Website that handles requests for `/v1/config` and `/v1/apply`: reads the
// records for the decision, writes the result, and answers.
#include <utility>

#include "fleet/common/identity.h"
#include "fleet/common/zone_file.h"
#include "fleet/http/access.h"
#include "fleet/http/website.h"
#include "fleet/model/history/events.h"
#include "fleet/orders/order.h"

namespace fleet {
namespace {

using std::chrono::milliseconds;

// The maximum number of tries for a request. A try fails if another client or a driver writes the
// same record at the same moment.
constexpr int tries_max = 10;
constexpr milliseconds again_time{50};

// Returns the keys to read before the request is decided.
std::vector<std::string> reads_of(const Request& request, const Route& route) {
  return route.place == Place::apply ? apply_reads(request) : config_reads(request, route.rest);
}

std::string new_trace() {
  return new_instance_id().substr(0, 8);
}

}  // namespace

struct Website::Errand {
  HttpServer::Number number = 0;
  Request request = {};
  Route route = {};  // Place::config or Place::apply
  std::vector<std::string> unread = {};
  Reading reading = {};
  ConfigDecision decision = {};
  LeaseId lease = 0;
  std::optional<Outcome> last = {};  // the outcome of the last transaction that `creation` made
  int tries = 0;
};

void Website::begin_errand(HttpServer::Number number, const Request& request, const Route& route) {
  auto errand = std::make_shared<Errand>();
  *errand = {.number = number, .request = request, .route = route};
  errand->unread = reads_of(request, route);
  read_next(errand);
}

// Returns conditions for a transaction, so that the store refuses it if the client has just been
// revoked. This controller's copy of the records may not show that yet.
std::vector<Compare> Website::still_enrolled(const Request& request) const {
  const auto key = request.visitor ? identity_key(request.visitor->name) : std::nullopt;
  if (!key) return {};
  const KeyValue* record = world_.mirror.find(*key);
  return {{.key = *key, .revision = record == nullptr ? 0 : record->modified}};
}

void Website::read_next(const std::shared_ptr<Errand>& errand) {
  if (errand->unread.empty()) {
    const bool applies = errand->route.place == Place::apply;
    if (!applies && asks_for_list(errand->request, errand->route.rest)) return list(errand);
    put_in_order(errand->reading);
    return decide(errand);
  }
  const std::string key = errand->unread.back();
  errand->unread.pop_back();
  world_.store.read(
      {key, key.ends_with('/')}, alive_.guard([this, errand](const Reply<Reading>& reply) {
        if (const auto* trouble = std::get_if<Trouble>(&reply)) {
          return answer(errand->number, problem(503, "the store: " + trouble->reason));
        }
        const auto& found = std::get<Reading>(reply).found;
        errand->reading.revision = std::get<Reading>(reply).revision;
        auto& all = errand->reading.found;
        all.insert(all.end(), found.begin(), found.end());
        read_next(errand);
      }));
}

// Takes the records of a list from the mirror. Waits until the mirror has the store's revision, so
// that a client finds in the list what it has just written.
void Website::list(const std::shared_ptr<Errand>& errand) {
  const bool is_old = world_.mirror.revision() < errand->reading.revision;
  if (is_old && ++errand->tries < tries_max) {
    retries_[errand->number] = world_.timers.after(again_time, [this, errand] {
      retries_.erase(errand->number);
      list(errand);
    });
    return;
  }
  errand->reading.found = records_listed(errand->route.rest, world_.mirror.records());
  decide(errand);
}

void Website::decide(const std::shared_ptr<Errand>& errand) {
  if (!world_.health.follows) {
    // The client may have been revoked, and this controller does not know it yet.
    return answer(errand->number, problem(503, "the store: " + world_.health.trouble));
  }
  if (auto refused = why_not_enrolled(errand->request.visitor)) {
    // The client was revoked while this controller read the records.
    return answer(errand->number, std::move(*refused));
  }
  const ConfigMoment now = moment(new_trace());
  errand->decision = errand->route.place == Place::apply
                         ? decide_apply(errand->request, errand->reading, now)
                         : decide_config(errand->request, errand->route.rest, errand->reading, now);
  if (!errand->decision.writes()) return answer(errand->number, errand->decision.response);
  errand->decision.lease_s == 0 ? write_next(errand) : lease(errand);
}

// Makes a lease for the records of the decision, and then writes the records.
void Website::lease(const std::shared_ptr<Errand>& errand) {
  world_.store.grant(std::chrono::seconds(errand->decision.lease_s),
                     alive_.guard([this, errand](const Reply<Lease>& reply) {
                       if (const auto* trouble = std::get_if<Trouble>(&reply)) {
                         return answer(errand->number,
                                       problem(503, "the store: " + trouble->reason));
                       }
                       errand->lease = std::get<Lease>(reply).id;
                       add_lease(errand->decision, errand->lease);
                       write_next(errand);
                     }));
}

// Commits the transactions in `decision.first`, one after the other, and then
// `decision.transaction` or the first one of `decision.creation`.
void Website::write_next(const std::shared_ptr<Errand>& errand) {
  auto& first = errand->decision.first;
  if (first.empty() && errand->decision.creation != nullptr) return go_on(errand);
  const bool is_last = first.empty();
  Transaction transaction = is_last ? *errand->decision.transaction : first.front();
  if (!is_last) first.erase(first.begin());
  for (Compare& compare : still_enrolled(errand->request))
    transaction.compares.push_back(std::move(compare));
  world_.store.commit(transaction, alive_.guard([this, errand, is_last](const Outcome& outcome) {
    if (!is_last && std::holds_alternative<Committed>(outcome)) return write_next(errand);
    take_outcome(errand, outcome);
  }));
}

// Commits the next transaction of `decision.creation`, for a new rollout or plan. Reads the record
// of the rollout or plan first: it shows which transactions are still missing.
void Website::go_on(const std::shared_ptr<Errand>& errand) {
  const std::string key = errand->decision.creation->key();
  world_.store.read({key}, alive_.guard([this, errand, key](const Reply<Reading>& reply) {
    if (const auto* trouble = std::get_if<Trouble>(&reply)) {
      return answer(errand->number,
                    problem(503,
                            "it cannot be known how much of it was written; it does not "
                            "begin half: " +
                                trouble->reason));
    }
    const KeyValue* found = std::get<Reading>(reply).find(key);
    auto next = errand->decision.creation->next(found, errand->last ? &*errand->last : nullptr);
    auto* transaction = std::get_if<Transaction>(&next);
    if (transaction == nullptr) {
      Response response = creation_answer(errand->decision, next, found);
      if (!std::holds_alternative<Creation::Begun>(next)) return answer(errand->number, response);
      return record_creation(errand, response);
    }
    if (auto refused = why_not_enrolled(errand->request.visitor)) {
      return answer(errand->number, std::move(*refused));
    }
    for (Compare& compare : still_enrolled(errand->request))
      transaction->compares.push_back(std::move(compare));
    world_.store.commit(*transaction, alive_.guard([this, errand](const Outcome& outcome) {
      errand->last = outcome;
      go_on(errand);
    }));
  }));
}

// Writes the event about a new rollout or plan, and answers the client. If another event got the
// same number, tries again with the next one. A failure does not change the answer: the rollout or
// plan exists, and its record names the person who ordered it.
void Website::record_creation(const std::shared_ptr<Errand>& errand, const Response& response) {
  Transaction event;
  add_event(event, errand->decision.event, next_event());
  world_.store.commit(event, alive_.guard([this, errand, response](const Outcome& outcome) {
    const bool is_number_taken = std::holds_alternative<Refused>(outcome);
    if (!is_number_taken || ++errand->tries == tries_max) return answer(errand->number, response);
    retries_[errand->number] = world_.timers.after(again_time, [this, errand, response] {
      retries_.erase(errand->number);
      record_creation(errand, response);
    });
  }));
}

void Website::take_outcome(const std::shared_ptr<Errand>& errand, const Outcome& outcome) {
  if (auto response = config_answer(errand->decision, outcome)) {
    return answer(errand->number, std::move(*response));
  }
  // The order was not written, so end its lease. The next try makes another one.
  if (errand->lease != 0) world_.store.revoke(std::exchange(errand->lease, 0), [](const auto&) {});
  if (++errand->tries == tries_max) {
    const bool applies = errand->route.place == Place::apply;
    return answer(errand->number,
                  problem(503, (applies ? "a record of the document" : errand->route.rest) +
                                   " is written all the time"));
  }
  retries_[errand->number] = world_.timers.after(again_time, [this, errand] {
    errand->reading = {};
    errand->unread = reads_of(errand->request, errand->route);
    retries_.erase(errand->number);
    read_next(errand);
  });
}

ConfigMoment Website::moment(const std::string& trace) const {
  return {.time = time_text(), .trace = trace, .next_event = next_event(), .zones = zone_of};
}

std::uint64_t Website::next_event() const {
  return last_event(world_.mirror.records()) + 1;
}

}  // namespace fleet
