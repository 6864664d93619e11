// Decides what becomes of one thing that is asked of an upgrader: when the request is written, when
// it is written again, what is said meanwhile, and with which status all of it ends. Reads no
// clock, no file and no FIFO: it is told what was seen there, and when.
//
// A request leads to one life of the upgrader: that of the FIFO which was opened before status.json
// was read. While that life lasts, the same line may be written any number of times, since the
// upgrader obeys a name and an id once. When that life is over, nothing is written any more.
//
//   stage        until                                        then
//   asking       the answer, or the upgrade itself, is seen   refused: the end. begun: following,
//                                                             or the end if no more is wanted
//   following    the ending of the upgrade is seen            the end
//   cancelling   (a rehearsal) the answer to cancel is seen   following
//   finished
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent-protocol/cpp/control/status.h"
#include "tools/upgraderctl/core/decider.h"
#include "tools/upgraderctl/core/one_id.h"

namespace upgraderctl {

// The goal of a command, with the facts that are needed to judge it.
struct Errand {
  enum class Goal {
    answer,     // that the request has been begun
    ending,     // that the upgrade has ended
    rehearsal,  // that its candidate was ready; it is cancelled then
    shutdown,   // that the upgrader has ended
  };
  Goal goal = Goal::answer;
  Life life;                                // to which the request leads
  std::string deed;                         // for people: "upgrade", "confirm of u1"
  std::string request;                      // the name of the answer
  std::string line;                         // empty: nothing is asked, an upgrade is followed
  std::string id;                           // of the upgrade
  std::optional<Executable> executable;     // of the upgrade, where it must be this one
  bool asks_upgrade = false;                // so that the upgrader knows it by its id, too
  std::vector<std::string> answers_before;  // names that stood in status.json before it was asked
  std::string cancel_request;
  std::string cancel_line;
  std::optional<Duration> timeout;  // of the whole; 0 is no limit, also for the answer
  std::string tells;                // the command that tells what became of it
  std::string shows;                // the command that shows what runs
  std::string on_trial;             // the command that does it where the upgrade is on trial
};

class Conversation : public Decider {
 public:
  // An answer is waited for so long, unless a timeout was given for the whole.
  static constexpr Duration answer_timeout = std::chrono::seconds{30};
  // An unanswered request is written again after the first pause, then after twice as long each
  // time, up to the longest.
  static constexpr Duration first_pause = std::chrono::seconds{2};
  static constexpr Duration longest_pause = std::chrono::seconds{30};
  // The last words of an upgrader may come so long after its FIFO has lost its reader.
  static constexpr Duration last_words_grace = std::chrono::seconds{1};
  // A control directory that has vanished for so long stays away.
  static constexpr Duration vanished_grace = std::chrono::seconds{5};
  // A deadline of the upgrader's that is so late is told of.
  static constexpr Duration late_grace = std::chrono::seconds{5};
  // The longest wait for the cancel of a rehearsal that is left early.
  static constexpr Duration leaving_grace = std::chrono::seconds{5};

  explicit Conversation(Errand errand) : errand_(std::move(errand)) {}

  [[nodiscard]] Orders start(Duration now) override;
  [[nodiscard]] Orders step(const Happening& happening, Duration now) override;
  [[nodiscard]] std::optional<Duration> next_deadline() const override;

  [[nodiscard]] bool is_finished() const { return state_.stage == Stage::finished; }

  enum class Stage { asking, following, cancelling, finished };

  // All that changes; for tests, which walk through it.
  struct State {
    Stage stage = Stage::asking;
    bool sent = false;          // the request of this stage, at least once
    bool out_of_sight = false;  // its answer may have been pushed out of status.json
    bool told_no_answer = false;
    bool compares = false;  // another request may have begun the upgrade, to something else
    bool measured = false;  // the candidate was ready, and its memory has been asked for
    bool cancel_refused = false;
    std::optional<std::int64_t> peak_kib;
    std::optional<Duration> limit;  // of the whole, or of the answer
    std::optional<Duration> resend;
    Duration pause = first_pause;
    std::optional<Duration> gone;      // the end of the grace for last words
    std::optional<Duration> vanished;  // the end of the grace for the directory
    std::optional<Moment> told_late;   // the deadline whose lateness has been told of
    std::optional<Finish> leaving;     // how it ends when the cancel has been waited for
    bool operator==(const State&) const = default;
  };
  [[nodiscard]] const State& state() const { return state_; }

 private:
  void take(const Looked& looked);
  void take(const Wrote& wrote);
  void take(const ReaderGone&);
  void take(const Measured& measured);
  void take(const Interrupted& interrupted);
  void take(const TimePassed&);

  void examine(const Status& own, Moment wall);
  void examine_answer(const Status& own);
  void examine_upgrade(const Status& own);
  void note_pushed_out(const Status& own);
  void tell_if_late(const Status& own, Moment wall);
  void answered(const Status& own, bool begun_by_this);
  bool finish_if_another(const Status& own);
  void answered_cancel(const Answer& answer);
  void finish_by(const Ending& ending);
  void finish_rehearsal(const Ending& ending);
  void finish_by_end(const Status& own);
  void finish_without_word(bool seen_last = true);
  [[nodiscard]] std::string again_by_id() const;
  void time_is_up();
  void leave(const Finish& last);
  void cancel();
  void send();
  void say(std::string text) { add(orders_, Say{std::move(text)}); }
  void finish(int status, std::string text);

  [[nodiscard]] bool is_own(const std::optional<Status>& status) const;

  Errand errand_;
  State state_;
  Duration now_{0};
  Orders orders_;
};

}  // namespace upgraderctl
