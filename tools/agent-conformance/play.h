// Performs one check: plays the part of the upgrader in a conversation with agents, follows the
// steps of a script, and judges how the agents behave. This class does no input or output. Its
// caller passes events with their times to step(), and carries out the orders that begin() and
// step() return (see seen.h).
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "tools/agent-conformance/script.h"
#include "tools/agent-conformance/transcript.h"

namespace conformance {

class Play {
 public:
  Play(const Check& check, const Terms& terms);

  Orders begin(Time now);
  Orders step(const Event& event, Time now);

  // Returns the time at which step() must be called with TimeUp.
  [[nodiscard]] std::optional<Time> deadline() const { return deadline_; }
  [[nodiscard]] bool is_over() const { return over_; }

  [[nodiscard]] const std::optional<Fault>& fault() const { return fault_; }
  [[nodiscard]] const std::string& not_started() const { return not_started_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  [[nodiscard]] const Transcript& transcript() const { return transcript_; }
  [[nodiscard]] const Lives& lives() const { return lives_; }

 private:
  // The state of the conversation with one agent, from the upgrader's point of view.
  struct Seat {
    std::string welcome;
    bool bytewise = false;
    bool is_alone = false;
    // True if the agent's output pipe was filled with empty lines, which must be skipped when the
    // pipe is read.
    bool is_clogged = false;
    bool is_committed = false;
  };

  void take_event(const Event& event, Time now);
  void go_on(Time now);
  void begin_step(const Step& step, Time now);
  void start(const Step& step, Time now);
  void tell_step(const Step& step, Time now);
  void judge_now(const Step& step, Time now);
  [[nodiscard]] bool is_done(const Step& step) const;
  [[nodiscard]] Duration time_for(const Step& step) const;
  template <class Deed>
  void order(int agent, const Deed& what) {
    const Order ordered{.agent = agent, .what = what};
    orders_.push_back(ordered);
  }
  void tell(int agent, const std::string& lines, Time now, bool bytewise = false);
  void take_line(int agent, const Line& line, Time now);
  void take_message(int agent, const Said& said, Time now);
  void answer(int agent, const Said& said, Time now);
  void refuse(int agent, const Said& said, Rule rule, const std::string& why, Time now);
  void take_exit(int agent, const Exited& exited, Time now);
  void take_close(int agent, Time now);
  void take_time_up(Time now);
  void extend_deadline(const Life& life, Time now);
  void fail(const std::string& came, std::optional<Quote> quote = std::nullopt);
  [[nodiscard]] bool has(Rule rule) const { return (check_.rules & rule) != 0; }
  [[nodiscard]] std::string waited_in_vain(const Step& step) const;
  [[nodiscard]] std::string name(int agent) const;
  Life& life(int agent) { return lives_[static_cast<std::size_t>(agent)]; }
  Seat& seat(int agent) { return seats_[static_cast<std::size_t>(agent)]; }

  const Check& check_;
  const Terms& terms_;
  std::deque<Step> steps_;
  bool begun_ = false;    // the first step in steps_ has been begun
  bool time_up_ = false;  // the time limit of the current step has passed
  std::size_t looks_before_ = 0;
  Lives lives_;
  std::vector<Seat> seats_;
  std::optional<Time> deadline_;
  Orders orders_;
  Transcript transcript_;
  std::optional<Fault> fault_;
  std::string not_started_;
  std::vector<std::string> notes_;
  bool over_ = false;
};

}  // namespace conformance
