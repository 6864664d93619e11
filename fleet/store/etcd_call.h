// Defines the class EtcdCall: one request to the store. It goes to one member after the other,
// until one answers or the time limit is over. A write is repeated only if the previous try has
// certainly written nothing.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "fleet/store/etcd_answer.h"
#include "fleet/store/etcd_line.h"
#include "fleet/store/timers.h"

namespace fleet {

class EtcdCall : public EtcdLine::Rider {
 public:
  // The answer's bytes, or the reason why there is no answer.
  using Ended = std::variant<std::string, CallFailure>;
  struct Question {
    std::string path;
    std::string body;
    bool writes = false;
  };

  // Sends the request, and later calls `then` once. `then` may destroy this object.
  EtcdCall(EtcdLine& line, Question question, std::uint64_t seed, std::function<void(Ended)> then);

 private:
  void leave() override;
  void try_or_wait();
  void try_once();
  void take_ending(const Http2::Ending& ending);
  void try_again_or_end(const CallFailure& failure);
  void end(Ended ended);

  Question question_;
  Backoff backoff_;
  std::function<void(Ended)> then_;
  Timers::Milliseconds give_up_;
  Timers::Milliseconds begun_{0};
  std::optional<std::string> answer_;
  std::unique_ptr<Http2::Call> call_;
  std::unique_ptr<Timer> timer_;  // for the next try, or for the time limit of the current try
};

}  // namespace fleet
