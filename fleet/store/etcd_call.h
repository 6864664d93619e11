// One question to the store: asks one member after the other until the deadline. A question that
// writes is tried again only if the try before it has certainly written nothing.
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

// The means and settings that all questions of a store share.
struct EtcdLine {
  Http2& http;
  Timers& timers;
  Endpoints endpoints;
  std::chrono::milliseconds deadline;
  // Called when a member has failed, so that watches on the same member check it, too.
  std::function<void(std::size_t endpoint)> suspected = [](std::size_t) {};
};

class EtcdCall {
 public:
  using Ended =
      std::variant<std::string, CallFailure>;  // the bytes of the answer, or why there are none
  struct Question {
    std::string path;
    std::string body;
    bool writes = false;
  };

  // `then` is called once, and may destroy the call.
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
