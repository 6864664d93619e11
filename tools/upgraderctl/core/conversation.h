// Decides the course of one request to an upgrader: when it is written, when it is written again,
// what is shown meanwhile, and with which exit status the command ends. Reads no clock, no file and
// no FIFO: it gets events with their times.
//
// A request goes to one upgrader process: the one whose FIFO was opened before status.json was
// read. While that process lives, the same line may be written any number of times, since the
// upgrader obeys a name and an id only once. After its end, nothing is written any more.
//
//   stage        until                                        next stage
//   asking       the answer, or the upgrade itself, is seen   refused: finished. begun: following,
//                                                             or finished if no more is wanted
//   following    the ending of the upgrade is seen            finished
//   cancelling   (a rehearsal) the answer to cancel is seen   following
//   finished
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent-protocol/cpp/control/status.h"
#include "tools/upgraderctl/core/decider.h"

namespace upgraderctl {

// Checks that no id is used for upgrades to two different executables.

// An executable as it was given, made absolute, and the file that it leads to through links.
struct Executable {
  std::string named;
  std::string resolved;
};

// Returns a clause for an error message if the upgrade `id` is to another executable than `asked`.
// Returns nothing if the status has no upgrade of that id. Also returns nothing if the status has
// U+FFFD in the path, for bytes that are not UTF-8, so that the paths cannot be compared.
[[nodiscard]] std::optional<std::string> other_executable(const Executable& asked,
                                                          const std::string& id,
                                                          const Status& status);

// A command's task with an upgrader: the request that it sends, the goal that it waits for, and the
// facts by which it sees that the goal is reached.
struct Errand {
  enum class Goal {
    answer,     // reached when the request has been carried out or begun
    ending,     // the goal is reached when the upgrade has ended
    rehearsal,  // reached when the candidate was ready; the upgrade is then cancelled
    shutdown,   // the goal is reached when the upgrader has ended
  };
  Goal goal = Goal::answer;
  Life life;         // the upgrader that gets the request
  std::string deed;  // the request in words, such as "upgrade" or "confirm of u1"
  // The request's name, under which the answer is published.
  std::string request;
  // The line for the FIFO. If empty, nothing is requested, and an upgrade under way is followed.
  std::string line;
  std::string id;                        // the id of the upgrade that is requested or followed
  std::optional<Executable> executable;  // if set, an upgrade to another executable is refused
  // True if the request is for an upgrade. The upgrader then knows the request by the upgrade's id,
  // too.
  bool asks_upgrade = false;
  std::vector<std::string> answers_before;  // the requests that status.json had answered before
  std::string cancel_request;
  std::string cancel_line;
  std::optional<Duration> timeout;  // the limit of the whole command; 0: no limit
  std::string tells;     // the command line that shows how the upgrade ended, for messages
  std::string shows;     // the command line that shows the active agent, for messages
  std::string on_trial;  // the command line that undoes an upgrade on trial, for messages
};

class Conversation : public Decider {
 public:
  // The time to wait for an answer, unless a timeout for the whole command was given.
  static constexpr Duration answer_timeout = std::chrono::seconds{30};
  // The pauses before an unanswered request is written again. Each pause is twice as long as the
  // one before, from the first up to the longest.
  static constexpr Duration first_pause = std::chrono::seconds{2};
  static constexpr Duration longest_pause = std::chrono::seconds{30};
  // The time to wait for an upgrader's last status after its FIFO has lost its reader.
  static constexpr Duration last_words_grace = std::chrono::seconds{1};
  // The time to wait until a control directory that has vanished exists again.
  static constexpr Duration vanished_grace = std::chrono::seconds{5};
  // A deadline of the upgrader that passed this long ago without an effect is shown as missed.
  static constexpr Duration late_grace = std::chrono::seconds{5};
  // The time that an interrupted rehearsal waits until its candidate is cancelled.
  static constexpr Duration leaving_grace = std::chrono::seconds{5};

  explicit Conversation(Errand errand) : errand_(std::move(errand)) {}

  [[nodiscard]] Orders start(Duration now) override;
  [[nodiscard]] Orders step(const Happening& happening, Duration now) override;
  [[nodiscard]] std::optional<Duration> next_deadline() const override;

  [[nodiscard]] bool is_finished() const { return state_.stage == Stage::finished; }

  enum class Stage { asking, following, cancelling, finished };

  // The part of the conversation that changes. Tests visit all its states, and compare them.
  struct State {
    Stage stage = Stage::asking;
    bool sent = false;          // the request of this stage was sent at least once
    bool out_of_sight = false;  // the answer may have been pushed out of status.json
    bool told_no_answer = false;
    // True if another request may have begun the upgrade. Its executable is then compared with the
    // one that this command names.
    bool compares = false;
    bool measured = false;  // a rehearsal's candidate was ready, and its memory was asked for
    bool cancel_refused = false;
    std::optional<std::int64_t> peak_kib;
    std::optional<Duration> limit;  // the deadline of the command, or of the wait for the answer
    std::optional<Duration> resend;
    Duration pause = first_pause;
    std::optional<Duration> gone;  // an upgrader has ended: until when to wait for its last status
    // the control directory has vanished: until when to wait for a new one
    std::optional<Duration> vanished;
    std::optional<Moment> told_late;  // the upgrader's deadline that was last shown as missed
    // the rehearsal ends in this way as soon as its cancel is answered
    std::optional<Finish> leaving;
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
