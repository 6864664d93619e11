// The judge's checks of the code in upgrader/shell (see judge.h). The judge checks the calls that
// this code makes, the lines that agents read, the event loop, and the upgrader's end. It also
// checks the messages to init: their rate, their order, and that no message that makes init act is
// lost.
#include <algorithm>
#include <climits>
#include <csignal>

#include "tests/together/simulation/judge.h"
#include "upgrader/core/init_messages.h"
#include "upgrader/core/init_news.h"
#include "upgrader/shell/agents.h"

namespace upgrader::simulation {

using namespace agent_protocol;

namespace {

// How many turns the event loop may make without coming to rest, and without an event at a new
// instant. The longest flood of messages takes fewer turns.
constexpr int turns_at_once_max = 20'000;
// How often the code in upgrader/shell may set its timer during one callback, even if the callback
// reads many lines. Each signal begins a new count.
constexpr int timer_settings_max = 4;

}  // namespace

// ---- the calls of the code in upgrader/shell

// Returns the outcome of an action: `asked`, which is a success, unless a guide (guide.h) has
// prescribed a failure. A check of a program uses the next prescribed outcome only if this outcome
// is a failed check.
World Judge::guided_outcome(World asked) {
  using test::EventKind;
  if (machine_.calm || machine_.outcomes.empty()) return asked;
  const EventKind kind = test::kind_of(machine_.outcomes.front());
  if (asked == World::check && kind != EventKind::check_fails) return asked;
  machine_.outcomes.pop_front();
  switch (kind) {
    case EventKind::check_fails:
      return World::check_fails;
    case EventKind::no_way_back:
      return World::no_way_back;
    case EventKind::spawn_refused:
      return World::spawn_refused;
    case EventKind::spawn_fails:
      return World::spawn_fails;
    case EventKind::link_not_put_back:
      return World::link_stays;
    case EventKind::proof_fails:
      return World::proof_fails;
    case EventKind::relink_fails:
      return World::relink_fails;
    default:
      return asked;
  }
}

World Judge::next_outcome(World asked) {
  if (machine_.swarm.guided) return guided_outcome(asked);
  const auto fails = [this](int percent) {
    return !machine_.calm && machine_.random.chance(percent);
  };
  const Swarm& swarm = machine_.swarm;
  switch (asked) {
    case World::check:
      return fails(swarm.check_failures) ? World::check_fails : asked;
    case World::way_back:
      return fails(swarm.lost_ways_back) ? World::no_way_back : asked;
    case World::spawn:
      if (!fails(swarm.spawn_failures)) return asked;
      return fails(50) ? World::spawn_refused : World::spawn_fails;
    case World::link_back:
      return fails(swarm.proof_failures) ? World::link_stays : asked;
    case World::proof:
      return fails(swarm.proof_failures) ? World::proof_fails : asked;
    case World::relink:
      return fails(swarm.relink_failures) ? World::relink_fails : asked;
    default:
      return asked;
  }
}

void Judge::check_start() {
  if (shutdown_) broken("S8: a process is started after SIGTERM");
  const auto& all = machine_.processes();
  const auto unreaped = std::count_if(all.begin(), all.end(), [](const auto& process) {
    return process->life != Process::Life::reaped;
  });
  if (unreaped > 1) broken("S9: a third agent is started");
}

void Judge::signal_sent(Process& process, int signal) {
  if (process.signals_due.empty() || process.signals_due.front() != signal) {
    return broken("S6: a signal that was not ordered");
  }
  process.signals_due.pop_front();
}

void Judge::signal_taken(int signal) {
  timer_settings_ = 0;  // each signal counts as a turn of the loop, so the count begins anew
  if (signal == SIGTERM || signal == SIGINT || signal == SIGQUIT) shutdown_ = true;
  if (signal != SIGCHLD) note("signal " + std::to_string(signal));
}

void Judge::bytes_read(Process& process, std::size_t count) {
  if (looking_ || process.life == Process::Life::reaped) return;
  process.bytes_in_turn += count;
  if (process.bytes_in_turn > read_bytes_a_turn) broken("IO-5: more bytes than a turn may take");
}

// Records bytes that the upgrader has written. An `activate` counts as sent when its newline has
// been written.
void Judge::bytes_written(Process& process, std::string_view bytes) {
  process.taken += bytes.size();
  for (const char byte : bytes) {
    process.incoming += byte;
    if (byte != '\n') continue;
    if (process.incoming.rfind("{\"type\":\"activate\"", 0) == 0) {
      process.activated = agent_was_active_ = true;
    }
    process.incoming.clear();
  }
}

void Judge::timer_set() {
  if (++timer_settings_ > timer_settings_max) broken("the timer is set anew for every line");
}

// ---- what the agents read

void Judge::heard(Process& process, std::string_view line) {
  auto& orders = process.orders;
  while (!orders.empty() && orders.front().may_be_lost &&
         orders.front().line != std::string(line) + "\n") {
    orders.pop_front();
  }
  if (orders.empty() || orders.front().line != std::string(line) + "\n") {
    return broken("an agent hears what was not said to it");
  }
  orders.pop_front();
  if (line.rfind("{\"type\":\"activate\"", 0) != 0) return;
  process.knows_it = true;
  for (const auto& other : machine_.processes()) {
    const bool alive = other.get() != &process && other->life == Process::Life::running;
    if (alive && other->knows_it) broken("S1: two agents know that they are active");
  }
}

std::string Judge::next_request() {
  std::string id = "u";
  for (int left = ++requests_; left > 0; left /= 26)
    id += static_cast<char>('A' + left % 26);
  return id;
}

// ---- the messages to init

// Checks that init gets at most ten messages in a second, whatever agents do. Checks the order of
// the three messages that make init act: READY=1, RELOADING=1 and STOPPING=1.
void Judge::init_told(std::string_view text) {
  if (trace_ != nullptr) note("init is told " + std::string(text.substr(0, text.find('\n'))));
  if (text.starts_with("WATCHDOG=1\n")) return;
  const std::string wrong = init_.hear(text, machine_.now(), agent_was_active_);
  if (!wrong.empty()) broken("Init: " + wrong);
}

// Checks that the upgrader has sent init every message that makes init act, such as STOPPING=1, and
// has asked init for as much time as an agent has got. Checks nothing while init's socket is full.
void Judge::check_init() {
  if (machine_.init_is_full() || supervisor_ == nullptr) return;
  const InitNews news = init_news(supervisor_->state());
  if (init_.has_too_little_time(news, machine_.now())) {
    broken("Init: it is not asked for the time that an agent was given");
  }
  if (supervisor_->phase() == Phase::shutting_down) {
    if (!init_.stopping) broken("Init: it never hears that the upgrader stops");
    return;
  }
  const auto& all = machine_.processes();
  const bool works = std::any_of(all.begin(), all.end(), [](const auto& process) {
    return process->activated && !process->buried && !process->owes_word;
  });
  if (works && !init_.ready) {
    broken("Init: it never hears that an agent is active");
  }
  if (init_.reloading && !supervisor_->state().upgrade && news.active) {
    broken("Init: it never hears that a reload is over");
  }
}

// ---- the upgrader's event loop

void Judge::look_begins() {
  looking_ = true;
  timer_settings_ = 0;
  control_lines_in_turn_ = 0;
  for (const auto& process : machine_.processes()) {
    if (process->buried) continue;
    process->ended_at_look = process->life == Process::Life::zombie;
    const auto held =
        std::count_if(process->spoken.begin(), process->spoken.end(),
                      [&](const auto& spoken) { return spoken.end <= process->written; });
    process->held_at_look = process->told + static_cast<std::size_t>(held);
    const Pipe& input = process->input;
    const bool has_room =
        input.reader && input.writer && input.bytes.size() + PIPE_BUF <= input.capacity;
    process->taken_at_look = has_room ? std::optional(process->taken) : std::nullopt;
  }
}

void Judge::turn_begins() {
  looking_ = false;
  timer_settings_ = 0;
  control_lines_in_turn_ = 0;
  for (const auto& process : machine_.processes()) {
    process->bytes_in_turn = 0;
    process->lines_in_turn = 0;
  }
}

void Judge::turn_ended() {
  turn_begins();
  check_resources();
  if (++turns_at_once_ > turns_at_once_max) broken("it spins");
}

void Judge::check_resources() {
  if (supervisor_ == nullptr || over_) return;
  std::size_t unreaped = 0;
  for (const auto& process : machine_.processes()) {
    if (!process->buried) ++unreaped;
  }
  using What = Descriptor::What;
  if (machine_.open_count(What::input) > unreaped || machine_.open_count(What::output) > unreaped) {
    broken("Resources: a pipe of an agent that has gone is open");
  }
  std::vector<ProgramId> needed = supervisor_->programs();
  std::sort(needed.begin(), needed.end());
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  if (machine_.open_count(What::program) != needed.size()) {
    broken("Resources: a program is open that nobody needs");
  }
}

bool Judge::at_rest(const std::optional<Time>& timer) {
  if (over_) return false;
  turns_at_once_ = 0;
  // An upgrader is busy if it has set a deadline, or if init has set a watchdog, which the upgrader
  // must notify regularly. An idle upgrader may set its timer only for a status text that it has
  // held back from init. Such a text is due within `pace_interval`, so a later timer is an error.
  const bool busy = supervisor_ == nullptr || supervisor_->next_deadline() ||
                    machine_.swarm.watchdog > Duration(0);
  if (timer && !busy && *timer > machine_.now() + pace_interval) {
    broken("it will wake though nothing is to be done");
  }
  if (!timer || *timer > machine_.now() + std::chrono::seconds(1)) {
    check_init();
    check_fifo();
  }
  if (!timer || *timer > machine_.now() + std::chrono::milliseconds(100)) check_control();
  const bool acted = director_.act(supervisor_);
  if (!director_.complaint().empty()) broken(director_.complaint());
  if (!acted && !timer && !machine_.next()) broken("Time: it waits for nothing");
  return acted;
}

// ---- the end of the upgrader

void Judge::run_ended(int status) {
  if (!verdict_.empty()) return;
  check_orders();
  if (!exit_) broken("it ends without having been told to");
  if (exit_ && *exit_ != status) broken("its exit status is not what was decided");
  for (const auto& process : machine_.processes()) {
    if (process->life != Process::Life::reaped) broken("it exits while an agent lives");
  }
  using What = Descriptor::What;
  const bool has_status = machine_.swarm.options.control_directory && started_;
  if (has_status && !status_is_old_) check_status(status_, true);
  if (machine_.operators.pipe.is_open()) broken("Control: the FIFO outlives the upgrader");
  for (const What what : {What::input, What::output, What::signals, What::program, What::control}) {
    if (machine_.open_count(what) != 0) broken("Resources: a descriptor is left open");
  }
  if (!director_.expects_clean_end()) return;
  ++tally_.useful;
  if (status != 0) broken("it was told to stop, and does not exit with 0");
}

}  // namespace upgrader::simulation
