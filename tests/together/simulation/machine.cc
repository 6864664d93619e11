#include "tests/together/simulation/machine.h"

#include <algorithm>
#include <climits>
#include <csignal>
#include <utility>

#include "tests/together/simulation/agent_double.h"

namespace upgrader::simulation {

Machine* the_machine = nullptr;

// ---- a process

Process::Process(Machine& its_machine, pid_t its_pid, Generation its_generation,
                 std::string its_path)
    : machine(its_machine), pid(its_pid), generation(its_generation), path(std::move(its_path)) {}

Process::~Process() = default;

void Process::say(std::string_view line, Meaning meaning) {
  if (life != Life::running || !output.writer) return;
  outbox += line;
  said += line.size();
  spoken.push_back({said, std::move(meaning)});
}

void Process::say(const agent_protocol::AgentMessage& message) {
  const auto line = agent_protocol::encode(message);
  if (line) say(line.value(), message);
}

void Process::push(std::size_t bytes_max) {
  if (life != Life::running || !output.writer) return;
  const std::size_t room = output.capacity - std::min(output.capacity, output.bytes.size());
  const std::size_t count = std::min({bytes_max, room, outbox.size()});
  output.bytes.append(outbox, 0, count);
  outbox.erase(0, count);
  written += count;
}

void Process::close_output() {
  output.writer = false;
  outbox.clear();
}

void Process::close_input() {
  input.reader = false;
  input.bytes.clear();
}

void Process::end(Ending how) {
  if (life != Life::running) return;
  life = Life::zombie;
  ending = how;
  killed_at.reset();
  outbox.clear();
  close_input();
  if (!output_inherited) output.writer = false;
  machine.raise(SIGCHLD);
}

void Process::kill(Duration delay) {
  if (life == Life::running && !killed_at) killed_at = machine.now() + delay;
}

// ---- the machine

Machine::Machine(const Swarm& its_swarm, std::uint64_t seed) : random(seed), swarm(its_swarm) {}

std::optional<Time> Machine::next() const {
  std::optional<Time> earliest;
  const auto consider = [&](const std::optional<Time>& at) {
    if (at && (!earliest || *at < *earliest)) earliest = at;
  };
  for (const auto& process : processes_) {
    if (process->life != Process::Life::running) continue;
    consider(process->killed_at);
    consider(process->agent->wakes());
  }
  for (const ScheduledSignal& scheduled : scheduled_)
    consider(scheduled.at);
  consider(operators.next());
  return earliest;
}

bool Machine::step(Time limit) {
  const std::optional<Time> at = next();
  if (!at || *at > limit) return false;
  pass_to(*at);
  for (std::size_t i = 0; i < scheduled_.size(); ++i) {
    if (scheduled_[i].at > *at) continue;
    raise(scheduled_[i].signal);
    scheduled_.erase(scheduled_.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }
  if (const auto comes = operators.next(); comes && *comes <= *at) {
    operators.act();
    return true;
  }
  for (const auto& process : processes_) {
    if (process->life != Process::Life::running) continue;
    if (process->killed_at && *process->killed_at <= *at) {
      process->end({Ending::How::signalled, SIGKILL});
      return true;
    }
    const std::optional<Time> wakes = process->agent->wakes();
    if (!wakes || *wakes > *at) continue;
    process->agent->act();
    return true;
  }
  return true;
}

void Machine::hold_up(Duration duration) {
  const Time until = now_ + duration;
  while (step(until)) {
  }
  pass_to(until);
}

void Machine::jostle() {
  if (swarm.jostles == 0 || calm || !random.chance(swarm.jostles)) return;
  pass_to(now_ + Duration(random.between(0, 1)));
  step(now_);
}

Process* Machine::start(const std::string& path) {
  auto process = std::make_unique<Process>(*this, next_pid_++, next_generation, path);
  process->agent = std::make_unique<AgentDouble>(*process);
  processes_.push_back(std::move(process));
  return processes_.back().get();
}

Process* Machine::find(pid_t pid) const {
  for (const auto& process : processes_) {
    if (process->pid == pid) return process.get();
  }
  return nullptr;
}

Process* Machine::of(Generation generation) const {
  for (auto at = processes_.rbegin(); at != processes_.rend(); ++at) {
    if ((*at)->generation == generation) return at->get();
  }
  return nullptr;
}

int Machine::open(Descriptor descriptor) {
  descriptors_.emplace(next_fd_, descriptor);
  if (descriptor.what == Descriptor::What::control) operators.pipe.opened(next_fd_);
  return next_fd_++;
}

bool Machine::close(int fd) {
  const auto found = descriptors_.find(fd);
  if (found == descriptors_.end()) return false;
  const Descriptor closed = found->second;
  descriptors_.erase(found);
  if (closed.what == Descriptor::What::input) closed.process->input.writer = false;
  if (closed.what == Descriptor::What::output) closed.process->output.reader = false;
  if (closed.what == Descriptor::What::control) operators.pipe.closed(fd);
  return true;
}

const Descriptor* Machine::at(int fd) const {
  const auto found = descriptors_.find(fd);
  return found == descriptors_.end() ? nullptr : &found->second;
}

std::size_t Machine::open_count(Descriptor::What what) const {
  return static_cast<std::size_t>(
      std::count_if(descriptors_.begin(), descriptors_.end(),
                    [what](const auto& entry) { return entry.second.what == what; }));
}

bool Machine::readable(int fd) const {
  const Descriptor* found = at(fd);
  if (found == nullptr) return false;
  if (found->what == Descriptor::What::signals) return pending_signals_ != 0;
  if (found->what == Descriptor::What::control) return operators.pipe.readable(fd);
  if (found->what != Descriptor::What::output) return false;
  const Pipe& pipe = found->process->output;
  return !pipe.bytes.empty() || !pipe.writer;
}

bool Machine::writable(int fd) const {
  const Descriptor* found = at(fd);
  if (found == nullptr || found->what != Descriptor::What::input) return false;
  const Pipe& pipe = found->process->input;
  return !pipe.reader || pipe.bytes.size() + PIPE_BUF <= pipe.capacity;
}

// Returns the pending signal with the lowest number. The kernel, too, delivers that one first.
int Machine::take_signal() {
  for (int signal = 1; signal < 64; ++signal) {
    const std::uint64_t bit = 1ULL << static_cast<unsigned>(signal);
    if ((pending_signals_ & bit) == 0) continue;
    pending_signals_ &= ~bit;
    return signal;
  }
  return 0;
}

}  // namespace upgrader::simulation
