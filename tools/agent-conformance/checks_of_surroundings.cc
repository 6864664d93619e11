// Checks an agent's children, descriptors and sockets, which can be seen from outside, and the
// agent's behavior without an upgrader.
#include <algorithm>

#include "tools/agent-conformance/checks.h"
#include "tools/agent-conformance/messages.h"
#include "tools/agent-conformance/script.h"

namespace conformance {

namespace {

using What = Step::What;

constexpr int looks = 3;

std::string who(const ProcessFacts& process) {
  return "process " + std::to_string(process.pid) + " (" + process.name + ")";
}

Script looked_at(const Terms& terms) {
  Script script = active();
  for (int i = 0; i < looks; ++i) {
    script.push_back(watch(terms.watch));
    script.push_back(look(0));
  }
  return script;
}

// ---- the pipes and the environment that an agent's children inherit

// Returns true if process `pid` keeps the agent's output pipe open. Counts only a sleeping process:
// a forked child that is about to exec has the pipe open for a moment, but does not sleep.
bool holds_output(const Facts& facts, int pid) {
  return std::any_of(facts.processes.begin(), facts.processes.end(), [&](const ProcessFacts& it) {
    return it.pid == pid && it.sleeps && it.has_output;
  });
}

// Finds a child of the agent that holds the agent's output pipe. The agent's processes are looked
// at several times. The first look is ignored, because on a busy machine a child may still be
// starting at that time. A child is found only if it sleeps and holds the pipe in each later look.
Judgement judge_children_pipes(const Lives& lives, Time) {
  const auto& seen = lives[0].looks;
  for (const ProcessFacts& process : seen.back().processes) {
    const bool always = std::all_of(seen.begin() + 1, seen.end(), [&](const Facts& facts) {
      return holds_output(facts, process.pid);
    });
    if (process.is_agent || !always) continue;
    return {.fault = Fault{.came = "its child, " + who(process) +
                                   ", holds the pipe on which the agent speaks"}};
  }
  return {};
}

Check private_pipes() {
  return {
      .name = "private-pipes",
      .doing =
          "The agent works for a while, and the processes that it has started are looked at; then "
          "it is stopped, and its output read to the end.",
      .expected = "No other process has the pipe on which it speaks.",
      .quotes = {{"CHANNEL",
                  "An agent must not let its own children use the two pipes, and must "
                  "not print anything but messages to them."},
                 {"CHANNEL",
                  "A good way is to do the following before anything else: move descriptors 0 and "
                  "1 to other, close-on-exec descriptors, open /dev/null as descriptor 0, and make "
                  "descriptor 1 a copy of 2."}},
      .needs = {"exit"},
      .script = [](const Terms& terms) {
        return join({looked_at(terms),
                     {examine(judge_children_pipes)},
                     stopped_for_upgrade(terms),
                     {await(0, What::exit), await(0, What::closed)}});
      }};
}

Judgement judge_children_environment(const Lives& lives, Time) {
  for (const Facts& facts : lives[0].looks) {
    for (const ProcessFacts& process : facts.processes) {
      if (process.is_agent || !process.has_executed || !process.has_variables) continue;
      return {.fault = Fault{.came = "its child, " + who(process) +
                                     ", has AGENT_PROTOCOL in its environment"}};
    }
  }
  return {};
}

Check private_environment() {
  return {
      .name = "private-environment",
      .doing = "The agent works for a while, and the processes that it has started are looked at.",
      .expected = "None of them has a variable whose name begins with AGENT_PROTOCOL.",
      .quotes = {{"CHANNEL",
                  "An agent removes the variables AGENT_PROTOCOL* from its "
                  "environment before it starts any other program."}},
      .needs = {"activate"},
      .script = [](const Terms& terms) {
        return join({looked_at(terms), {examine(judge_children_environment)}});
      }};
}

// ---- the check that the agent keeps the upgrader's lock open

constexpr Quote lock_quote{"ENVIRONMENT",
                           "An agent marks the descriptor close-on-exec and keeps it open, so that "
                           "the lock is held for as long as an agent lives, even if the upgrader "
                           "has died."};

Judgement judge_lock(const Lives& lives, Time) {
  const auto& processes = lives[0].looks.back().processes;
  const auto holder = std::find_if(processes.begin(), processes.end(),
                                   [](const ProcessFacts& it) { return it.has_lock; });
  if (holder == processes.end()) {
    return {.fault = Fault{.came = "it has closed the descriptor of the lock"}};
  }
  if (!holder->lock_on_exec) return {};
  return {.notes = {"it has not marked the descriptor of the lock close-on-exec, so that what it "
                    "starts may hold the lock too (a shell cannot do better)"}};
}

Check keeps_lock() {
  return {.name = "lock",
          .doing =
              "The agent is started with the descriptor of a lock, whose number "
              "AGENT_PROTOCOL_LOCK_FD tells, and works for a while.",
          .expected = "The agent keeps that descriptor open.",
          .quotes = {lock_quote},
          .needs = {"activate"},
          .script = [](const Terms& terms) {
            return join({active(Start{.locked = true}),
                         {watch(terms.watch), look(0), examine(judge_lock)}});
          }};
}

// ---- the check that an agent that has stopped no longer listens, and the check of an agent
// without an upgrader

std::vector<std::string> listening(const Facts& facts) {
  std::vector<std::string> addresses;
  for (const ProcessFacts& process : facts.processes)
    addresses.insert(addresses.end(), process.listens.begin(), process.listens.end());
  return addresses;
}

Judgement judge_still_listening(const Lives& lives, Time) {
  const std::vector<std::string> before = listening(lives[0].looks.front());
  for (const std::string& address : listening(lives[0].looks.back())) {
    if (std::find(before.begin(), before.end(), address) == before.end()) continue;
    return {.fault = Fault{.came = "it had said stopped, and still listened on " + address}};
  }
  return {};
}

Judgement stop_if_it_listens(const Terms& terms, const Lives& lives) {
  if (listening(lives[0].looks.back()).empty()) return {.notes = {"it listens on nothing"}};
  return {.more = join({stopped_for_upgrade(terms), {look(0), examine(judge_still_listening)}})};
}

Check gives_port_up() {
  return {
      .name = "port-given-up",
      .doing = "The agent works for a while; if it listens on an address then, it is told to stop.",
      .expected = "The agent has stopped listening when it says stopped.",
      .quotes = {{"SERVING A PORT",
                  "The agent makes the socket itself, when it receives activate and "
                  "not before, and closes the socket before it says stopped."}},
      .needs = {"stop"},
      .script = [](const Terms& terms) {
        return join(
            {active(), {watch(terms.watch), look(0), examine([terms](const Lives& lives, Time) {
                          return stop_if_it_listens(terms, lives);
                        })}});
      }};
}

Check alone() {
  return {.name = "alone",
          .doing =
              "The agent is started without AGENT_PROTOCOL, left to work for a while, and sent "
              "SIGTERM.",
          .expected = "The agent works, writes no message, and SIGTERM ends it.",
          .quotes = {{"CHANNEL",
                      "If AGENT_PROTOCOL is absent, there is no upgrader: the program "
                      "runs alone, and its input and output are not connected to an "
                      "upgrader."}},
          .needs = {},
          .script = [](const Terms& terms) -> Script {
            return {start_first("", Start{.alone = true}), watch(terms.watch * 2), send_sigterm(0),
                    await(0, What::exit)};
          }};
}

}  // namespace

std::vector<Check> checks_of_surroundings() {
  return {private_pipes(), private_environment(), keeps_lock(), gives_port_up(), alone()};
}

}  // namespace conformance
