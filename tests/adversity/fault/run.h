// One scripted run of the real upgrader with puppets as its agents, from its start to what is left
// when it has gone; a fault may strike it on the way.
//
// The run is in step: an agent does its next deed only when the upgrader waits, no child is between
// fork and exec, and everybody has heard all that was said. So the same calls are made in the same
// order every time, and the k-th call of a kind is the same one as in the run that was listed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/adversity/fault/tracer.h"

namespace fault {

using Texts = std::vector<std::string>;

struct Setting {
  std::string upgrader;
  std::string puppet;
  bool shows = false;        // every call, line and log
  int patience_ms = 30'000;  // a run that takes longer hangs
};

enum class LogKind { file, pipe, socket };

class Run;
struct Agent;

// A scripted run: what everybody does as long as no fault strikes.
struct Play {
  std::string name;
  std::string about;
  std::string story;  // what the agents have been told when all is over
  Texts options{};
  LogKind log = LogKind::file;
  bool link = false;                  // AGENT is the link `current` to `one`
  bool script = false;                // the programs are scripts with an interpreter
  bool adapter = false;               // what speaks is an adapter of theirs
  std::string previous{};             // what the link of --previous names
  std::string attempts{};             // what its file says of `one`
  std::function<void(Run&)> begin{};  // the first agent serves
  // The lines that an operator writes to --control, each when the one before has led to rest.
  std::function<Texts(const Run&)> requests{};
  std::function<void(Run&)> without_operator{};  // if none of them is taken
  // An agent's own way with a message, if it is not every good agent's. Returns true if it has one.
  std::function<bool(Run&, Agent&, std::string_view)> react{};

  [[nodiscard]] bool has(std::string_view option) const;
};

struct Step {
  enum class Deed { say, say_and_exit, close_output, exit };
  Deed deed = Deed::say;
  std::string text{};
  int status = 0;
};

struct Agent {
  pid_t pid = 0;
  int number = 0;      // in the order of their starts, from 1
  std::string pipe{};  // its standard input
  int socket = -1;
  bool ended = false;
  bool end_of_input = false;
  bool active = false;
  std::string role{};
  int heard = 0;  // lines
  int unanswered = 0;
  std::deque<std::string> lines{};  // not yet reacted to
  std::deque<Step> steps{};         // not yet done
  Texts types{};                    // of all messages, for the story
};

// The outcome of a run.
struct Report {
  int status = 0;       // of the upgrader, as waitpid gives it
  int end_signal = 0;   // by which it was told to end; 0: it was not
  std::string at_goal;  // what the agents had been told when the upgrade was over
  std::string at_end;   // and when all was over; the log's lines are counted, too
  pid_t served = 0;     // who was active at the goal; 0: nobody
  bool served_is_fallback = false;
  bool probed = false;  // a further upgrade was tried, and was committed
  bool deaf = false;    // an operator was told that it takes no requests
  std::string stage;    // of the failure that was told, if one was
  std::string error;    // its errno
  std::string log;
  bool fired = false;
  Phase phase = Phase::start;  // in which the fault fell
  pid_t active_at_fault = 0;
  std::vector<Call> calls;
  Texts violations;
};

class Run {
 public:
  Run(const Setting& setting, const Play& play, std::optional<Fault> fault);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  [[nodiscard]] Report perform();

  // ---- for plays
  [[nodiscard]] std::string path(std::string_view name) const {
    return directory_ + "/" + name.data();
  }
  void say(Agent& agent, std::string text);  // a newline is added
  void say_type(Agent& agent, std::string_view type, std::string_view members = "");
  void request_upgrade(std::string_view members = "", std::string_view program = "two");
  void stop_slowly(Agent& agent);  // says `stopped`, closes its output, exits: one after another
  void exit_after(Agent& agent, std::string text,
                  int status);  // at once, both are there to be seen
  void signal(int number);      // to the upgrader; SIGTERM, SIGINT and SIGQUIT are its end
  void point_link_at(std::string_view name);
  void replace_program(std::string_view name);  // by another file of the same name
  [[nodiscard]] Agent* active();

 private:
  void set_up();
  void install(std::string_view name);
  void listen();
  [[nodiscard]] int bound_socket(int type, const char* name) const;
  pid_t start_upgrader(bool traced, const std::string& log);
  void open_log();
  void drain_log();

  bool step_once();  // false if nothing happened
  void pump(int timeout_ms);
  void accept_one();
  void receive(int socket, std::string_view packet);
  [[nodiscard]] Agent* agent_of(pid_t pid);
  [[nodiscard]] bool quiet(const Agent& agent) const;
  [[nodiscard]] bool all_quiet() const;
  void act();
  void react(Agent& agent, const std::string& line);
  void react_well(Agent& agent, std::string_view type);
  void note_failure(const std::string& line);
  void take_step(Agent& agent);
  void order(Agent& agent, const std::string& text);
  void end_agent(Agent& agent, const std::string& order_text);
  void idle();
  void probe();
  bool ask_as_operator(const std::string& line);
  [[nodiscard]] bool init_was_full() const;
  [[nodiscard]] bool tries_for_ever() const;
  [[nodiscard]] bool init_awaits_ready() const;
  void enter_end(int number);
  void finish_upgrade();
  [[nodiscard]] std::string story() const;

  void look_at_the_end();
  void await_agents();
  void start_again();
  void play_again(pid_t upgrader, const std::string& log);
  void judge_leftovers();
  void judge_files();
  void judge_previous(const std::string& named);
  void judge_news();
  void violation(const std::string& what);

  const Setting& setting_;
  const Play& play_;
  std::optional<Fault> fault_;
  std::unique_ptr<Tracer> tracer_;
  std::string directory_;
  int listener_ = -1;
  int log_reader_ = -1;
  int log_writer_ = -1;
  int notify_ = -1;  // what init is told comes here
  bool init_heard_ready_ = false;
  int wake_ = -1;  // readable when a child has something to tell
  std::deque<Agent> agents_;
  std::vector<std::pair<int, pid_t>> sockets_;  // pid: 0 until it has introduced itself
  bool begun_ = false;
  bool over_ = false;
  bool probing_ = false;
  std::size_t asked_ = 0;  // of the operator's requests
  int idle_looks_ = 0;
  std::chrono::steady_clock::time_point deadline_;
  Report report_;
};

}  // namespace fault
