// One scripted run of the real upgrader, with puppets as its agents: from its start to the
// judgement of everything that is left after its end. A fault may strike it on the way.
//
// The run is deterministic: an agent acts only when the upgrader waits, no child is between fork
// and exec, and every process has read everything. So each run makes the same calls in the same
// order, and the k-th call of a kind is the same as in the run without a fault, in which the calls
// were listed.
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
  bool shows = false;        // prints every call, line and log
  int patience_ms = 30'000;  // after this time the run counts as hung
};

enum class LogKind { file, pipe, socket };

class Run;
struct Agent;

// A scripted run: what all agents and the operator do as long as no fault strikes.
struct Play {
  std::string name;
  std::string about;
  std::string story;  // the messages that the agents must have received when the run is over
  Texts options{};
  LogKind log = LogKind::file;
  bool link = false;                  // AGENT is a link to the program `one`
  bool script = false;                // the programs are scripts with an interpreter
  bool adapter = false;               // the programs run behind an adapter
  std::string previous{};             // the target of the link of --previous
  std::string attempts{};             // the content of the file of --attempts
  std::function<void(Run&)> begin{};  // called when the first agent is active
  // Returns the lines that an operator writes to --control. Each is written when the upgrader has
  // dealt with the line before.
  std::function<Texts(const Run&)> requests{};
  std::function<void(Run&)> without_operator{};  // called if the upgrader takes no requests
  // Reacts to a message if this play's agents do not react as a good agent does. Returns true if it
  // has reacted.
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
  int number = 0;      // 1 for the first agent that was started, and so on
  std::string pipe{};  // the pipe that is the agent's standard input
  int socket = -1;
  bool ended = false;
  bool end_of_input = false;
  bool active = false;
  std::string role{};
  int heard = 0;  // the number of lines that the agent has read
  int unanswered = 0;
  std::deque<std::string> lines{};  // lines to which the agent has not reacted yet
  std::deque<Step> steps{};         // steps that the agent has still to take
  Texts types{};                    // the types of all messages that the agent has read
};

// The outcome of a run.
struct Report {
  int status = 0;       // the upgrader's end, as waitpid gives it
  int end_signal = 0;   // the signal by which the upgrader was ended, or 0
  std::string at_goal;  // the messages that agents had received when the upgrade was over
  std::string at_end;   // all messages that agents have received
  pid_t served = 0;     // the active agent when the upgrade was over, or 0
  bool served_is_fallback = false;
  bool probed = false;  // a further upgrade was tried, and committed
  bool deaf = false;    // when an operator opened the FIFO of requests, nobody was reading it
  std::string stage;    // the stage at which the upgrade failed, if a failure was reported
  std::string error;    // the errno that the report of the failure names
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

  // ---- for plays
  [[nodiscard]] std::string path(std::string_view name) const {
    return directory_ + "/" + name.data();
  }
  void say(Agent& agent, std::string text);  // a newline is added
  void say_type(Agent& agent, std::string_view type, std::string_view members = "");
  void request_upgrade(std::string_view members = "", std::string_view program = "two");
  void stop_slowly(Agent& agent);  // in three steps: says `stopped`, closes its output, exits
  void exit_after(Agent& agent, std::string text,
                  int status);  // sends the text, and exits before the upgrader reads it
  void signal(int number);      // sent to the upgrader; SIGTERM, SIGINT and SIGQUIT end it
  void point_link_at(std::string_view name);
  void replace_program(std::string_view name);  // another file gets the program's name
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
  int notify_ = -1;  // init's end of the notification socket
  bool init_heard_ready_ = false;
  int wake_ = -1;  // readable when a child may have ended
  std::deque<Agent> agents_;
  // The agents' sockets, each with the agent's pid, or 0 until the agent has introduced itself.
  std::vector<std::pair<int, pid_t>> sockets_;
  bool begun_ = false;
  bool over_ = false;
  bool probing_ = false;
  std::size_t asked_ = 0;  // how many requests the operator has written
  int idle_looks_ = 0;
  std::chrono::steady_clock::time_point deadline_;
  Report report_;
};

}  // namespace fault
