#include "tests/together/simulation/judge.h"

#include <algorithm>
#include <array>
#include <csignal>

#include "agent-protocol/cpp/wire/codec.h"
#include "tests/support/bench.h"
#include "tests/support/every_event.h"
#include "upgrader/shell/agents.h"

namespace upgrader::simulation {

using namespace agent_protocol;

Judge* the_judge = nullptr;

namespace {

// ---- events and actions as text, for the trace

// Calls `use` with the generation (the number) of the agent that the event is about. Does nothing
// if the event is about no agent.
template <class AnyEvent, class Use>
void with_generation(AnyEvent& event, const Use& use) {
  std::visit(
      [&](auto& kind) {
        if constexpr (requires { kind.generation; }) use(kind.generation);
      },
      event);
}

constexpr std::array<const char*, std::variant_size_v<Event>> kinds{
    "start",        "start refused",   "says",         "says what is refused",
    "stray output", "closes output",   "closes input", "has its activate whole",
    "exits",        "outcome",         "deadline",     "told to stop",
    "told to quit", "told to upgrade", "signal",       "control request"};

std::string without_newline(std::string line) {
  while (!line.empty() && line.back() == '\n')
    line.pop_back();
  return line;
}

std::string detail(const Event& event) {
  if (const auto* received = std::get_if<MessageReceived>(&event)) {
    const auto line = encode(received->message);
    return (received->posthumous ? " at last " : " ") +
           (line ? without_newline(line.value()) : "what cannot be written");
  }
  if (const auto* exited = std::get_if<ProcessExited>(&event)) {
    return ": " + in_words(exited->ending);
  }
  if (const auto* stray = std::get_if<StrayReceived>(&event)) {
    return " " + stray->text.substr(0, 40);
  }
  if (const auto* outcome = std::get_if<Outcome>(&event)) {
    if (outcome->refused) return " refused: " + outcome->refused->reason;
    constexpr const char* sent[] = {"", ": waits", ": lost"};
    return sent[static_cast<std::size_t>(outcome->sent)];
  }
  return "";
}

// Returns the generation (the number) of the agent that the event is about, or 0 if the event is
// about no agent.
Generation generation_of(const Event& event) {
  Generation found = 0;
  with_generation(event, [&](const Generation& generation) { found = generation; });
  return found;
}

void set_generation(Event& event, Generation generation) {
  with_generation(event, [&](Generation& its) { its = generation; });
}

std::string print(const Event& event) {
  const Generation generation = generation_of(event);
  const std::string who = generation == 0 ? "" : std::to_string(generation) + " ";
  return who + kinds[event.index()] + detail(event);
}

std::vector<std::string> print(const Actions& actions) {
  std::vector<std::string> lines = test::summary(actions);
  for (const Action& action : actions) {
    if (const auto* line = std::get_if<Log>(&action)) lines.push_back("log: " + line->text);
  }
  return lines;
}

// ---- functions that the checks use, and the report of a broken rule

// The maximum number of events in a run. A correct run has fewer events. So this limit ends a run
// whose events never stop, even if its clock moves on.
constexpr std::uint64_t spinning_events_max = 50'000;

bool is_reply(const UpgraderMessage& message) {
  if (std::holds_alternative<Error>(message)) return true;
  const auto* failed = std::get_if<UpgradeFailed>(&message);
  return failed != nullptr && failed->failure.stage == Stage::request;
}

bool nobody_answers(const Meaning& meaning) {
  return std::holds_alternative<Unknown>(meaning) || std::holds_alternative<Malformed>(meaning);
}

// Returns true if the upgrader's codec has read from a line what the simulated agent has written.
// If both call the line malformed, their reasons may differ, since each has texts of its own.
bool same(const Meaning& one, const Meaning& other) {
  const auto* malformed = std::get_if<Malformed>(&one);
  const auto* its = std::get_if<Malformed>(&other);
  if (malformed != nullptr && its != nullptr) {
    return malformed->type == its->type && malformed->id == its->id;
  }
  return one == other;
}

// Returns every kind of event about an agent. The judge delivers these events with the number of an
// agent that the supervisor does not know.
const std::vector<test::NamedEvent>& stale_events() {
  static const std::vector<test::NamedEvent> events = [] {
    std::vector<test::NamedEvent> all = test::every_event(State{});
    std::erase_if(all, [](const test::NamedEvent& each) { return generation_of(each.event) == 0; });
    return all;
  }();
  return events;
}

}  // namespace

Judge::Judge(Machine& machine, Director& director, const StepFunction& step, Tracker* tracker,
             std::string* trace)
    : machine_(machine),
      director_(director),
      step_(step),
      tracker_(tracker),
      trace_(trace),
      watcher_(machine.swarm.options.exit_grace) {
  tally_.runs = 1;
}

void Judge::broken(const std::string& rule) {
  if (!verdict_.empty()) return;
  verdict_ = rule;
  over_ = true;
  note("BROKEN: " + rule);
}

void Judge::note(const std::string& line) {
  if (trace_ == nullptr) return;
  *trace_ += std::to_string(machine_.now().count() - 1'000'000) + " ms  " + line + "\n";
}

// ---- the steps of the supervisor: the loop calls Judge::step() instead of Supervisor::step()

Actions Judge::step(Supervisor& supervisor, const Event& event, Time now) {
  supervisor_ = &supervisor;
  check_orders();
  if (trace_ != nullptr) note(print(event));
  see_event(event);
  const bool outcome = supervisor.state().pending != Pending::nothing;
  if (!outcome) throw_in_stale_event();
  if (++tally_.events > spinning_events_max) broken("it spins");
  if (event_at_ != now) turns_at_once_ = 0;
  event_at_ = now;
  director_.count_event(supervisor);
  if (tracker_ != nullptr) tracker_->before(supervisor, event, now);
  const auto* passed = std::get_if<DeadlinePassed>(&event);
  const std::optional<State> before = passed ? std::optional(supervisor.state()) : std::nullopt;
  const Actions actions = step_(supervisor, event, now);
  watcher_.see(event, actions, now);
  const auto& upgrade = supervisor.state().upgrade;
  if (upgrade && upgrade->generation) id_under_way_ = upgrade->id;
  if (passed) check_put_off(*before, passed->by, now, supervisor.state());
  see_actions(actions);
  if (trace_ != nullptr) {
    for (const std::string& line : print(actions))
      note("    " + line);
    note("  = " + std::string(name_of(supervisor.phase())));
  }
  for (const std::string& violation : watcher_.violations())
    broken(violation);
  if (tracker_ != nullptr && verdict_.empty()) tracker_->after(supervisor, watcher_);
  if (machine_.swarm.guided) throw_in_between_last_words(event);
  return actions;
}

// Delivers every kind of event about an unknown agent, if `event` is one of a dead agent's last
// words (messages that are read after its exit). The delivered events must change nothing. A guide
// (guide.h) cannot deliver them, since it acts only when the simulated machine is at rest.
void Judge::throw_in_between_last_words(const Event& event) {
  const auto* received = std::get_if<MessageReceived>(&event);
  if (machine_.calm || received == nullptr || !received->posthumous) return;
  for (const test::NamedEvent& each : stale_events())
    tell_stale_event(each.event);
}

void Judge::throw_in_stale_event() {
  if (machine_.calm || supervisor_->state().ended) return;
  if (!machine_.random.chance(machine_.swarm.stale_events)) return;
  tell_stale_event(machine_.random.one_of(stale_events()).event);
}

void Judge::tell_stale(test::EventClass kind) {
  for (const test::NamedEvent& each : stale_events()) {
    if (test::class_of(State{}, each.event, Time(0)) == kind) return tell_stale_event(each.event);
  }
}

// Delivers this event with a generation (the number of an agent) that the supervisor does not know,
// as if the agent had ended. Checks rule S7 of tests/INVARIANTS.md: an event of an agent that has
// ended changes nothing.
void Judge::tell_stale_event(Event stale) {
  set_generation(stale, supervisor_->state().last_generation + 7);
  const State before = supervisor_->state();
  const Time now = machine_.now();
  if (tracker_ != nullptr) tracker_->before(*supervisor_, stale, now);
  const Actions actions = step_(*supervisor_, stale, now);
  watcher_.see(stale, actions, now);
  if (!actions.empty() || !(supervisor_->state() == before)) {
    broken("S7: an event of a generation that has gone changes something");
  }
  if (tracker_ != nullptr && verdict_.empty()) tracker_->after(*supervisor_, watcher_);
}

void Judge::see_event(const Event& event) {
  if (std::holds_alternative<StartRequested>(event)) started_ = true;
  if (const auto* asked = std::get_if<ControlRequested>(&event)) see_control(*asked);
  if (std::holds_alternative<DeadlinePassed>(event)) see_deadline();
  Process* process = machine_.of(generation_of(event));
  if (const auto* received = std::get_if<MessageReceived>(&event)) {
    const bool dead = process != nullptr && process->life == Process::Life::reaped;
    if (dead != received->posthumous) broken("IO-2: the dead speak as if they lived");
    see_line(process, received->message);
    if (process != nullptr) see_word(*process, *received);
  } else if (const auto* refused = std::get_if<MessageRefused>(&event)) {
    std::visit([&](const auto& what) { see_line(process, what); }, refused->what);
  } else if (std::holds_alternative<StrayReceived>(event)) {
    see_line(process, Stray{});
  } else if (const auto* outcome = std::get_if<Outcome>(&event)) {
    const State& state = supervisor_->state();
    const auto& agent = state.candidate ? state.candidate : state.incumbent;
    if (state.pending == Pending::activate)
      see_activated(machine_.of(agent->generation), outcome->sent == Sent::written);
  } else if (std::holds_alternative<ActivateWritten>(event)) {
    see_activated(process, true);
  } else if (std::holds_alternative<ProcessExited>(event)) {
    if (process != nullptr) see_exit(*process);
  }
}

// Records the facts in an agent's message that later checks need: that the agent promises a later
// `healthy`, that it has sent `healthy`, or that it has stopped and leaves a state to the next
// agent.
void Judge::see_word(Process& process, const MessageReceived& received) {
  const auto* hello = std::get_if<Hello>(&received.message);
  const auto is_readiness = [](const std::string& feature) { return feature == "readiness"; };
  if (hello != nullptr && std::any_of(hello->features.begin(), hello->features.end(), is_readiness))
    process.owes_word = true;
  // Ignores a `healthy` of an agent that is not active yet, was sent SIGKILL, or has exited.
  const bool heard = process.activated && !process.killed && !received.posthumous;
  if (heard && std::holds_alternative<Healthy>(received.message)) process.owes_word = false;
  if (!process.told_to_stop || process.confirmed) return;
  if (const auto* stopped = std::get_if<Stopped>(&received.message)) {
    process.confirmed = true;
    process.left = stopped->state;
  }
  const auto* cancel = std::get_if<Cancel>(&received.message);
  const bool counts = !received.posthumous && !process.killed && !shutdown_;
  if (cancel != nullptr && counts && process.stop_id == cancel->id) process.told_to_stop = false;
}

// Checks that the code in upgrader/shell delivers an agent's lines unchanged and in order, and
// leaves out no line.
void Judge::see_line(Process* process, const Meaning& meaning) {
  if (process == nullptr || process->buried) return broken("IO-4: a line of nobody");
  const bool posthumous = process->life == Process::Life::reaped;
  if (!posthumous && !looking_ && ++process->lines_in_turn > lines_a_turn) {
    broken("IO-5: more lines than a turn may take");
  }
  auto& spoken = process->spoken;
  const auto is_passed_over = [&](const Process::Spoken& next) {
    return next.end <= process->written && nobody_answers(next.meaning);
  };
  while (posthumous && !spoken.empty() && is_passed_over(spoken.front())) {
    spoken.pop_front();
    ++process->told;
  }
  if (spoken.empty()) return broken("a line that was never written");
  const bool cut_off = spoken.front().end > process->written;
  const bool fits =
      cut_off ? std::holds_alternative<Stray>(meaning) : same(spoken.front().meaning, meaning);
  if (!fits) {
    const auto* message = std::get_if<AgentMessage>(&spoken.front().meaning);
    const std::string meant = message ? encode(*message).value() : "no message\n";
    broken("a line is not told as it was written: " + meant);
  }
  spoken.pop_front();
  ++process->told;
}

void Judge::see_exit(Process& process) {
  if (process.life != Process::Life::reaped) return broken("an exit that was not seen");
  if (process.buried) return broken("an exit is told twice");
  process.buried = true;
  const bool silent =
      std::all_of(process.spoken.begin(), process.spoken.end(), [&](const Process::Spoken& spoken) {
        return spoken.end > process.written || nobody_answers(spoken.meaning);
      });
  if (!silent) broken("IO-2: an exit is told before what was said");
}

// Checks an event that says whether the message `activate` to the agent has been written
// completely (`whole`). The supervisor must have sent `activate`, and the event must be right.
void Judge::see_activated(const Process* process, bool whole) {
  if (process == nullptr || !process->promised) return broken("an activate that was not sent");
  if (process->activated != whole) broken("S1b: what is told of an activate is not so");
}

// Checks rule IO-1 of ARCHITECTURE.md: before the code in upgrader/shell reports that a deadline
// has passed, it looks at all pipes and processes. Before the report, it must deliver all lines and
// exits that had come when the look began. It must also write an `activate` if the pipe had room
// for it at that time.
void Judge::see_deadline() {
  for (const auto& process : machine_.processes()) {
    if (process->buried) continue;
    const bool deaf = process->input.bytes.size() >= process->input.capacity;
    if (process->ended_at_look) broken("IO-1: a deadline is judged before an exit that was there");
    if (process->promised && !process->activated && process->taken == process->taken_at_look) {
      broken("IO-1: a deadline is judged before an activate was written that had room");
    }
    if (process->told < process->held_at_look && !deaf) {
      broken("IO-1: a deadline is judged before what an agent had said");
    }
  }
}

// Checks each deadline whose passing is reported to the supervisor more than a second late, as
// after a freeze of the machine. The supervisor must postpone the deadline once. The new deadline
// must be as far in the future as the report was late, but at most ten seconds.
void Judge::check_put_off(const State& before, Time by, Time now, const State& after) {
  const auto names_of = [](State state) {
    std::map<std::string, Time> times;
    for (const test::NamedDeadline& named : test::deadlines_of(state)) {
      const std::string name = named.name + (" " + std::to_string(named.due.generation));
      if (*named.deadline) times[name] = **named.deadline;
    }
    return times;
  };
  const auto times = names_of(before), times_after = names_of(after);
  const std::map<std::string, Time> put_off_before = put_off_;
  // The supervisor remembers only the new time of a postponed deadline, and not which deadline it
  // was. So to the supervisor, any other deadline at the same millisecond is postponed, too.
  const auto is_put_off = [&](Time time) {
    return std::any_of(put_off_before.begin(), put_off_before.end(),
                       [time](const auto& before_it) { return before_it.second == time; });
  };
  const auto is_judged = [&](const auto& other) {
    const bool again = is_put_off(other.second);
    return other.second <= by && (again || now - other.second <= std::chrono::seconds(1));
  };
  for (const auto& [name, time] : times) {
    const Duration late = now - time;
    if (time > by || late <= std::chrono::seconds(1) || is_put_off(time)) continue;
    const Time until = now + std::min<Duration>(late, std::chrono::seconds(10));
    const auto found = times_after.find(name);
    put_off_[name] = until;
    // Another deadline that has passed in this step may have ended the wait that the deadline
    // `name` limits. Then `name` was not postponed, but cleared or set anew.
    const bool others = std::any_of(times.begin(), times.end(), is_judged);
    if (!others && (found == times_after.end() || found->second != until)) {
      broken("Time: a deadline that comes late is not put off by as much: " + name);
    }
  }
}

void Judge::see_actions(const Actions& actions) {
  committed_ = false;
  awaits_link_back_ = !actions.empty() && std::holds_alternative<PutLinkBack>(actions.back());
  for (const Action& action : actions) {
    if (const auto* send = std::get_if<Send>(&action)) see_send(*send);
    if (const auto* kill = std::get_if<Kill>(&action)) {
      order_signal(kill->generation, SIGKILL);
      if (Process* process = machine_.of(kill->generation)) process->killed = true;
    }
    if (const auto* end = std::get_if<Terminate>(&action)) order_signal(end->generation, SIGTERM);
    if (const auto* pass = std::get_if<PassSignal>(&action)) {
      order_signal(pass->generation, pass->signal);
    }
    if (const auto* answer = std::get_if<Answer>(&action)) see_answer(*answer);
    if (std::holds_alternative<RecordEnding>(action)) see_ending();
    if (const auto* spawn = std::get_if<Spawn>(&action)) {
      machine_.next_generation = spawn->generation;
    }
    if (const auto* end = std::get_if<Exit>(&action)) {
      exit_ = end->status;
      over_ = true;
    }
  }
  if (committed_) check_standbys();
}

void Judge::see_send(const Send& send) {
  count(send.message);
  Process* process = machine_.of(send.generation);
  if (std::holds_alternative<Committed>(send.message)) see_commit(process);
  if (process == nullptr || process->life == Process::Life::reaped) return;
  if (const auto* welcome = std::get_if<Welcome>(&send.message)) see_welcome(*process, *welcome);
  if (const auto* activate = std::get_if<Activate>(&send.message)) {
    process->promised = true;
    see_activate(*process, *activate);
    see_reason(*process, *activate);
  }
  if (const auto* stop = std::get_if<Stop>(&send.message)) {
    process->told_to_stop = true;
    process->stop_id = stop->id;
  }
  const auto line = encode(send.message);
  if (!line) return broken("a message that cannot be sent");
  process->orders.push_back({line.value(), is_reply(send.message)});
}

// Checks that no other agent is active when an `activate` is sent, and that this message has the
// right facts about the agent that was active last.
void Judge::see_activate(const Process& process, const Activate& activate) {
  const Process* last = nullptr;
  for (const auto& other : machine_.processes()) {
    if (other.get() == &process || !other->promised) continue;
    if (other->life != Process::Life::reaped) broken("S1: an active process has not been reaped");
    if (other->activated) last = other.get();
  }
  const bool clean = last != nullptr && last->confirmed;
  if (activate.clean != clean) broken("a stop counts as clean, or not, against the truth");
  const auto& left = last != nullptr ? last->left : std::optional<std::string>();
  if (activate.state != left) broken("a state is handed on that nobody has left, or is lost");
}

// Checks a `welcome`. Only the `welcome` of a fallback may say why the upgrade failed. A fallback
// whose `welcome` gives no reason must be a standby, which waits during the trial of the new
// version: another agent was sent `activate`, and has not ended.
void Judge::see_welcome(Process& process, const Welcome& welcome) {
  process.is_fallback = welcome.role == Role::fallback;
  process.knows_reason = welcome.failure.has_value();
  if (process.knows_reason && !process.is_fallback) broken("Answers: who is no fallback is one");
  if (!process.is_fallback || process.knows_reason) return;
  const auto& all = machine_.processes();
  const bool stands_by = std::any_of(all.begin(), all.end(), [&](const auto& other) {
    return other.get() != &process && other->promised && !other->buried;
  });
  if (!stands_by) broken("Answers: a fallback is started in nobody's place and not told why");
}

// Checks that a fallback is told why the upgrade failed, and is told this exactly once: in its
// `welcome` or in its `activate`. No other agent may be told why an upgrade failed.
void Judge::see_reason(const Process& process, const Activate& activate) {
  if (!activate.failure && process.is_fallback && !process.knows_reason) {
    broken("Answers: a fallback gets the work and is not told why");
  }
  if (!activate.failure) return;
  if (!process.is_fallback || process.knows_reason) {
    broken("Answers: a failure is told twice, or to one that is no fallback");
  }
}

// Checks a part of rule S9 of tests/INVARIANTS.md. A standby is a fallback that waits during the
// trial of the new version. When the new version has passed its trial, the standby is no longer
// needed, and must be killed in the same step.
void Judge::check_standbys() {
  for (const auto& process : machine_.processes()) {
    const bool stands_by = process->is_fallback && !process->promised && !process->killed;
    if (stands_by && !process->buried) broken("S9: a standby outlives the commit");
  }
}

void Judge::see_commit(const Process* process) {
  committed_ = true;
  if (process == nullptr || !process->activated) {
    broken("S1b: committed goes to one that has not got its activate");
  }
}

void Judge::count(const UpgraderMessage& message) {
  if (std::holds_alternative<Accepted>(message)) ++tally_.accepted;
  if (std::holds_alternative<Committed>(message)) ++tally_.committed;
  if (const auto* failed = std::get_if<UpgradeFailed>(&message)) {
    const Stage stage = failed->failure.stage;
    if (stage == Stage::shutdown) ++tally_.cut_short;
    if (stage != Stage::shutdown && stage != Stage::request) ++tally_.failed;
  }
  const auto* welcome = std::get_if<Welcome>(&message);
  const auto* activate = std::get_if<Activate>(&message);
  const bool stood_by = activate != nullptr && activate->failure;
  if (stood_by) ++tally_.stood_by;
  if (stood_by || (welcome != nullptr && welcome->failure)) ++tally_.rolled_back;
}

void Judge::order_signal(Generation generation, int signal) {
  Process* process = machine_.of(generation);
  if (process != nullptr && process->life != Process::Life::reaped) {
    process->signals_due.push_back(signal);
  }
}

// Checks that the code in upgrader/shell has carried out the orders of the supervisor's previous
// step.
void Judge::check_orders() {
  for (const auto& process : machine_.processes()) {
    if (process->signals_due.empty() || process->life == Process::Life::reaped) continue;
    broken("a signal that was ordered was not sent");
  }
}

}  // namespace upgrader::simulation
