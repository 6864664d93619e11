// The acts of a guide, which leads a run of the simulation from one state of the upgrader to
// another. The guide sends signals to the upgrader and lets deadlines pass. It also controls the
// agents: their messages, their exits, and whether they read their input.
#include <algorithm>
#include <csignal>

#include "tests/together/simulation/agent_double.h"
#include "tests/together/simulation/guide.h"
#include "tests/together/simulation/judge.h"
#include "tests/together/simulation/rehearsal.h"

namespace upgrader::simulation {

using namespace agent_protocol;
using test::EventKind;
using test::Speaker;

// Chooses when agents do not read their input. The upgrader notices that an agent has closed its
// input only when it has bytes to write to this agent. To keep such bytes waiting, agents mostly do
// not read if an agent is going to close a pipe.
void MapGuide::choose_clog() {
  const bool closed = std::any_of(way_.begin(), way_.end(), [&](std::uint32_t move) {
    return closes(sheet_.map.moves[move].steps[0]);
  });
  if (!machine_.random.chance(closed ? 95 : 20)) return;
  clog_ = closed || machine_.random.chance(50) ? Clog::but_activate : Clog::from_ready;
}

bool MapGuide::is_ahead(EventKind kind) const {
  return std::any_of(way_.begin(), way_.end(), [&](std::uint32_t at) {
    const test::Move& move = sheet_.map.moves[at];
    return std::any_of(move.steps, move.steps + move.length,
                       [kind](Event step) { return test::kind_of(step) == kind; });
  });
}

// Returns whether a later move on the way to the goal needs a message of this agent.
bool MapGuide::says_more(Speaker speaker) const {
  return way_.size() > 1 && std::any_of(way_.begin() + 1, way_.end(), [&](std::uint32_t at) {
           const Event event = sheet_.map.moves[at].steps[0];
           const EventKind kind = test::kind_of(event);
           return test::speaker_of(event) == speaker &&
                  (is_speech(event) || is_last_word(event) || kind == EventKind::extend_at_limit ||
                   kind == EventKind::cancel_at_limit);
         });
}

// Returns true if no bytes for this agent may wait in the upgrader: the agent is ready and not yet
// activated, and a later move requires its `activate` to be lost. The write of that `activate` must
// be the first write that fails.
bool MapGuide::is_kept_clear(const Agent& agent) const {
  return agent.ready && !agent.activated && is_ahead(EventKind::activate_lost);
}

// Makes room in the agent's pipe for older bytes, if the next move requires an `activate` to be
// lost: the write of the `activate` must be the first write that fails. Returns true if older bytes
// were waiting. Otherwise does nothing and returns false.
bool MapGuide::makes_clear(const test::Move& move, const State& state) {
  const bool loses = std::any_of(move.steps, move.steps + move.length, [](Event step) {
    return test::kind_of(step) == EventKind::activate_lost;
  });
  const std::optional<Agent>& agent = state.candidate ? state.candidate : state.incumbent;
  Process* process = loses && agent ? machine_.of(agent->generation) : nullptr;
  if (process == nullptr || !has_unsent(*process)) return false;
  process->input.capacity = 65'536;
  return true;
}

void MapGuide::expect_outcomes(const test::Move& move, const State& state) {
  for (std::size_t step = 1; step < move.length; ++step) {
    const EventKind outcome = test::kind_of(move.steps[step]);
    const bool of_activate = outcome == EventKind::activate_written ||
                             outcome == EventKind::activate_waits ||
                             outcome == EventKind::activate_lost;
    if (of_activate) {
      let_activate(outcome, state);
    } else {
      machine_.outcomes.push_back(move.steps[step]);
    }
  }
}

// Prepares the input of the agent that gets an `activate` next. `outcome` says whether the
// `activate` must be written, must wait for room in the pipe, or must be lost.
void MapGuide::let_activate(EventKind outcome, const State& state) {
  const std::optional<Agent>& agent = state.candidate ? state.candidate : state.incumbent;
  Process* process = agent ? machine_.of(agent->generation) : nullptr;
  if (process == nullptr) return;
  process->input.capacity = outcome == EventKind::activate_waits ? 0 : 65'536;
  if (outcome == EventKind::activate_lost) process->close_input();
}

bool MapGuide::perform(const test::Move& move, const Supervisor& supervisor) {
  const State& state = supervisor.state();
  const Event event = move.steps[0];
  const Speaker speaker = test::speaker_of(event);
  if (speaker == Speaker::stranger) {
    the_judge->tell_stale(event);
    return true;
  }
  if (speaker == Speaker::nobody) {
    if (!let_pass(event, supervisor)) return false;
    expect_outcomes(move, state);
    return true;
  }
  const std::optional<Agent>& agent =
      speaker == Speaker::incumbent ? state.incumbent : state.candidate;
  Process* process = agent ? machine_.of(agent->generation) : nullptr;
  if (process == nullptr || process->life != Process::Life::running) return false;
  if (!perform_of(*process, *agent, event, supervisor)) return false;
  expect_outcomes(move, state);
  return true;
}

// Sends a signal to the upgrader, lets a deadline pass, or starts the upgrader.
bool MapGuide::let_pass(Event event, const Supervisor& supervisor) {
  switch (test::kind_of(event)) {
    case EventKind::start:
      machine_.lock_is_free = true;
      return true;
    case EventKind::sigterm:
      machine_.raise(machine_.random.chance(50) ? SIGTERM : SIGINT);
      return true;
    case EventKind::sigquit:
      machine_.raise(SIGQUIT);
      return true;
    case EventKind::sigusr2:
      machine_.raise(SIGUSR2);
      return true;
    case EventKind::signal:
      machine_.raise(machine_.random.chance(50) ? SIGHUP : SIGUSR1);
      return true;
    default:
      break;
  }
  const std::optional<Time> deadline = deadline_of(supervisor.state(), event);
  if (!deadline) return false;
  const Time then = std::max(*deadline, machine_.now());
  if (!comes_to_pass(event, supervisor, then)) return false;
  machine_.pass_to(then);
  return true;
}

// Returns true if this event's deadline is the next to pass. Ignores at most two earlier deadlines,
// if they leave the supervisor's state unchanged.
bool MapGuide::comes_to_pass(Event event, Supervisor supervisor, Time then) const {
  for (int others = 0; others < 3; ++others) {
    const Event next = test::class_of(supervisor.state(), DeadlinePassed{}, then);
    if (next == event) return true;
    if (destination(sheet_, follower_.place(), next) != follower_.place()) return false;
    (void)supervisor.step(DeadlinePassed{}, then);
  }
  return false;
}

bool MapGuide::perform_of(Process& process, const Agent& agent, Event event,
                          const Supervisor& supervisor) {
  const State& state = supervisor.state();
  const EventKind kind = test::kind_of(event);
  if (is_last_word(event)) return say_last_words(process, agent, event, state);
  switch (kind) {
    case EventKind::limit:
    case EventKind::close_limit:
    case EventKind::heartbeat_limit:
    case EventKind::hello_limit:
      return let_pass(event, supervisor);
    case EventKind::exits:
      process.end({Ending::How::exited, 0});
      return true;
    case EventKind::is_killed:
      process.end({Ending::How::signalled, SIGKILL});
      return true;
    case EventKind::closes_output:
      if (says_more(test::speaker_of(event)) && is_one_which(agent, event) &&
          close_input(process, agent)) {
        return true;
      }
      if (!process.output.writer) return false;
      process.close_output();
      return true;
    case EventKind::closes_input:
      return close_input(process, agent);
    case EventKind::takes_activate:
      process.input.capacity = 65'536;
      return true;
    case EventKind::extend_at_limit:
    case EventKind::cancel_at_limit:
      if (!agent.deadline || !speak(process, agent, kind, state)) return false;
      machine_.pass_to(*agent.deadline);
      return true;
    default:
      return speak(process, agent, kind, state);
  }
}

// Makes an agent send the message of `event` and then exit, so that the upgrader reads the message
// only after the exit. If the guide's next moves are such last words of the same agent, the agent
// sends those messages, too, before it exits.
bool MapGuide::say_last_words(Process& process, const Agent& agent, Event event,
                              const State& state) {
  const bool on_way = !way_.empty() && sheet_.map.moves[way_.front()].steps[0] == event;
  const bool said = speak(process, agent, test::kind_of(event), state);
  while (on_way && way_.size() > 1 && is_last_word(sheet_.map.moves[way_[1]].steps[0])) {
    leave_move();
    (void)speak(process, agent, test::kind_of(sheet_.map.moves[way_.front()].steps[0]), state);
  }
  bool by_signal = machine_.random.chance(50);
  while (way_.size() <= 1 && machine_.random.chance(60)) {
    constexpr EventKind words[] = {EventKind::last_stopped, EventKind::last_unfit,
                                   EventKind::last_ready, EventKind::stray};
    (void)speak(process, agent, words[machine_.random.below(std::size(words))], state);
  }
  if (on_way && way_.size() > 1) {
    const test::EventClass ahead = sheet_.map.moves[way_[1]].steps[0];
    by_signal = test::kind_of(ahead) == EventKind::is_killed;
    leave_move();
    expect_outcomes(sheet_.map.moves[way_.front()], state);
  }
  process.end(by_signal ? Ending{Ending::How::signalled, SIGKILL} : Ending{Ending::How::exited, 0});
  return said;
}

bool MapGuide::speak(Process& process, const Agent& agent, EventKind kind, const State& state) {
  if (!process.output.writer) return false;
  if (!is_kept_clear(agent)) clog(process, kind == EventKind::ready && !agent.ready);
  if (kind == EventKind::unknown) {
    process.say("{\"type\":\"hullo\"}\n", Unknown{"hullo"});
  } else if (kind == EventKind::malformed_upgrade) {
    process.say("{\"type\":\"upgrade\",\"id\":\"u2\"}\n", Malformed{"upgrade", "", "u2"});
  } else if (kind == EventKind::malformed) {
    process.say("{\"type\":\"extend\"}\n", Malformed{"extend", "", std::nullopt});
  } else if (kind == EventKind::stray) {
    process.say("oops\n", Stray{});
  } else {
    SaidTimes said = said_;
    if (kind == EventKind::extend && pauses_.empty()) {
      said.extend_ms = machine_.random.one_of<std::int64_t>({1, 300, 60'000, 86'400'000});
    }
    const auto message = message_for(kind, agent, state, said);
    if (!message) return false;
    process.say(*message);
  }
  process.push(process.outbox.size());
  if (!process.outbox.empty()) process.agent->wake();
  return true;
}

// Sets how many bytes fit into the agent's input pipe when the agent sends a message. `makes_ready`
// is true if the message is `ready`. choose_clog() has chosen one of these ways:
// * Clog::never: the pipe is not changed.
// * Clog::from_ready: the pipe is full from the agent's `ready` on.
// * Clog::but_activate: the pipe has room after the agent's `ready`, and is full after all other
//   messages.
void MapGuide::clog(Process& process, bool makes_ready) {
  if (clog_ == Clog::from_ready && makes_ready) process.input.capacity = 0;
  if (clog_ == Clog::but_activate) process.input.capacity = makes_ready ? 65'536 : 0;
}

// Returns whether the upgrader has bytes for the agent that do not fit into the agent's input.
bool MapGuide::has_unsent(const Process& process) {
  return process.input.capacity == 0 && !process.orders.empty();
}

// Closes the agent's input while the upgrader has something to write to the agent. The write fails,
// so the upgrader notices the closed input immediately. If no bytes wait for the agent, the agent
// first sends a message that the upgrader answers with an `error`. If the agent cannot send such a
// message, leaves the input as it is and returns false.
bool MapGuide::close_input(Process& process, const Agent& agent) {
  if (!process.input.reader || !has_unsent(process)) {
    if (agent.killed || agent.terminated || !process.output.writer) return false;
    process.say("{\"type\":\"hullo\"}\n", Unknown{"hullo"});
    process.push(process.outbox.size());
  }
  process.close_input();
  return true;
}

// Returns true if the supervisor gets into the same state whether the agent closes its input or its
// output.
bool MapGuide::is_one_which(const Agent& agent, Event closes_output) const {
  const Event closes_input =
      test::class_for(test::speaker_of(closes_output), EventKind::closes_input);
  const auto leads_to = [&](Event event) { return destination(sheet_, follower_.place(), event); };
  return !agent.output_closed && leads_to(closes_output) == leads_to(closes_input);
}

// Makes agents send messages whose answers do not fit into the agents' inputs. Then the upgrader
// always has bytes to write to such an agent, and notices at once if the agent closes its input.
void MapGuide::let_replies_wait(const Supervisor& supervisor) {
  if (clog_ == Clog::never) return;
  const State& state = supervisor.state();
  for (const std::optional<Agent>* agent : {&state.incumbent, &state.candidate}) {
    if (!*agent || (*agent)->killed || (*agent)->terminated) continue;
    Process* process = machine_.of((*agent)->generation);
    if (process == nullptr || process->life != Process::Life::running) continue;
    if (is_kept_clear(**agent)) continue;
    const bool may_clog = clog_ == Clog::but_activate || process->input.capacity == 0;
    if (may_clog && !has_unsent(*process))
      (void)speak(*process, **agent, EventKind::unknown, state);
  }
}

// Postpones a deadline that would pass before, or together with, the deadline that `event` needs:
// the agent sends `extend` or a heartbeat. Returns false if there is no such deadline, or if it
// cannot be postponed.
bool MapGuide::make_way(const Supervisor& supervisor, Event event) {
  const State& state = supervisor.state();
  const std::optional<Time> wanted = deadline_of(state, event);
  if (!wanted) return false;
  for (const Speaker speaker : {Speaker::incumbent, Speaker::candidate}) {
    const auto& agent = speaker == Speaker::incumbent ? state.incumbent : state.candidate;
    Process* process = agent ? machine_.of(agent->generation) : nullptr;
    if (process == nullptr || process->life != Process::Life::running) continue;
    if (!process->output.writer) continue;
    const auto is_in_the_way = [&](EventKind kind) {
      const Event its = test::class_for(speaker, kind);
      const std::optional<Time> deadline = deadline_of(state, its);
      return its != event && deadline && *deadline <= *wanted;
    };
    if (is_in_the_way(EventKind::heartbeat_limit)) {
      machine_.pass_to(*supervisor.next_deadline() - Duration(1));
      process->say(Heartbeat{});
    } else if (is_in_the_way(EventKind::limit)) {
      process->say(Extend{86'400'000});
    } else {
      continue;
    }
    process->push(process->outbox.size());
    return true;
  }
  return false;
}

}  // namespace upgrader::simulation
