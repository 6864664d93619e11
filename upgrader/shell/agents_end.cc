// How agents end: who has ended is reaped, then says what it had said last, then is told as ended.
#include <algorithm>

#include "upgrader/shell/agents.h"

namespace upgrader {

void Agents::take_in_exits() {
  // All are reaped before the first is told, and the newest is told first: so nothing is activated
  // that the kernel has said is dead.
  for (const auto& agent : running_)
    look_for_end(*agent);
  bury_the_dead({.bytes = look_bytes_max});
}

void Agents::reap_strangers() {
  for (int reaped = 0; reaped < strangers_a_turn; ++reaped) {
    const std::optional<pid_t> ended = ended_child();
    // An agent that has ended just now has sent a signal of its own.
    if (!ended || is_agent(*ended) || !try_reap(*ended)) return;
  }
  strangers_left_ = true;
  start_backlog();
}

bool Agents::is_agent(pid_t pid) const {
  return std::any_of(running_.begin(), running_.end(),
                     [pid](const auto& agent) { return !agent->ending && agent->pid == pid; });
}

// Reaps it if it has ended, and notes how much it has said by then.
void Agents::look_for_end(Running& agent) {
  if (agent.ending) return;
  agent.ending = try_reap(agent.pid);
  if (agent.ending) agent.last_words = std::min(agent.channel.held(), last_words_bytes_max);
}

// The newest first. If one has said more than a turn may read, the rest is read in the next turn,
// and all older ones wait until then.
void Agents::bury_the_dead(const Budget& budget) {
  for (;;) {
    const auto newest = std::find_if(running_.rbegin(), running_.rend(),
                                     [](const auto& agent) { return agent->ending.has_value(); });
    if (newest == running_.rend()) return;
    Running& agent = **newest;
    if (!take_last_words(agent, budget)) {
      agent.channel.watch_output(false);
      start_backlog();
      return;
    }
    bury(agent);
  }
}

// False if there is more than there was room for.
bool Agents::take_last_words(Running& agent, Budget budget) {
  for (int taken = 0; taken < budget.lines;) {
    if (const auto line = agent.channel.lines().next()) {
      take_line(agent, *line);
      ++taken;
      continue;
    }
    if (agent.last_words == 0) return true;
    if (budget.bytes == 0) return false;
    const std::size_t room = std::min(budget.bytes, agent.channel.lines().space().size());
    const std::size_t wanted = std::min(agent.last_words, room);
    if (agent.channel.read(wanted) != Channel::Read::bytes) return true;
    agent.last_words -= wanted;
    budget.bytes -= wanted;
  }
  return false;
}

// Its last words have been taken: what it had only begun to say, and its end.
void Agents::bury(Running& agent) {
  take_output_end(agent);
  const ProcessExited exited{agent.generation, *agent.ending};
  // Forgotten at once, but closed only when whoever waits for its end has been told.
  const auto place = std::find_if(running_.begin(), running_.end(),
                                  [&](const auto& other) { return other.get() == &agent; });
  const std::unique_ptr<Running> gone = std::move(*place);
  running_.erase(place);
  sink_(exited);
}

}  // namespace upgrader
