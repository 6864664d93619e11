// The judge sits between the real loop and the real supervisor, and sees every event and every
// action. It also knows what has really happened on the simulated machine, and reports the rule
// that was broken. It checks the rules of the class Watcher (tests/support) and the rules IO-1 to
// IO-6 of ARCHITECTURE.md. When the faults are over, it also checks that the upgrader comes to rest
// and commits a good upgrade. tests/INVARIANTS.md lists the rules.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/support/init_listener.h"
#include "tests/support/watcher.h"
#include "tests/together/simulation/director.h"
#include "tests/together/simulation/machine.h"
#include "upgrader/core/supervisor.h"

namespace upgrader::simulation {

// An action of the code in upgrader/shell on the machine, together with its outcome. For example,
// `check` means that a program was checked and is good, and `check_fails` that it is bad.
enum class World {
  check,
  check_fails,
  way_back,
  no_way_back,
  spawn,
  spawn_fails,
  spawn_refused,
  link_back,
  link_stays,
  proof,
  proof_fails,
  relink,
  relink_fails,
};

// A function that the judge calls instead of Supervisor::step. A test of the judge (a canary)
// passes a function with a bug.
using StepFunction = std::function<Actions(Supervisor&, const Event&, Time)>;

// An interface through which the judge reports each step of the supervisor. The class Follower
// (atlas.h) implements it, and follows the steps on the map of the supervisor's states.
class Tracker {
 public:
  virtual ~Tracker() = default;
  virtual void before(const Supervisor& supervisor, const Event& event, Time now) = 0;
  virtual void after(const Supervisor& supervisor, const test::Watcher& watcher) = 0;
};

// Counts of events and upgrades, over one run or over many runs.
struct Tally {
  std::uint64_t runs = 0;
  std::uint64_t events = 0;
  std::uint64_t accepted = 0;
  std::uint64_t committed = 0;
  std::uint64_t failed = 0;       // upgrades after which the old agent stayed active
  std::uint64_t rolled_back = 0;  // upgrades after which a fallback was started
  std::uint64_t stood_by = 0;     // upgrades after which a waiting fallback became active
  std::uint64_t cut_short = 0;    // upgrades that had not ended when the upgrader exited
  std::uint64_t requests = 0;     // requests of operators that have been answered
  std::uint64_t granted = 0;      // requests of operators that were not refused
  // Runs in which a good upgrade was committed after the end of all faults.
  std::uint64_t useful = 0;
  std::uint64_t guided = 0;
  std::uint64_t arrived = 0;  // guided runs that have made the move to which they were led
  void add(const Tally& other) {
    runs += other.runs;
    events += other.events;
    accepted += other.accepted;
    committed += other.committed;
    failed += other.failed;
    rolled_back += other.rolled_back;
    stood_by += other.stood_by;
    cut_short += other.cut_short;
    requests += other.requests;
    granted += other.granted;
    useful += other.useful;
    guided += other.guided;
    arrived += other.arrived;
  }
};

class Judge {
 public:
  Judge(Machine& machine, Director& director, const StepFunction& step, Tracker* tracker,
        std::string* trace);

  // ---- the function that the upgrader's loop calls instead of Supervisor::step
  Actions step(Supervisor& supervisor, const Event& event, Time now);

  // ---- the event loop
  void look_begins();
  void turn_begins();
  void turn_ended();
  // Judges the simulated machine when it is at rest, that is, when no descriptor is ready and no
  // timer has run out. Then makes the next step of the simulated run happen on the machine. Returns
  // true if there was a step.
  bool at_rest(const std::optional<Time>& timer);
  [[nodiscard]] bool over() const { return over_; }

  // Delivers an event of this kind about an agent that has already ended.
  void tell_stale(test::EventClass kind);

  // ---- the functions that the doubles of libuv and of system calls call when the code in
  // upgrader/shell acts on the simulated machine
  [[nodiscard]] World next_outcome(World asked);
  // Returns true if the supervisor has ordered the action PutLinkBack, and the upgrader has not
  // carried it out yet. The action points the link AGENT at the program that was committed last.
  [[nodiscard]] bool awaits_link_back() const { return awaits_link_back_; }
  [[nodiscard]] bool started() const { return started_; }
  void check_start();
  void signal_sent(Process& process, int signal);
  void signal_taken(int signal);
  void bytes_read(Process& process, std::size_t count);
  void init_told(std::string_view text);
  void bytes_written(Process& process, std::string_view bytes);
  void timer_set();

  // ---- the control directory

