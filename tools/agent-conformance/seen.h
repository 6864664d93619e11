// The events that a check is given, and the orders that it returns. Events have names in the past
// tense, and orders are imperatives. Agents are numbered from 0 in the order of their starts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tools/agent-conformance/facts.h"

namespace conformance {

// ---- events

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

// ---- orders

struct Start {
  bool alone = false;    // start the agent without AGENT_PROTOCOL, as if no upgrader existed
  bool traced = false;   // run the agent under strace
  bool locked = false;   // pass the descriptor of a lock to the agent
  bool clogged = false;  // fill the agent's output pipe before its start
};
struct Write {
  std::string bytes;
  bool bytewise = false;  // write the next byte only when the agent has read the byte before
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

}  // namespace conformance
