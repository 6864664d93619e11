// Decides what upgraderctl does for one request to an upgrader: when it writes the request to the
// upgrader's FIFO, when it writes the request again, what it prints while it waits, and with which
// exit status it ends. Does no input or output and reads no clock: the caller passes events with
// their times.
//
// A request is for one process of the upgrader: the process that reads the FIFO when upgraderctl
// opens the FIFO. Only after that, upgraderctl reads status.json, so the status is of the same
// process. While this process lives, upgraderctl may write the request again: the upgrader obeys a
// request only once, as long as it knows the request's name or the upgrade's id. When the process
// has exited, upgraderctl writes nothing more.
//
//   stage        until                                        next stage
//   asking       the status shows the answer, or the          finished if the request is refused or
//                requested upgrade                            only the answer is awaited, otherwise
//                                                             following
//   following    the status shows how the upgrade ended       finished
//   cancelling   (in a rehearsal) the status shows the        following
//                answer to the cancel request
//   finished
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent-protocol/cpp/control/status.h"
#include "tools/upgraderctl/core/decider.h"

namespace upgraderctl {

// Functions that find out whether one id was used for upgrades to two different executables.

// An executable by two paths: the path that the user gave, made absolute, and the same path with
// all links resolved.
struct Executable {
  std::string named;
  std::string resolved;
};

// Returns a clause for an error message if the status has an upgrade `id` to an executable other
// than `asked`. Otherwise returns nothing. Also returns nothing if the path in the status cannot be
// compared because it is_mangled() (base/status_path.h).
[[nodiscard]] std::optional<std::string> other_executable(const Executable& asked,
                                                          const std::string& id,
                                                          const Status& status);

// An errand is the task of a command of upgraderctl. It has the request to send to an upgrader, the
// goal to wait for, and the facts by which upgraderctl recognizes that the goal is reached.
struct Errand {
  enum class Goal {
    answer,     // until the request has been carried out or has begun an upgrade
    ending,     // until the upgrade has ended
    rehearsal,  // until the candidate is ready; then the upgrade is cancelled
    shutdown,   // until the upgrader has exited
  };
  Goal goal = Goal::answer;
  Life life;         // the upgrader that gets the request
  std::string deed;  // the request in words: "upgrade" or "confirm of u1"
  // The name of the request. The upgrader publishes its answer under this name.
  std::string request;
  // The line to write to the FIFO. If `line` is empty, no request is sent, and upgraderctl only
  // follows the upgrade that is under way.
  std::string line;
  std::string id;  // the id of the upgrade that is requested or followed
  // when the followed upgrade was accepted; unset for a requested one
  std::optional<Moment> accepted;
  std::optional<Executable> executable;  // if set, the upgrade `id` must be to this executable
  // True if the request asks for an upgrade. The upgrader then recognizes a repeated request by the
  // upgrade's id, even if it no longer knows the name of the request.
  bool asks_upgrade = false;
  // the names of the requests whose answers were in status.json already before this request was
  // sent
  std::vector<std::string> answers_before;
  std::string cancel_request;
  std::string cancel_line;
  std::optional<Duration> timeout;  // the time limit of the whole command; 0: no limit
  std::string tells;                // for messages: the command that shows how the upgrade ended
  std::string shows;                // for messages: the command that shows the active agent
  std::string on_trial;             // for messages: the command that undoes an upgrade on trial
};

class Conversation : public Decider {
 public:
  // How long to wait for an answer if the command was given no time limit.
  static constexpr Duration answer_timeout = std::chrono::seconds{30};
  // The pauses before an unanswered request is written again. Each pause is twice as long as the
  // pause before it, up to the longest one.
  static constexpr Duration first_pause = std::chrono::seconds{2};
  static constexpr Duration longest_pause = std::chrono::seconds{30};
  // How long to wait for the final status of an upgrader that no longer reads its FIFO, and so is
  // exiting or has exited.
  static constexpr Duration last_words_grace = std::chrono::seconds{1};
  // How long to wait until a control directory that has disappeared is made again.
  static constexpr Duration vanished_grace = std::chrono::seconds{5};
  // If the status still shows a deadline that passed at least this long ago, upgraderctl prints
  // that the upgrader is late.
  static constexpr Duration late_grace = std::chrono::seconds{5};
  // A rehearsal is an upgrade that is cancelled as soon as its candidate is ready. If the command
  // `rehearse` is interrupted or its time is up, it cancels the upgrade, and waits this long for
  // the answer.
  static constexpr Duration leaving_grace = std::chrono::seconds{5};

  explicit Conversation(Errand errand) : errand_(std::move(errand)) {}

  [[nodiscard]] Orders start(Duration now) override;
  [[nodiscard]] Orders step(const Happening& happening, Duration now) override;
  [[nodiscard]] std::optional<Duration> next_deadline() const override;

  [[nodiscard]] bool is_finished() const { return state_.stage == Stage::finished; }

  enum class Stage { asking, following, cancelling, finished };

  // The part of the conversation that changes while it runs.
  struct State {
    Stage stage = Stage::asking;
    bool sent = false;          // the request of this stage has been written at least once
    bool out_of_sight = false;  // status.json may have lost the answer; see note_pushed_out()
    bool told_no_answer = false;
    // True if a different request with the same id may have begun the upgrade. This command then
    // checks that the upgrade leads to the executable that the command names.
    bool compares = false;
    // for `rehearse`: the new agent was ready, and the order to read its peak memory was given
    bool measured = false;
    bool cancel_refused = false;
    std::optional<std::int64_t> peak_kib;
    std::optional<Duration> limit;  // until when to wait for the answer, or for the command's goal
    std::optional<Duration> resend;
    Duration pause = first_pause;
    // until when to wait for the final status of the upgrader after its exit; absent while it still
    // runs
    std::optional<Duration> gone;
    // until when to wait for a new control directory; absent unless the control directory has
    // disappeared
    std::optional<Duration> vanished;
    std::optional<Moment> told_late;  // the last missed deadline that was reported to the user
    // how `rehearse` ends when its request to cancel the upgrade has been answered; set if
    // `rehearse` was interrupted or its time is up
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
  void answered_cancel(const Status& own, const Answer& answer);
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
