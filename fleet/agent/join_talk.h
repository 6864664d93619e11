// Decides how a machine asks the controllers of a cell to let it in: which controller next, when,
// and what an answer means. Never acts: see join.cc.
#pragma once

#include <cstddef>
#include <string>
#include <variant>

#include "base/time.h"
#include "fleet/model/join_records.h"

namespace fleet {

// The exit statuses of `fleet-agent join`.
inline constexpr int join_done = 0;
inline constexpr int join_failed = 1;  // refused, or this machine cannot do it
inline constexpr int join_usage = 2;
inline constexpr int join_unreachable = 3;  // no controller has answered
inline constexpr int join_waiting = 4;      // nobody has approved it yet

// The answer of one controller, or the reason why there is none.
struct JoinReply {
  long status = 0;  // of HTTP; 0 if there is no answer
  std::string body = {};
  std::string error = {};        // why there is no answer
  bool other_authority = false;  // the controller does not belong to the authority of the token
};

// Ask the controller with this number.
struct JoinAsk {
  std::size_t controller = 0;
};
struct JoinPause {
  upgrader::Duration time{0};
};
// The certificate has come.
struct JoinHave {
  JoinAnswer answer = {};
};
struct JoinEnd {
  int status = join_failed;
  std::string words = {};
};
using JoinNext = std::variant<JoinAsk, JoinPause, JoinHave, JoinEnd>;

class JoinTalk {
 public:
  // `patience` is how long the machine asks, from `now` on.
  JoinTalk(std::size_t controllers, upgrader::Duration patience, upgrader::Time now)
      : controllers_(controllers), until_(now + patience) {}

  // Returns the first step, and the step after a pause.
  [[nodiscard]] JoinNext next(upgrader::Time now) const;
  // Takes the answer to JoinAsk.
  [[nodiscard]] JoinNext take(const JoinReply& reply, upgrader::Time now);

  // Returns what a person should read meanwhile, once for each text, or an empty text.
  [[nodiscard]] std::string news();

 private:
  [[nodiscard]] JoinNext pause(upgrader::Time now);
  [[nodiscard]] JoinEnd end() const;

  std::size_t controllers_;
  upgrader::Time until_;
  std::size_t controller_ = 0;
  int tries_ = 0;
  int unknown_ = 0;         // how often a controller did not know the token
  std::string waits_ = {};  // the controller's words, if the last answer was that it waits
  std::string trouble_ = {};
  bool other_authority_ = false;
  std::string told_ = {};
};

}  // namespace fleet
