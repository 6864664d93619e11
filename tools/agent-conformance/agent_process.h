// One running agent: its process, its three pipes, and the bytes that are still to be written to
// its input. The class AgentProcess reports each observation as an event, and makes no decisions.
// The functions at the end of this file prepare the start of an agent. They also read from /proc
// which pipes and locks an agent's processes have open, and at which addresses these processes
// listen.
#pragma once

#include <sys/types.h>
#include <uv.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/owned_fd.h"
#include "base/uv_handle.h"
#include "tools/agent-conformance/said.h"
#include "tools/agent-conformance/seen.h"

namespace conformance {

// ---- reading an agent's output, at most a certain number of bytes in one turn of the event loop

// The most reads from a descriptor in one turn of the event loop, enough to empty a full pipe. If
// an agent writes more than this at a time, the rest is read in the loop's next turn, so that other
// work is not delayed.
inline constexpr int reads_a_turn_max = 16;

// Reads the available bytes, with at most reads_a_turn_max reads, and passes them to `take`.
// Returns true at the end of the stream. The descriptor must be non-blocking.
[[nodiscard]] bool drain(int fd, const std::function<void(std::string_view)>& take);

// Cuts a stream into lines, but does not interpret the lines.
class LineCutter {
 public:
  // Adds bytes to the stream, and passes each complete line to `take`. If a line is too long, only
  // its beginning is passed.
  void add(std::string_view bytes, const std::function<void(const Line&)>& take) {
    while (!bytes.empty()) {
      const std::size_t newline = bytes.find('\n');
      const std::string_view part = bytes.substr(0, newline);
      if (!skips_) begun_ += part;
      bytes.remove_prefix(part.size() + (newline == std::string_view::npos ? 0 : 1));
      // The size limit of a line includes the newline, so a line that has reached this limit
      // without a newline is too long.
      if (!skips_ && begun_.size() >= line_bytes_max) {
        take({.bytes = std::exchange(begun_, {}).substr(0, shown_max), .end = Line::End::too_long});
        skips_ = true;
      }
      if (newline == std::string_view::npos) continue;
      if (!std::exchange(skips_, false)) take({.bytes = std::exchange(begun_, {})});
    }
  }

  // Ends the stream. If bytes without a newline are left, passes them to `take` as the last line,
  // with Line::End::output in the member `end`.
  void end(const std::function<void(const Line&)>& take) {
    if (!begun_.empty()) take({.bytes = std::exchange(begun_, {}), .end = Line::End::output});
  }

 private:
  static constexpr std::size_t shown_max = 1'000;

  std::string begun_;
  bool skips_ = false;  // the rest of an overlong line is being skipped
};

// Owns a descriptor, polls it, and calls a function when the descriptor is readable.
class PolledFd {
 public:
  PolledFd(uv_loop_t* loop, upgrader::OwnedFd fd, std::function<void()> on_readable);
  PolledFd(const PolledFd&) = delete;
  PolledFd& operator=(const PolledFd&) = delete;

  void watch(bool on);
  [[nodiscard]] int number() const { return fd_.get(); }

 private:
  upgrader::OwnedFd fd_;
  std::function<void()> on_readable_;
  upgrader::UvHandle<uv_poll_t> poll_;  // uses fd_, so poll_ must be destroyed before fd_
};

class AgentProcess {
 public:
  using Tell = std::function<void(const Event&)>;

  AgentProcess(uv_loop_t* loop, int number, Tell tell);
  AgentProcess(const AgentProcess&) = delete;
  AgentProcess& operator=(const AgentProcess&) = delete;

  // Starts the agent's process. Reports the event Started or NotStarted.
  void start(const std::vector<std::string>& command, const Start& terms);
  void write(const Write& order);
  void hang_up();
  void send_signal(int number) const;
  void tell_when_taken();
  void look();
  void clog();
  void unclog();

  [[nodiscard]] bool runs() const { return pid_ != 0 && !has_exited_; }
  [[nodiscard]] int pid() const { return pid_; }

 private:
  struct Chunk {
    std::string bytes;
    bool bytewise = false;
  };

  void spawn(const std::vector<std::string>& command, const Start& terms);
  bool make_pipes(const Start& terms);
  bool open_output_writer();
  void watch_trace(const std::string& path);
  void pump();
  bool write_some();
  void read_output();
  void read_errors();
  void read_trace();
  void on_exit(std::int64_t status, int signal);
  template <class What>
  void say(const What& what) {
    tell_(Event{.agent = number_, .what = what});
  }

  uv_loop_t* loop_;
  int number_;
  Tell tell_;
  int pid_ = 0;
  bool has_exited_ = false;
  upgrader::UvHandle<uv_process_t> process_;
  upgrader::UvHandle<uv_timer_t> pump_timer_;

  upgrader::OwnedFd input_;  // this program's end of the agent's standard input
  // a second writing end of the agent's output pipe, with which clog() fills the pipe
  upgrader::OwnedFd output_writer_;
  upgrader::OwnedFd child_input_, child_output_, child_error_, lock_;
  std::unique_ptr<PolledFd> output_, error_, trace_;
  LineCutter output_lines_, error_lines_, trace_lines_;
  std::deque<Chunk> unwritten_;
  bool hangs_up_ = false;     // when all bytes are written, close the agent's input
  bool tells_taken_ = false;  // when the agent has read all bytes, report InputTaken
  bool output_is_over_ = false;
};

// ---- the start of an agent: its command, its environment, and strace

// Searches for the program, the first word of `command`, in PATH if its name has no slash, and then
// replaces the name by the path that was found. Returns the reason why the agent cannot be started,
// or an empty string if it can.
[[nodiscard]] std::string resolve(std::vector<std::string>& command);

// Returns the environment for an agent: the environment of this program without the variables that
// init or an upgrader sets for one process only. If `alone` is false, adds the variables that an
// upgrader sets for its agent. `lock` is the descriptor of the upgrader's lock, or -1 if there is
// no lock.
[[nodiscard]] std::vector<std::string> environment(bool alone, int lock);

// Returns pointers to the strings, followed by a null pointer, as execve(2) needs them.
[[nodiscard]] std::vector<char*> pointers(std::vector<std::string>& texts);

// Returns the command that runs the agent under strace. strace writes its output to `fifo`, and is
// neither a parent nor a child of the agent.
[[nodiscard]] std::vector<std::string> traced(const std::vector<std::string>& command,
                                              const std::string& fifo);

// Makes a FIFO in a new temporary directory. The FIFO and the directory are removed when this
// program exits. Returns the path, or an empty string on failure.
[[nodiscard]] std::string make_fifo();

// Returns true if strace exists and is allowed to trace.
[[nodiscard]] bool strace_works();

// ---- facts about an agent's processes, from /proc

// The inodes by which the output pipe and the lock of an agent are recognized among the open
// descriptors of processes.
struct Marks {
  ino_t output = 0;  // the inode of the agent's output pipe
  ino_t lock = 0;    // the inode of the lock's file; 0 if there is no lock
};

[[nodiscard]] Facts look_at(int pid, const Marks& marks);

// Returns the processes that an agent has left behind: the living processes of its session. If no
// process is left in the agent's own process group, returns an empty list, even if the session has
// more groups.
[[nodiscard]] std::vector<int> session_of(int pid);

}  // namespace conformance
