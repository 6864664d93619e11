// The steps of a scripted run of the upgrader: see run.h. run_start.cc begins the run, and
// run_end.cc judges its end when the upgrader has exited.
#include "tests/adversity/fault/run.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "tests/together/integration/process_table.h"
#include "tests/together/integration/puppet_rules.h"

namespace fault {
namespace {

// The test checks once a millisecond whether the upgrader waits without a time limit. The upgrader
// counts as idle when this number of consecutive checks have found that it does.
constexpr int idle_looks_wanted = 2;

// The upgrader repeats some calls until they succeed. The fault strikes such a call this many
// times, and then lets the call succeed.
constexpr int tries_in_vain = 12;

// The upgrader must notice an agent's action within this number of checks, one a millisecond.
constexpr int notice_looks_max = 10;

std::string member_of(const std::string& line, const std::string& name) {
  const std::string opening = "\"" + name + "\":\"";
  const std::size_t begin = line.find(opening);
  if (begin == std::string::npos) return "";
  const std::size_t from = begin + opening.size();
  return line.substr(from, line.find('"', from) - from);
}

std::string message(std::string_view type, std::string_view members) {
  std::string text = "{\"type\":\"" + std::string(type) + "\"";
  if (!members.empty()) text += "," + std::string(members);
  return text + "}\n";
}

}  // namespace

bool Play::has(std::string_view option) const {
  return std::find(options.begin(), options.end(), option) != options.end();
}

Report Run::perform() {
  set_up();
  while (tracer_->alive()) {
    if (step_once()) continue;
    if (std::chrono::steady_clock::now() > deadline_) {
      violation("it hangs: " + story());
      kill(tracer_->upgrader(), SIGKILL);
      deadline_ += std::chrono::seconds(5);
    }
    pump(1);
  }
  pump(0);
  look_at_the_end();
  return report_;
}

bool Run::step_once() {
  if (tracer_->take_stops()) return true;
  // An upgrader that repeats a failing call never comes to rest. So after some tries, the tracer
  // lets the call succeed.
  if (tries_for_ever() && tracer_->times_fired() >= tries_in_vain) tracer_->stop_faults();
  pump(0);
  if (!tracer_->at_rest() || !all_quiet()) return false;
  const pid_t spared = tracer_->spared();
  // The test kills the process `spared` only while the upgrader is its parent. Once the upgrader
  // has reaped it, an unrelated process may have its pid.
  if (spared != 0 && !has_ended(spared) && integration::parent_of(spared) == tracer_->upgrader()) {
    // The upgrader wanted to kill this agent, but the fault made its kill() fail. So the test kills
    // the agent now.
    kill(spared, SIGKILL);
    await_end(spared);
    return true;
  }
  const bool busy = std::any_of(agents_.begin(), agents_.end(), [](const Agent& agent) {
    return !agent.ended && (!agent.lines.empty() || !agent.steps.empty());
  });
  if (busy) {
    idle_looks_ = 0;
    act();
    return true;
  }
  if (tracer_->break_off_wait()) return true;
  if (!tracer_->waits_for_ever()) idle_looks_ = 0;
  if (!tracer_->waits_for_ever() || ++idle_looks_ < idle_looks_wanted) return false;
  idle_looks_ = 0;
  idle();
  return false;
}

// ---- messages from the agents

void Run::pump(int timeout_ms) {
  std::vector<pollfd> polled = {{listener_, POLLIN, 0}, {wake_, POLLIN, 0}};
  for (const auto& [socket, pid] : sockets_)
    polled.push_back({socket, POLLIN, 0});
  if (poll(polled.data(), polled.size(), timeout_ms) > 0) {
    char ignored[1024];
    if (polled[1].revents != 0) static_cast<void>(read(wake_, ignored, sizeof ignored) > 0);
    static char packet[1 << 20];
    for (std::size_t index = 2; index < polled.size(); ++index) {
      if (polled[index].revents == 0) continue;
      const ssize_t size = recv(polled[index].fd, packet, sizeof packet, MSG_DONTWAIT);
      if (size > 0) receive(polled[index].fd, {packet, static_cast<std::size_t>(size)});
      if (size == 0 || (size < 0 && errno != EAGAIN)) {
        close(polled[index].fd);
        std::erase_if(sockets_, [&](const auto& entry) { return entry.first == polled[index].fd; });
      }
    }
    if (polled[0].revents != 0) accept_one();
  }
  for (Agent& agent : agents_) {
    if (!agent.ended && has_ended(agent.pid)) agent.ended = true;
  }
  drain_log();
}

void Run::accept_one() {
  const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket >= 0) sockets_.emplace_back(socket, 0);
}

