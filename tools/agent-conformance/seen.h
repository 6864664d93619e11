// The events that a check gets from its caller, and the orders to the caller that the check
// returns. The names of events are in the past tense, and the names of orders are imperatives.
// Agents are numbered from 0 in the order in which they are started.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace conformance {

// ---- facts about an agent's processes, as /proc shows them

struct ProcessFacts {
  int pid = 0;
  std::string name;
  bool is_agent = false;      // the agent's main process, not a descendant
  bool sleeps = false;        // the process neither runs nor waits for a processor
  bool has_executed = false;  // the process has called exec since its fork
  bool has_output = false;    // the process has the pipe for the agent's messages open
  // True if the environment of the process has a variable whose name begins with AGENT_PROTOCOL.
  bool has_variables = false;
  bool has_lock = false;             // the process has the upgrader's lock open
  bool lock_on_exec = false;         // programs that the process executes inherit the lock, too
  std::vector<std::string> listens;  // the addresses on which the process listens
};

struct Facts {
  bool alive = false;         // the agent's main process has not exited
  bool input_closed = false;  // no process has the reading end of the agent's input open
  std::vector<ProcessFacts> processes;
};

// ---- events that a check gets

struct Started {
  int pid = 0;
};
struct NotStarted {
  std::string why;
};
// A line on the agent's standard output, without its newline.
struct Line {
  enum class End : std::uint8_t { newline, output, too_long };
  std::string bytes;  // the line; only its beginning if the line is too long
  End end = End::newline;
};
struct ErrorLine {
  std::string bytes;  // a line on the agent's standard error
};
struct OutputClosed {};
struct Exited {
  int status = 0;
  int signal = 0;
};
struct InputTaken {};  // the agent has read all bytes that were sent to it
struct Looked {
  std::shared_ptr<const Facts> facts;
};
struct Traced {
  std::string line;  // a line of strace's output
};
struct TraceEnded {};
struct TimeUp {};

struct Event {
  int agent = 0;
  std::variant<Started, NotStarted, Line, ErrorLine, OutputClosed, Exited, InputTaken, Looked,
               Traced, TraceEnded, TimeUp>
      what;
};

// ---- orders that a check returns

struct Start {
  bool alone = false;    // start the agent without AGENT_PROTOCOL, as if no upgrader existed
  bool traced = false;   // run the agent under strace
  bool locked = false;   // pass the descriptor of a lock to the agent
  bool clogged = false;  // fill the agent's output pipe before its start
};
struct Write {
  std::string bytes;
  bool bytewise = false;  // after each byte, wait until the agent has read it
};
struct HangUp {};  // close the agent's input
struct Signal {
  int number = 0;
};
struct TellWhenTaken {};
struct Look {};
struct Clog {};  // fill the agent's output pipe, and stop reading from it
struct Unclog {};

struct Order {
  int agent = 0;
  std::variant<Start, Write, HangUp, Signal, TellWhenTaken, Look, Clog, Unclog> what;
};

using Orders = std::vector<Order>;

// Combines several function objects, one for each kind of event or order, into one function object
// for std::visit.
template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;  // clang 14 needs this deduction guide

}  // namespace conformance
