#include "upgrader/shell/agents.h"

#include <algorithm>
#include <thread>

#include "agent-protocol/cpp/wire/codec.h"
#include "base/check.h"
#include "base/form.h"
#include "upgrader/shell/log.h"

namespace upgrader {
namespace {

// Returns true for a message that only answers an agent's request. It may be dropped if the agent
// sends without reading, since the agent can repeat the request. Messages that are not answers are
// never dropped: orders such as `stop`, and the end of an upgrade that was under way.
bool is_reply(const agent_protocol::UpgraderMessage& message) {
  if (std::holds_alternative<agent_protocol::Error>(message)) return true;
  const auto* failed = std::get_if<agent_protocol::UpgradeFailed>(&message);
  return failed != nullptr && failed->failure.stage == agent_protocol::Stage::request;
}

}  // namespace

Agents::Agents(uv_loop_t* loop, ChildSetting setting, Sink sink, TurnOver turn_over, Logbook* log)
    : loop_(loop),
      setting_(std::move(setting)),
      sink_(std::move(sink)),
      turn_over_(std::move(turn_over)),
      log_(log),
      backlog_(make_handle(uv_idle_init, loop, this)) {
  UPGRADER_CHECK(backlog_ != nullptr);  // libuv promises that uv_idle_init() succeeds
}

std::optional<StartFailed> Agents::start(Generation generation, const Program& program) {
  auto outcome = start_process(program, setting_);
  if (const auto* failed = std::get_if<StartFailed>(&outcome)) return *failed;
  Started& started = std::get<Started>(outcome);
  const auto readable = [this, generation] {
    on_readable(generation);
    turn_over_();
  };
  const auto writable = [this, generation] {
    on_writable(generation);
    turn_over_();
  };
  std::unique_ptr<Running> agent(new Running{
      .generation = generation,
      .pid = started.pid,
      .channel{loop_, std::move(started.input), std::move(started.output), readable, writable}});
  // If libuv cannot watch the agent's pipes, the agent is treated as if it had closed its output.
  const bool watched = agent->channel.output_open();
  running_.push_back(std::move(agent));
  if (!watched) sink_(OutputClosed{generation});
  return std::nullopt;
}

pid_t Agents::pid_of(Generation generation) const {
  const Running* const found = find(generation);
  return found == nullptr || found->ending ? -1 : found->pid;
}

Sent Agents::send(Generation generation, const agent_protocol::UpgraderMessage& message) {
  Running* agent = find(generation);
  if (agent == nullptr || agent->ending) return Sent::lost;
  Channel& channel = agent->channel;
  if (is_reply(message) && channel.unsent() >= unsent_replies_bytes_max) return Sent::lost;
  const auto line = agent_protocol::encode(message);
  UPGRADER_CHECK(static_cast<bool>(line));
  show(generation, "is told", line.value());
  const bool kept = channel.send(line.value());
  if (!kept) sink_(InputClosed{generation});
  watch_as_fits(*agent);
  if (!kept) return Sent::lost;
  tell_activate_written(*agent);
  const bool activate = std::holds_alternative<agent_protocol::Activate>(message);
  // Yield the processor, because the agent that gets this `activate` may be waiting for it. This
  // shortens the time in which no agent works by a quarter (measured by `make size`).
  if (activate && channel.unsent() == 0) std::this_thread::yield();
  if (channel.unsent() == 0) return Sent::written;
  if (activate) agent->activate_end = channel.written() + channel.unsent();
  return Sent::waits;
}

// Logs a message to or from an agent at the level debug, for a person who looks for a fault.
void Agents::show(Generation generation, std::string_view does, std::string_view line) {
  if (log_ == nullptr || !log_->shows(LogLevel::debug)) return;
  line = line.substr(0, line.find('\n'));
  log_->debug("generation {} {} {}"_with(generation, does, escape(line, stray_bytes_max)));
}

void Agents::close_input(Generation generation) {
  Running* agent = find(generation);
  if (agent == nullptr) return;
  agent->channel.close_input();
  watch_as_fits(*agent);
}

int Agents::signal(Generation generation, int signal_number) {
  const Running* agent = find(generation);
  if (agent == nullptr || agent->ending) return 0;
  return send_signal(agent->pid, signal_number);
}

std::size_t Agents::unread(Generation generation) const {
  const Running* const agent = find(generation);
  return agent == nullptr ? 0 : agent->channel.held();
}

void Agents::read_everything(const std::vector<Generation>& late) {
  const auto is_late = [&late](Generation generation) {
    return std::count(late.begin(), late.end(), generation) > 0;
  };
  reap_exits();
  const bool late_one_is_dead =
      std::any_of(running_.begin(), running_.end(),
                  [&](const auto& agent) { return agent->ending && is_late(agent->generation); });
  if (late_one_is_dead) bury_the_dead({.bytes = last_words_bytes_max});
  // Use an index, not an iterator: a message may start an agent, which is appended to running_.
  for (std::size_t i = 0; i < running_.size(); ++i) {  // NOLINT(modernize-loop-convert)
    Running& agent = *running_[i];
    if (agent.ending) continue;
    // the agent may have read its input since the last write, so its pipe may have room now
    flush(agent);
    if (!is_late(agent.generation) && must_read_replies_first(agent)) continue;
    // Read only the output that is in the pipe now: an agent that writes without end must not keep
    // the upgrader in this loop.
    std::size_t held = std::min(agent.channel.held(), look_bytes_max);
    static_cast<void>(read_lines(agent, held, {.bytes = held}));
  }
}

Agents::Running* Agents::find(Generation generation) const {
  for (const auto& agent : running_) {
    if (agent->generation == generation) return agent.get();
  }
  return nullptr;
}

void Agents::on_readable(Generation generation) {
  Running* agent = find(generation);
  if (agent == nullptr) return;
  // First find out whether this agent has exited. If it has, its remaining lines are those of a
  // dead agent: a `ready` among them must not make the upgrader stop the active agent.
  look_for_end(*agent);
  if (agent->ending) return bury_the_dead({.bytes = look_bytes_max});
  if (!agent->channel.lines().pending() &&
      agent->channel.read(read_bytes_a_turn) == Channel::Read::end) {
    // An agent that closes its output is usually about to exit, perhaps on this processor. Yield
    // the processor, so that the agent can finish its exit.
    std::this_thread::yield();
    look_for_end(*agent);
    return agent->ending ? bury_the_dead({.bytes = look_bytes_max}) : end_output(*agent);
  }
  pass_lines(*agent);
  watch_as_fits(*agent);
}

void Agents::on_writable(Generation generation) {
  Running* agent = find(generation);
  if (agent == nullptr || agent->ending) return;
  flush(*agent);
  watch_as_fits(*agent);
}

void Agents::flush(Running& agent) {
  if (agent.channel.unsent() == 0) return;
  if (!agent.channel.flush()) return sink_(InputClosed{agent.generation});
  tell_activate_written(agent);
}

// Reports that a waiting `activate` has now been written whole. Compares counts of bytes, because
// one write may contain the end of the `activate` and messages after it.
void Agents::tell_activate_written(Running& agent) {
  if (!agent.activate_end || agent.channel.written() < *agent.activate_end) return;
  agent.activate_end.reset();
  sink_(ActivateWritten{agent.generation});
}

// Handles lines and exits that are left over, because one turn of the event loop handles only a
// limited number.
void Agents::on_backlog() {
  uv_idle_stop(backlog_.get());
  if (std::exchange(strangers_left_, false)) reap_strangers();
  bury_the_dead({.bytes = read_bytes_a_turn, .lines = lines_a_turn});
  // Use an index, not an iterator: a message may start an agent, which is appended to running_.
  for (std::size_t i = 0; i < running_.size(); ++i) {  // NOLINT(modernize-loop-convert)
    Running& agent = *running_[i];
    if (agent.ending) continue;
    pass_lines(agent);
    watch_as_fits(agent);
  }
  turn_over_();
}

// Handles the lines that have been read, up to the limit for one turn of the loop. Stops if the
// agent leaves too many replies unread.
void Agents::pass_lines(Running& agent) {
  for (int taken = 0; taken < lines_a_turn && !must_read_replies_first(agent); ++taken) {
    const std::optional<agent_protocol::Line> line = agent.channel.lines().next();
    if (!line) return;
    pass_line(agent, *line);
  }
}

void Agents::pass_line(Running& agent, const agent_protocol::Line& line) {
  const bool posthumous = agent.ending.has_value();
  const Generation generation = agent.generation;
  auto decoded = line.complete ? agent_protocol::decode_agent_message(line.text)
                               : agent_protocol::without_newline(line.text);
  if (!std::holds_alternative<agent_protocol::Stray>(decoded)) show(generation, "says", line.text);
  if (auto* message = std::get_if<agent_protocol::AgentMessage>(&decoded)) {
    sink_(MessageReceived{generation, std::move(*message), posthumous});
  } else if (const auto* stray = std::get_if<agent_protocol::Stray>(&decoded)) {
    sink_(StrayReceived{generation, "{}{}{}"_with(stray->reason, stray->reason.empty() ? "" : ": ",
                                                  escape(line.text, stray_bytes_max))});
  }
  if (posthumous) return;  // the agent has exited, so nobody would read an answer
  if (auto* unknown = std::get_if<agent_protocol::Unknown>(&decoded)) {
    sink_(MessageRefused{generation, std::move(*unknown)});
  } else if (auto* malformed = std::get_if<agent_protocol::Malformed>(&decoded)) {
    sink_(MessageRefused{generation, std::move(*malformed)});
  }
}

void Agents::end_output(Running& agent) {
  if (const auto rest = agent.channel.lines().rest()) pass_line(agent, *rest);
  if (agent.ending) return;
  agent.channel.close_output();
  sink_(OutputClosed{agent.generation});
}

void Agents::watch_as_fits(Running& agent) {
  const bool pending = agent.channel.lines().pending();
  const bool pause = must_read_replies_first(agent);
  agent.channel.watch_output(!pending && !pause);
  if (pending && !pause) start_backlog();
}

void Agents::start_backlog() {
  uv_idle_start(backlog_.get(),
                [](uv_idle_t* handle) { static_cast<Agents*>(handle->data)->on_backlog(); });
}

// ---- exits: an agent is reaped, then its last lines are handled, then its exit is reported

void Agents::reap_exits() {
  // Reap all agents that have ended before any exit is reported. Otherwise the exit of an old agent
  // might activate a candidate that has died as well.
  for (const auto& agent : running_)
    look_for_end(*agent);
  bury_the_dead({.bytes = look_bytes_max});
}

void Agents::reap_strangers() {
  for (int reaped = 0; reaped < strangers_a_turn; ++reaped) {
    const std::optional<pid_t> ended = ended_child();
    // Do not reap an agent here, since its exit would never be reported. reap_exits() reaps the
    // agent and reports its exit, when the SIGCHLD of the agent is handled.
    if (!ended || is_agent(*ended) || !try_reap(*ended)) return;
  }
  strangers_left_ = true;
  start_backlog();
}

bool Agents::is_agent(pid_t pid) const {
  return std::any_of(running_.begin(), running_.end(),
                     [pid](const auto& agent) { return !agent->ending && agent->pid == pid; });
}

// Reaps the agent if it has ended, and records how many bytes of its output are still unread.
void Agents::look_for_end(Running& agent) {
  if (agent.ending) return;
  agent.ending = try_reap(agent.pid);
  if (agent.ending) agent.last_words = std::min(agent.channel.held(), last_words_bytes_max);
}

// Reports the exits of ended agents, the newest agent first. `budget` limits how much of their
// remaining output is read now. If there is more output, it is read in later turns of the loop, and
// the exits of older agents are reported then.
void Agents::bury_the_dead(const Budget& budget) {
  for (;;) {
    const auto newest = std::find_if(running_.rbegin(), running_.rend(),
                                     [](const auto& agent) { return agent->ending.has_value(); });
    if (newest == running_.rend()) return;
    Running& agent = **newest;
    if (!read_lines(agent, agent.last_words, budget)) {
      agent.channel.watch_output(false);
      return start_backlog();
    }
    bury(agent);
  }
}

// Handles the lines in the next `unread` bytes of an agent's output, and decreases `unread`.
// Returns false if `budget` (a limit of bytes and lines) is used up first.
bool Agents::read_lines(Running& agent, std::size_t& unread, Budget budget) {
  for (int taken = 0; taken < budget.lines;) {
    if (const auto line = agent.channel.lines().next()) {
      pass_line(agent, *line);
      ++taken;
      continue;
    }
    if (unread == 0) return true;
    if (budget.bytes == 0) return false;
    const std::size_t room = std::min(budget.bytes, agent.channel.lines().space().size());
    const std::size_t wanted = std::min(unread, room);
    if (agent.channel.read(wanted) != Channel::Read::bytes) return true;
    unread -= wanted;
    budget.bytes -= wanted;
  }
  return false;
}

// Handles the agent's last line, if it has no newline, and then reports the agent's exit. All
// earlier lines of the agent have been handled before.
void Agents::bury(Running& agent) {
  end_output(agent);
  const Generation generation = agent.generation;
  sink_(ProcessExited{generation, *agent.ending});
  std::erase_if(running_, [generation](const auto& one) { return one->generation == generation; });
}

}  // namespace upgrader
