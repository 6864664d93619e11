// The part of the event loop for --control: writes status.json, and reads requests from the FIFO.
// Writes status.json at most once in `status_interval`, except at the upgrader's end, and limits
// the requests per turn of the loop. Other files decide what status.json says and how requests are
// answered. Without --control, there is no object of this class.
#pragma once

#include <uv.h>

#include <functional>
#include <optional>
#include <string>

#include "agent-protocol/cpp/wire/line_reader.h"
#include "base/time.h"
#include "base/uv_handle.h"
#include "upgrader/core/attempts.h"
#include "upgrader/core/chronicle.h"
#include "upgrader/core/status_news.h"
#include "upgrader/shell/control_directory.h"
#include "upgrader/shell/log.h"
#include "upgrader/shell/programs.h"
#include "upgrader/wire/control_request.h"

namespace upgrader {

// Minimum time between two writings of status.json.
inline constexpr Duration status_interval{100};
// The interval at which a failed step is retried: locking DIR, making or opening the FIFO, writing
// status.json.
inline constexpr Duration retry_interval{1'000};
// How long to wait for DIR, the control directory, if another upgrader has locked it: that upgrader
// may be about to exit.
inline constexpr Duration predecessor_patience{1'000};

class Control {
 public:
  // All arguments but `previous`, the value of --previous, must outlive the object. `attempt` has
  // the count of starts (--attempts) that status.json shows.
  Control(Logbook& logbook, const Programs& programs, const std::optional<std::string>& previous,
          const Attempts& attempt)
      : logbook_(logbook),
        programs_(programs),
        previous_(previous ? std::optional(absolute(*previous)) : std::nullopt),
        attempt_(attempt) {}

  // Checks DIR, the control directory. Returns why DIR cannot be used, or an empty text.
  [[nodiscard]] std::string open(const std::string& path) { return directory_.open(path); }
  using Take = std::function<void(ControlRequested)>;
  using Show = std::function<void(const Notice&)>;
  using TurnOver = std::function<void()>;
  // Locks DIR, the control directory. Returns false if another upgrader holds the lock; the caller
  // may try again. After any other failure, such as a full disk, logs the reason and returns true,
  // and settle() tries again every second.
  //
  // Once DIR is locked, settle() opens the FIFO. `take` is then called for each new request, `show`
  // for each line that is not a valid request, and `turn_over` after the last line of each turn of
  // the loop. A request is not new if its name was answered before, or if it is for an upgrade
  // whose id is known: `take` is not called for it.
  [[nodiscard]] bool claim(uv_loop_t* loop, Take take, Show show, TurnOver turn_over);
  [[nodiscard]] const std::string& path() const { return directory_.path(); }

  void note_checked(const Program& program) { chronicle_.note_checked(program.path); }
  void note_started(Generation generation, int pid, const Program& program);
  void note(const Event& event, const Actions& actions, const State& state);

  // Must be called once after all events of a turn of the loop. Writes status.json if that is
  // allowed now.
  void settle(const State& state, Time now);
  // Returns when there is work to do next: lines for read_backlog(), a status.json to write, or a
  // failed step to try again. Ignores a status.json that waits for the end of a hand-over (from one
  // active agent to the next), since settle() is called then anyway.
  [[nodiscard]] std::optional<Time> next_deadline() const;
  // Reads the lines that were left over from a turn of the loop.
  void read_backlog() {
    if (lines_.pending()) pass_lines();
  }

  // Records why the upgrader ends, unless a log line of the supervisor has given a reason before.
  void note_why_it_ends(const std::string& why) { chronicle_.note_why_it_ends(why); }
  void finish(const State& state, int exit_status);

 private:
  [[nodiscard]] bool has_lock(Time now);
  void prepare_files();
  void open_fifo();
  [[nodiscard]] int listen();
  void on_readable();
  void reopen();
  void pass_lines();
  void pass_line(const agent_protocol::Line& line);
  void write(const State& state);

  Logbook& logbook_;
  const Programs& programs_;
  // an absolute path, because readers of status.json run in other directories
  const std::optional<std::string> previous_;
  const Attempts& attempt_;
  ControlDirectory directory_;
  Chronicle chronicle_;
  uv_loop_t* loop_ = nullptr;  // the event loop; null until claim() is called
  Take take_;
  Show show_;
  TurnOver turn_over_;
  agent_protocol::LineReader lines_{control_line_bytes_max};
  OwnedFd fifo_;
  UvHandle<uv_poll_t> poll_;  // waits for lines while the FIFO is open
  bool locked_ = false;
  bool has_files_ = false;
  bool has_fifo_ = false;
  bool deaf_ = false;    // the last try to make or open the FIFO failed
  std::string written_;  // the current content of status.json
  // If the directory is locked: the time at which settle() last made the text of status.json.
  // Otherwise: the time at which settle() last tried to lock the directory.
  std::optional<Time> last_;
  std::optional<Time> due_;
  // True while a ready agent is about to be activated: status.json must not be written then.
  bool held_back_ = false;
  bool fails_ = false;  // the last attempt to write status.json failed
};

}  // namespace upgrader