Agent* Run::agent_of(pid_t pid) {
  for (Agent& agent : agents_) {
    if (agent.pid == pid) return &agent;
  }
  return nullptr;
}

void Run::receive(int socket, std::string_view packet) {
  const auto entry = std::find_if(sockets_.begin(), sockets_.end(),
                                  [&](const auto& one) { return one.first == socket; });
  const std::string text(packet.substr(1));
  if (packet[0] == 'I') {
    entry->second = std::atoi(text.c_str());
    if (agent_of(entry->second) == nullptr) {
      agents_.push_back({.pid = entry->second, .number = static_cast<int>(agents_.size()) + 1});
    }
    Agent& fresh = *agent_of(entry->second);
    fresh.socket = socket;
    say_type(fresh, "hello",
             "\"protocol\":1,\"version\":\"" + std::to_string(fresh.number) + ".0\"");
  }
  Agent* agent = agent_of(entry->second);
  if (agent == nullptr) return;
  if (packet[0] == 'A') --agent->unanswered;
  if (packet[0] == 'E') {
    agent->end_of_input = true;
    agent->types.emplace_back("(end)");
    // The agent has seen the end of its input. If the upgrader is still alive, the pipe between
    // them has broken, and the agent exits now. If the upgrader has exited, run_end.cc ends the
    // agent.
    if (tracer_->alive()) agent->steps.push_back({.deed = Step::Deed::exit});
  }
  if (packet[0] == 'L') {
    ++agent->heard;
    agent->lines.push_back(text);
  }
  if (setting_.shows && packet[0] != 'I' && packet[0] != 'A') {
    printf("                 agent %d hears %s\n", agent->number,
           packet[0] == 'E' ? "the end of its input" : text.c_str());
  }
}

bool Run::quiet(const Agent& agent) const {
  if (agent.ended) return true;
  if (agent.socket < 0 || agent.unanswered > 0) return false;
  if (agent.end_of_input) return true;
  return !tracer_->has_closed(agent.pipe) && agent.heard == tracer_->lines_sent(agent.pipe);
}

bool Run::all_quiet() const {
  return std::all_of(agents_.begin(), agents_.end(),
                     [&](const Agent& agent) { return quiet(agent); });
}

Agent* Run::active() {
  for (Agent& agent : agents_) {
    if (agent.active && !agent.ended && !agent.end_of_input) return &agent;
  }
  return nullptr;
}

// ---- the steps that the scripted agents take

// Lets one agent act once. If agents still have steps to take, the oldest of these agents takes its
// next step. Otherwise, the oldest agent that has read messages reacts to the first of them.
void Run::act() {
  for (Agent& agent : agents_) {
    if (!agent.ended && !agent.steps.empty()) return take_step(agent);
  }
  for (Agent& agent : agents_) {
    if (agent.ended || agent.lines.empty()) continue;
    const std::string line = agent.lines.front();
    agent.lines.pop_front();
    return react(agent, line);
  }
}

