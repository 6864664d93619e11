// The part of the loop for --control: writes status.json, as often as allowed, and reads requests
// from the FIFO. Does not decide their contents. Without the option the loop has no Control.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/time.h"
#include "upgrader/core/chronicle.h"
#include "upgrader/core/control_desk.h"
#include "upgrader/core/status_news.h"
#include "upgrader/core/supervisor.h"
#include "upgrader/shell/control_directory.h"
#include "upgrader/shell/control_fifo.h"
#include "upgrader/shell/log.h"
#include "upgrader/shell/programs.h"

namespace upgrader {

// status.json is written at most so often.
inline constexpr Duration status_interval{100};
// How often what has failed is tried again: to lock DIR, to make or open the FIFO, to write
// status.json.
inline constexpr Duration retry_interval{1'000};
// How long a DIR that another upgrader has locked is waited for: that one may be about to exit.
inline constexpr Duration predecessor_patience{1'000};

class Control {
 public:
  // Both must outlive it.
  Control(Logbook& logbook, const Programs& programs) : logbook_(logbook), programs_(programs) {}

  // Checks DIR. Returns why it cannot be used, or an empty text.
  [[nodiscard]] std::string open(const std::string& path) { return directory_.open(path); }
  // Claims DIR. From the first settle() on, `sink` is called for every line of a request, and, once
  // a turn of the loop, `turn_over` after them. False if another upgrader has DIR, which may be
  // tried again. If it cannot be locked for another reason, such as a full disk, the log has a
  // line, and the lock is tried again later.
  [[nodiscard]] bool claim(uv_loop_t* loop, ControlFifo::Sink sink,
                           ControlFifo::TurnOver turn_over);
  [[nodiscard]] const std::string& path() const { return directory_.path(); }

  // Reads a line: it is an event, a line for the log, or neither.
  using Read = std::variant<std::monostate, ControlRequested, Notice>;
  [[nodiscard]] Read read(const agent_protocol::Line& line);

  void note_checked(const Program& program) { chronicle_.note_checked(program.path()); }
  void note_started(Generation generation, int pid, const Program& program);
  void note(const Event& event, const Actions& actions, const State& state);

  // After the events of a turn of the loop. Writes status.json if it may be written now.
  void settle(const State& state, Time now);
  // When to write status.json, or to try again to open the FIFO. Nothing while a hand-over keeps
  // status.json from being written: the turn of the loop that ends the hand-over calls settle().
  [[nodiscard]] std::optional<Time> next_deadline() const;
  // Reads the lines that a turn of the loop had no room for.
  void read_backlog() {
    if (fifo_ && fifo_->pending()) fifo_->pass_lines();
  }

  // With --previous: what status.json says of the next boot.
  void note_boot(BootFacts boot) { boot_ = std::move(boot); }
  // Why the upgrader ends, where no action says so.
  void note_why_it_ends(const std::string& why) { chronicle_.note_why_it_ends(why); }
  void finish(const State& state, int exit_status);

 private:
  [[nodiscard]] bool has_lock(Time now);
  void prepare_files();
  void open_fifo();
  void tell_deaf(int error) const;
  void write(const State& state);

  Logbook& logbook_;
  const Programs& programs_;
  ControlDirectory directory_;
  Chronicle chronicle_;
  ControlDesk desk_;
  std::optional<ControlFifo> fifo_;  // from claim() to finish()
  BootFacts boot_;
  bool locked_ = false;
  bool has_files_ = false;
  bool has_fifo_ = false;
  bool deaf_ = false;         // the FIFO cannot be made, or opened
  std::string written_;       // what status.json says
  std::optional<Time> last_;  // when status.json was last compared with the state
  std::optional<Time> due_;
  bool held_back_ = false;  // somebody who is ready waits for the work: nothing may take time
  bool fails_ = false;      // the last writing failed
};

}  // namespace upgrader