  // Must be called when the upgrader has read from the FIFO. `bytes` is empty at the end of the
  // file.
  void control_read(std::string_view bytes);
  void status_written(std::string_view text, bool well);
  // The id of the upgrade under way; empty if there is none.
  [[nodiscard]] std::string id_under_way() const;

  // ---- the agents
  void heard(Process& process, std::string_view line);
  // Returns an id that no upgrade has had yet: "u" and capital letters. The map of states treats
  // every id of this form as u1, the only id that the exploration uses.
  [[nodiscard]] std::string next_request();

  // ---- the end

  // Must be called when the upgrader has ended and all its libuv handles are closed.
  void run_ended(int status);
  void broken(const std::string& rule);
  // The rule that was broken, in words; empty if none was broken.
  [[nodiscard]] const std::string& verdict() const { return verdict_; }
  [[nodiscard]] const Tally& tally() const { return tally_; }
  void note(const std::string& line);

 private:
  void see_event(const Event& event);
  void check_init();
  void see_line(Process* process, const Meaning& meaning);
  void see_word(Process& process, const MessageReceived& received);
  void see_exit(Process& process);
  void see_activated(const Process* process, bool whole);
  void see_deadline();
  void check_put_off(const State& before, Time by, Time now, const State& after);
  void see_actions(const Actions& actions);
  void see_send(const Send& send);
  void see_activate(const Process& process, const agent_protocol::Activate& activate);
  void order_signal(Generation generation, int signal);
  void see_welcome(Process& process, const agent_protocol::Welcome& welcome);
  void see_reason(const Process& process, const agent_protocol::Activate& activate);
  void see_commit(const Process* process);
  void check_standbys();
  void count(const agent_protocol::UpgraderMessage& message);
  void check_orders();
  void check_resources();
  void throw_in_stale_event();
  void throw_in_between_last_words(const Event& event);
  void tell_stale_event(Event stale);
  struct Given;
  void see_control(const ControlRequest& request);
  bool take_line_without_supervisor();
  [[nodiscard]] bool is_next(const ControlRequest& request) const;
  [[nodiscard]] bool is_answered(const std::string& name) const;
  [[nodiscard]] bool is_known(const std::string& id) const;
  void give(Given given);
  void see_answer(const Answer& answer);
  void see_ending();
  void check_status(const std::string& text, bool last);
  void check_control();
  void check_fifo();
  [[nodiscard]] World guided_outcome(World asked);

  Machine& machine_;
  Director& director_;
  const StepFunction& step_;
  Tracker* tracker_;
  std::string* trace_;
  test::Watcher watcher_;
  Supervisor* supervisor_ = nullptr;
  bool awaits_link_back_ = false;
  bool started_ = false;
  bool over_ = false;
  bool shutdown_ = false;
  bool looking_ = false;  // true while the callback of a timer runs
  std::optional<int> exit_;
  int requests_ = 0;
  int turns_at_once_ = 0;
  // How often the code in upgrader/shell has set its timer in the current turn of the event loop.
  // The judge checks that this happens only a few times in a turn.
  int timer_settings_ = 0;
  Time event_at_{0};
  // The new times of postponed deadlines, by the deadlines' names.
  std::map<std::string, Time> put_off_;
  test::InitListener init_;
  // ---- the requests that operators have written, and the answers
  struct Given {
    std::string name;
    std::string type;
    std::optional<bool> ok;  // whether the request was granted; nullopt if it is not answered yet
  };
  std::string control_line_;  // the beginning of a line that has not been read whole
  // Lines that the upgrader has read from the FIFO. The judge does not know yet whether the
  // upgrader has handled them.
  std::deque<std::string> control_lines_;
  std::deque<Given> given_;  // the last sixteen answers to operators' requests, newest first
  std::deque<std::string> ids_ended_;  // the ids of the last sixteen ended upgrades, newest first
  // Ids that were dropped from ids_ended_ while lines were waiting in control_lines_. The upgrader
  // may have answered such a line before it forgot the id. So the judge treats these ids as known
  // until no line is waiting.
  std::set<std::string> ids_forgotten_;
  std::string id_under_way_;  // the id of the accepted upgrade that is under way
  int control_lines_in_turn_ = 0;
  std::string status_;          // the text of status.json
  bool status_is_old_ = false;  // true if the last attempt to write status.json failed
  std::optional<Time> status_written_at_;
  bool agent_was_active_ = false;  // true if some agent has been sent `activate`
  bool committed_ = false;         // true if the step that is being judged commits the upgrade
  std::string verdict_;
  Tally tally_;
};

extern Judge* the_judge;

}  // namespace upgrader::simulation
