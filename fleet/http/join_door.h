// Handles machines that want to join: writes each request into the store, and delays the answer for
// a short time, so that fleet-signer can decide. join_answer.h makes the decisions.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "fleet/http/join_answer.h"
#include "fleet/http/server.h"
#include "fleet/store/alive.h"
#include "fleet/store/mirror.h"
#include "fleet/store/store.h"
#include "fleet/store/timers.h"

namespace fleet {

class JoinDoor {
 public:
  struct Surroundings {
    Store& store;
    Timers& timers;
    const Mirror& mirror;  // a copy of all records
    std::function<void(HttpServer::Number, Response)> answer;
  };

  explicit JoinDoor(Surroundings surroundings) : world_(std::move(surroundings)) {}
  JoinDoor(const JoinDoor&) = delete;
  JoinDoor& operator=(const JoinDoor&) = delete;

  void take(HttpServer::Number number, const Request& request);
  // Answers each waiting machine about which fleet-signer has decided.
  void take_changes(const Changes& changes);

 private:
  struct Held {
    JoinAsked asked = {};
    std::unique_ptr<Timer> deadline = {};
  };

  void decide(HttpServer::Number number, const Request& request, const JoinAsked& asked);
  void write(HttpServer::Number number, const JoinAsked& asked, const Transaction& transaction);
  void hold(HttpServer::Number number, const JoinAsked& asked);
  void answer(HttpServer::Number number, const Request& request, const Response& response);
  void log_refusal(const std::string& line);
  [[nodiscard]] JoinMoment moment() const;

  Surroundings world_;
  JoinRate rate_;
  std::map<HttpServer::Number, Held> held_;
  Ms logged_at_ = 0;
  // the number of refusals since `logged_at_`, which are not logged yet
  std::size_t not_logged_ = 0;
  Alive alive_;
};

}  // namespace fleet
