// Decides when the programs of a trial cell are started and stopped, in rounds: a round begins when
// the previous one is complete. A program that exits by itself is started again, as init would do.
// fleetctl starts and signals the processes.
//
//   phase      | event                                 | next phase
//   starting   | all programs of the round work        | starting the next round, or running
//              | a program of the round exits, or 30 s | stopping, with status 4
//              | have passed                           |
//   running    | a program exits: started again later  | running
//   any        | a stop is requested                   | stopping
//   stopping   | all programs of the round have exited | stopping the next round, or ended
//              | 10 s have passed, or a stop is        | stopping: programs that still run are
//              | requested again                       | killed
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ending.h"
#include "base/time.h"

namespace fleet {

struct DevProgram {
  std::string name = {};
  std::vector<std::string> arguments = {};  // the command line, beginning with the program's path
  // Environment variables NAME=VALUE for the program, in addition to fleetctl's environment.
  std::vector<std::string> environment = {};
  std::string log = {};  // the file for the program's standard output and standard error
  int starts = 0;        // the round in which the program is started, counted from 0
  int stops = 0;         // the round in which the program is stopped, counted from 0
};

// ---- events
struct DevBegan {};
struct DevRoundReady {};  // all programs of the current round work
struct DevFailed {
  std::string reason = {};  // why the cell cannot work
};
struct DevEnded {
  std::size_t program = 0;
  std::string how = {};  // for example "exited with status 1" or "cannot be started: REASON"
};
struct DevStopAsked {};
struct DevTimePassed {};
using DevEvent =
    std::variant<DevBegan, DevRoundReady, DevFailed, DevEnded, DevStopAsked, DevTimePassed>;

// ---- actions
struct DevStart {
  std::size_t program = 0;
  bool operator==(const DevStart&) const = default;
};
struct DevAwait {  // poll until the programs of this round work
  int round = 0;
  bool operator==(const DevAwait&) const = default;
};
struct DevAnnounce {  // all programs work: print how to use the cell
  bool operator==(const DevAnnounce&) const = default;
};
struct DevTerminate {
  std::size_t program = 0;
  bool operator==(const DevTerminate&) const = default;
};
struct DevKill {
  std::size_t program = 0;
  bool operator==(const DevKill&) const = default;
};
struct DevSay {
  std::string text = {};
  bool is_trouble = false;
  bool operator==(const DevSay&) const = default;
};
struct DevFinish {
  bool is_failure = false;
  bool operator==(const DevFinish&) const = default;
};
using DevAction =
    std::variant<DevStart, DevAwait, DevAnnounce, DevTerminate, DevKill, DevSay, DevFinish>;
using DevActions = std::vector<DevAction>;

class DevLife {
 public:
  explicit DevLife(const std::vector<DevProgram>& programs);

  [[nodiscard]] DevActions step(const DevEvent& event, upgrader::Time now);
  // Returns the time at which step() next needs the event DevTimePassed, or no value if it needs
  // none.
  [[nodiscard]] std::optional<upgrader::Time> next_deadline() const;

 private:
  enum class Phase { starting, running, stopping, ended };
  struct Child {
    DevProgram program;
    bool lives = false;
    int deaths = 0;             // how many exits in succession came soon after a start
    upgrader::Time started{0};  // when the program was started last
    // When to start the program again; no value while it runs.
    std::optional<upgrader::Time> restart_due = {};
  };

  void start_round(upgrader::Time now, DevActions& actions);
  void start(std::size_t program, upgrader::Time now, DevActions& actions);
  void note_end(const DevEnded& ended, upgrader::Time now, DevActions& actions);
  void begin_stop(upgrader::Time now, DevActions& actions);
  void stop_round(upgrader::Time now, DevActions& actions);
  void kill_rest(DevActions& actions) const;
  void pass_time(upgrader::Time now, DevActions& actions);

  std::vector<Child> children_;
  Phase phase_ = Phase::starting;
  int round_ = 0;
  int last_start_ = 0;
  int last_stop_ = 0;
  bool failed_ = false;
  // The time limit of the current round: its programs must have started or ended by then.
  std::optional<upgrader::Time> deadline_ = {};
};

}  // namespace fleet