void Run::react(Agent& agent, const std::string& line) {
  const std::string_view type = puppet::type_of(line);
  agent.types.emplace_back(type);
  if (type == "welcome") agent.role = member_of(line, "role");
  if (type == "activate") agent.active = true;
  if (type == "upgrade_failed" || line.find("\"failure\":") != std::string::npos) {
    note_failure(line);
    agent.types.back() += "(" + member_of(line, "stage") + ")";
  }
  if (type == "committed" && probing_) report_.probed = true;
  if (!probing_ && play_.react && play_.react(*this, agent, type)) return;
  react_well(agent, type);
}

void Run::react_well(Agent& agent, std::string_view type) {
  if (type == "welcome") say_type(agent, "ready");
  if (type == "candidate_ready") say_type(agent, "confirm", "\"id\":\"u1\"");
  if (type == "stop") exit_after(agent, message("stopped", ""), 0);
}

void Run::note_failure(const std::string& line) {
  if (probing_ || !report_.stage.empty()) return;
  report_.stage = member_of(line, "stage");
  report_.error = member_of(line, "errno");
}

void Run::take_step(Agent& agent) {
  const Step step = agent.steps.front();
  agent.steps.pop_front();
  switch (step.deed) {
    case Step::Deed::say:
      return order(agent, "say " + step.text);
    case Step::Deed::close_output:
      return order(agent, "close-output");
    case Step::Deed::exit:
      return end_agent(agent, "exit " + std::to_string(step.status));
    case Step::Deed::say_and_exit:
      break;
  }
  // The agent's message wakes the upgrader. The tracer then stops the upgrader until the agent has
  // exited, so that in every run the upgrader finds the message and the exit together.
  tracer_->hold();
  order(agent, "say " + step.text);
  for (int look = 0; tracer_->alive() && !tracer_->held() && look < notice_looks_max;) {
    tracer_->take_stops();
    // The upgrader gets `notice_looks_max` chances to notice the message. A check counts as a
    // chance only if the agent has written the message, and the upgrader still sleeps.
    if (agent.unanswered == 0 && tracer_->at_rest()) ++look;
    if (!tracer_->held()) pump(1);
  }
  end_agent(agent, "exit " + std::to_string(step.status));
  tracer_->release();
}

void Run::order(Agent& agent, const std::string& text) {
  if (setting_.shows) printf("                 agent %d: %s\n", agent.number, text.c_str());
  ++agent.unanswered;
  if (send(agent.socket, text.data(), text.size(), MSG_NOSIGNAL) < 0) --agent.unanswered;
}

void Run::end_agent(Agent& agent, const std::string& order_text) {
  if (setting_.shows) printf("                 agent %d: %s\n", agent.number, order_text.c_str());
  if (send(agent.socket, order_text.data(), order_text.size(), MSG_NOSIGNAL) < 0) return;
  await_end(agent.pid);
  agent.ended = true;
}

void Run::say(Agent& agent, std::string text) {
  agent.steps.push_back({.deed = Step::Deed::say, .text = std::move(text)});
}

void Run::say_type(Agent& agent, std::string_view type, std::string_view members) {
  say(agent, message(type, members));
}

void Run::exit_after(Agent& agent, std::string text, int status) {
  agent.steps.push_back(
      {.deed = Step::Deed::say_and_exit, .text = std::move(text), .status = status});
}

void Run::stop_slowly(Agent& agent) {
  say_type(agent, "stopped", "\"state\":\"at 7\"");
  agent.steps.push_back({.deed = Step::Deed::close_output});
  agent.steps.push_back({.deed = Step::Deed::exit});
}

void Run::request_upgrade(std::string_view members, std::string_view program) {
  Agent* agent = active();
  if (agent == nullptr) return;
  std::string all = "\"id\":\"" + std::string(probing_ ? "u2" : "u1") + "\",\"executable\":\"" +
                    path(program) + "\"";
  if (!members.empty()) all += "," + std::string(members);
  say_type(*agent, "upgrade", all);
}

// ---- events that the run causes when the upgrader and all agents wait

void Run::signal(int number) {
  if (setting_.shows) printf("                 the upgrader gets signal %d\n", number);
  if (number == SIGTERM || number == SIGINT || number == SIGQUIT) enter_end(number);
  kill(tracer_->upgrader(), number);
}

