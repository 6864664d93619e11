// Decides how a machine that wants to join a cell talks to the controllers: which one it asks next,
// and when, and what an answer means. Does no input or output: join.cc sends the requests.
#pragma once

#include <cstddef>
#include <string>
#include <variant>

#include "base/time.h"
#include "fleet/model/records/cell_records.h"

namespace fleet {

// The exit statuses of `fleet-agent join`.
inline constexpr int join_done = 0;
// The exit status if the machine was refused, or if something failed on this machine.
inline constexpr int join_failed = 1;
inline constexpr int join_usage = 2;
inline constexpr int join_unreachable = 3;  // no controller has answered
inline constexpr int join_waiting = 4;      // no person has approved the machine so far

// The answer of one controller, or the reason why no answer came.
struct JoinReply {
  long status = 0;  // the HTTP status of the answer; 0 if no answer came
  std::string body = {};
  std::string error = {};  // why no answer came; empty if an answer came
  // True if the controller's certificate was not signed by the authority that the token names.
  bool other_authority = false;
};

// The next step: send the request to this controller, an index into the token's list.
struct JoinAsk {
  std::size_t controller = 0;
};
struct JoinPause {
  upgrader::Duration time{0};
};
// The final step after success: `answer` contains the machine's certificate.
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
  // The machine stops asking when the time `patience` has passed since `now`.
  JoinTalk(std::size_t controllers, upgrader::Duration patience, upgrader::Time now)
      : controllers_(controllers), until_(now + patience) {}

  // Returns the next step. Called once at the start, and again after each pause.
  [[nodiscard]] JoinNext next(upgrader::Time now) const;
  // Handles a controller's answer to the request, and returns the next step.
  [[nodiscard]] JoinNext take(const JoinReply& reply, upgrader::Time now);

  // Returns why the machine is still waiting, as a text for people, or an empty string if the same
  // text was returned before.
  [[nodiscard]] std::string news();

 private:
  [[nodiscard]] JoinNext pause(upgrader::Time now);
  [[nodiscard]] JoinEnd end() const;

  std::size_t controllers_;
  upgrader::Time until_;
  std::size_t controller_ = 0;
  int tries_ = 0;
  int unknown_ = 0;  // number of controllers' answers that the token is unknown
  // A controller's message that the machine has to wait. Empty if no such message came.
  std::string waits_ = {};
  std::string trouble_ = {};
  bool other_authority_ = false;
  std::string told_ = {};
};

}  // namespace fleet
