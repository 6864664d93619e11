// One scripted run of the real upgrader, with scripted agents, which are called puppets. The run
// ends when the upgrader has exited, and everything that it left behind has been judged. A fault
// may strike during the run.
//
// Each run makes the same system calls in the same order. So the k-th call of a name is the call
// that was listed in the run without a fault. To achieve this, an agent acts only when the upgrader
// waits, no child is between fork and exec, and every process has read all its messages.
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
  bool shows = false;  // true: print every system call, every line of the agents, and the log
  // How long a run may take, in milliseconds. If a run takes longer, the upgrader counts as hung.
  int patience_ms = 30'000;
};

enum class LogKind { file, pipe, socket };

class Run;
struct Agent;

// A play is the script of a run. It says what all agents and the operator do as long as no fault
// strikes.
struct Play {
  std::string name;
  std::string about;
  std::string story;  // the messages that each agent receives in the run without a fault
  Texts options{};
  LogKind log = LogKind::file;
  bool link = false;                  // AGENT is a link to the program `one`
  bool script = false;                // the programs are scripts with an interpreter
  bool adapter = false;               // an adapter is started instead of the programs
  std::string previous{};             // the target of the link of --previous
  std::string attempts{};             // the initial content of the file of --attempts
  std::function<void(Run&)> begin{};  // called when the first agent is active
  // Returns the lines that an operator writes to the FIFO of --control. Each line is written when
  // the upgrader has handled the previous line.
  std::function<Texts(const Run&)> requests{};
  // Called instead of `requests` if the upgrader accepts no requests of an operator.
  std::function<void(Run&)> without_operator{};
  // Lets an agent behave differently from a good agent. Called for each message that an agent has
  // received. Returns true if it has reacted to the message; if it returns false, the agent reacts
  // as a good agent does.
  std::function<bool(Run&, Agent&, std::string_view)> react{};

  [[nodiscard]] bool has(std::string_view option) const;
};

// Returns all plays (scripts of runs), which plays.cc defines.
[[nodiscard]] const std::vector<Play>& plays();
[[nodiscard]] const Play& play_named(std::string_view name);  // throws if there is no such play

struct Step {
  enum class Deed { say, say_and_exit, close_output, exit };
  Deed deed = Deed::say;
  std::string text{};
  int status = 0;
};

struct Agent {
  pid_t pid = 0;
  int number = 0;      // counts the agents in the order of their starts, from 1
  std::string pipe{};  // the agent's standard input, such as "pipe:[1234]"
  int socket = -1;
  bool ended = false;
  bool end_of_input = false;
  bool active = false;
  std::string role{};
  int heard = 0;  // the number of lines that the agent has reported as read
  int unanswered = 0;
  std::deque<std::string> lines{};  // lines to which the agent has not reacted yet
  std::deque<Step> steps{};         // the steps that the agent will take next
  Texts types{};                    // the types of all messages that the agent has read
};

// The outcome of a run, from which the judge decides whether the upgrader behaved well.
struct Report {
  int status = 0;       // the upgrader's wait status, as from waitpid
  int end_signal = 0;   // the signal that has ended the upgrader, or 0
  std::string at_goal;  // the messages that each agent had received when the upgrade was over
  std::string at_end;   // all messages that each agent has received
  pid_t served = 0;     // the active agent when the upgrade was over, or 0
  bool served_is_fallback = false;
  bool probed = false;  // at the end one more upgrade was requested, and committed
  bool deaf = false;    // an operator could not open the FIFO of requests, since it had no reader
  std::string stage;    // the stage at which the upgrade failed, if a failure was reported
  std::string error;    // the name of the error in the report of the failure, if it has one
  std::string log;
  bool fired = false;
  Phase phase = Phase::start;  // the phase in which the fault struck
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

  // ---- functions with which the plays (the scripts of runs) make things happen
  [[nodiscard]] std::string path(std::string_view name) const {
    return directory_ + "/" + name.data();
  }
  void say(Agent& agent, std::string text);  // lets the agent write the text and a newline
  void say_type(Agent& agent, std::string_view type, std::string_view members = "");
  void request_upgrade(std::string_view members = "", std::string_view program = "two");
  void stop_slowly(Agent& agent);  // in three steps: sends `stopped`, closes its output, exits
  void exit_after(Agent& agent, std::string text,
                  int status);  // sends the text, and exits before the upgrader has read it
  // Sends the signal to the upgrader. If the signal is SIGTERM, SIGINT or SIGQUIT, also records
  // that the upgrader's shutdown begins.
  void signal(int number);
  void point_link_at(std::string_view name);
  void replace_program(std::string_view name);  // puts another file at the program's path
  [[nodiscard]] Agent* active();

 private:
  void set_up();
  void install(std::string_view name);
  void listen();
  [[nodiscard]] int bound_socket(int type, const char* name) const;
  pid_t start_upgrader(bool traced, const std::string& log);
  void open_log();
  void drain_log();

  bool step_once();  // returns false if nothing happened
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
  int notify_ = -1;  // the socket on which the test receives the messages to init
  bool init_heard_ready_ = false;
  int wake_ = -1;  // a descriptor that is readable when a child may have ended
  std::deque<Agent> agents_;
  // The sockets on which agents report to the test, each with its agent's pid, or with 0 before the
  // agent's first report.
  std::vector<std::pair<int, pid_t>> sockets_;
  bool begun_ = false;
  bool over_ = false;
  bool probing_ = false;
  std::size_t asked_ = 0;  // the number of requests that the operator has written
  int idle_looks_ = 0;
  std::chrono::steady_clock::time_point deadline_;
  Report report_;
};

}  // namespace fault