void Run::enter_end(int number) {
  if (!over_) finish_upgrade();
  if (report_.end_signal == 0) report_.end_signal = number;
  tracer_->enter_end();
}

// Writes an operator's request to the FIFO. Returns false if the FIFO has no reader.
bool Run::ask_as_operator(const std::string& line) {
  if (setting_.shows) printf("                 an operator: %s\n", line.c_str());
  const int fd = open(path("control/control").c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  if (puppet::type_of(line) == "shutdown") enter_end(SIGTERM);
  const std::string text = line + "\n";
  const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(fd);
  return written;
}

// Ends the part of the run whose messages are compared with those of the run without a fault.
// Records the messages that the agents have received so far, and stops the faults.
void Run::finish_upgrade() {
  over_ = true;
  tracer_->stop_faults();
  report_.at_goal = story();
  Agent* serving = active();
  if (serving == nullptr) return;
  report_.served = serving->pid;
  report_.served_is_fallback = serving->role == "fallback";
}

void Run::idle() {
  if (!begun_) {
    if (active() == nullptr) return;
    begun_ = true;
    if (play_.begin) return play_.begin(*this);
  }
  const Texts requests = play_.requests ? play_.requests(*this) : Texts();
  if (!over_ && !report_.deaf && asked_ < requests.size()) {
    report_.deaf = !ask_as_operator(requests[asked_++]);
    if (!report_.deaf) return;
    if (active() != nullptr && play_.without_operator) return play_.without_operator(*this);
  }
  if (!over_) {
    finish_upgrade();
    if (tracer_->fired() && active() != nullptr) return probe();
  }
  if (probing_ && !report_.probed) {
    violation("a further upgrade was not committed: " + story());
  }
  if (init_awaits_ready()) return;  // SIGTERM is sent only after READY=1
  if (report_.end_signal == 0) signal(SIGTERM);
}

// Requests one more upgrade, to see whether the upgrader still works. If the upgrader has a control
// directory that works, an operator makes this request; otherwise the active agent makes it.
void Run::probe() {
  constexpr auto terms = R"("mode":"parallel","gate":"none","commit":"survive","trial_ms":0)";
  probing_ = true;
  if (!play_.has("--control=") || report_.deaf) return request_upgrade(terms);
  const std::string members =
      R"("request":"probe","id":"u2","executable":")" + path("two") + "\"," + terms;
  report_.deaf = !ask_as_operator(R"({"type":"upgrade",)" + members + "}");
  if (report_.deaf) request_upgrade(terms);
}

bool Run::init_was_full() const {
  return fault_ && tracer_->fired() && fault_->call == "sendto.init" &&
         (fault_->what == "EAGAIN" || fault_->what.starts_with("ENOBUFS"));
}

// Returns true if the upgrader repeats the failing call without limit, as it does when init's
// socket is full or when it cannot open the FIFO.
bool Run::tries_for_ever() const {
  if (init_was_full()) return true;
  if (!fault_ || !fault_->lasts() || !play_.has("--control=")) return false;
  return fault_->what == "EMFILE+" || fault_->call == "write.news";
}

// Returns true if init's socket was full and READY=1 has not reached init. In this case, the
// upgrader must still send READY=1.
bool Run::init_awaits_ready() const {
  return init_was_full() && !init_heard_ready_;
}

std::string Run::story() const {
  std::string text;
  for (const Agent& agent : agents_) {
    // Leaves out an agent that ended before it had read a message.
    if (agent.types.empty() && agent.ended) continue;
    if (!text.empty()) text += "; ";
    text += agent.role.empty() ? "an agent" : agent.role;
    for (const std::string& type : agent.types)
      text += " " + type;
  }
  return text;
}

void Run::violation(const std::string& what) {
  if (setting_.shows) printf("VIOLATION: %s\n", what.c_str());
  report_.violations.push_back(what);
}

}  // namespace fault
