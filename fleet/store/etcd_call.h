// One question to the store: asks one member after the other until the time limit. A call that
// writes is repeated only if the call before has certainly written nothing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "fleet/store/backoff.h"
#include "fleet/store/endpoints.h"
#include "fleet/store/etcd_answer.h"
#include "fleet/store/http2.h"
#include "fleet/store/timers.h"

namespace fleet {

// The objects and settings that all questions to one store share.
struct EtcdLine {
  Http2& http;
  Timers& timers;
  Endpoints endpoints;
  std::chrono::milliseconds deadline;
  // Called when a call to this member has failed. Watches on the same member then check whether it
  // is alive.
  std::function<void(std::size_t endpoint)> suspected = [](std::size_t) {};
};

class EtcdCall {
 public:
  using Ended =
      std::variant<std::string, CallFailure>;  // the bytes of the answer, or why there is no answer
  struct Question {
    std::string path;
    std::string body;
    bool writes = false;
  };

  // Calls `then` once, which may destroy this object.
  EtcdCall(EtcdLine& line, Question question, std::uint64_t seed, std::function<void(Ended)> then);

 private:
  void try_once();
  void take_ending(const Http2::Ending& ending);
  void try_again_or_end(const CallFailure& failure);
  void end(Ended ended);

  EtcdLine& line_;
  Question question_;
  Backoff backoff_;
  std::function<void(Ended)> then_;
  Timers::Milliseconds give_up_;
  std::size_t endpoint_ = 0;
  std::size_t tries_ = 0;
  std::optional<std::string> answer_;
  std::unique_ptr<Http2::Call> call_;
  std::unique_ptr<Timer> retry_;
};

}  // namespace fleet
