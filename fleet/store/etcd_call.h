// One request to the store, and the meaning of its failure: whether another try may help, and
// whether the request may have written something. A request is sent to one member after the other
// until the time limit. A request that writes is repeated only if the earlier try has certainly not
// written anything.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "fleet/store/etcd_line.h"
#include "fleet/store/store.h"
#include "fleet/store/timers.h"

namespace fleet {

// The failure of a call to etcd.
struct CallFailure {
  int code = -1;            // the gRPC status; -1 if the answer had none
  std::string reason = {};  // why the call failed, for people
  bool sent = true;         // false if the member has certainly not received the call
};

enum class Meaning {
  passing,     // a later try, or another member, may succeed
  denied,      // another try would fail, too
  lease_gone,  // the lease does not exist (any more)
  compacted,   // the wanted revision is so old that the store has removed it
};

[[nodiscard]] Meaning meaning_of(const CallFailure& failure);

[[nodiscard]] Trouble trouble_of(const CallFailure& failure);

// Parses the bytes of an answer with `read`, and returns the result. Returns an error if the call
// failed, or if `read` cannot parse the bytes.
template <class Value, class Read>
Reply<Value> answer_from(const std::variant<std::string, CallFailure>& ended, const Read& read) {
  if (const auto* failure = std::get_if<CallFailure>(&ended)) return trouble_of(*failure);
  if (auto value = read(std::get<std::string>(ended))) return *std::move(value);
  return Trouble{Trouble::Kind::unreachable, "an answer that is none"};
}

// Returns true if the failed call has certainly not written anything.
[[nodiscard]] bool certainly_not_written(const CallFailure& failure);

// One request, which is tried again until it has an answer or its time is over.
class EtcdCall : public EtcdLine::Rider {
 public:
  // The answer's bytes, or the reason why there is no answer.
  using Ended = std::variant<std::string, CallFailure>;
  struct Question {
    std::string path;
    std::string body;
    bool writes = false;
  };

  // Later calls `then` once. That function may destroy this object.
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
  std::unique_ptr<Timer> timer_;  // waits for the next try, or for the end of the running one
};

}  // namespace fleet
