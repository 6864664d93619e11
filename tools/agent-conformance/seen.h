// The events that a check may see, and the orders that it may give. Events lie in the past, orders
// are imperatives; an agent is a number, counted from 0 in the order of the starts. Plain data.
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
  std::string bytes;  // of a line that is too long, its beginning
  End end = End::newline;
};
struct ErrorLine {
  std::string bytes;  // on standard error
};
struct OutputClosed {};
struct Exited {
  int status = 0;
  int signal = 0;
};
struct InputTaken {};  // the agent has read all that it was told
struct Looked {
  std::shared_ptr<const Facts> facts;
};
struct Traced {
  std::string line;  // of strace
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
  bool alone = false;    // without AGENT_PROTOCOL
  bool traced = false;   // by strace
  bool locked = false;   // with the descriptor of a lock
  bool clogged = false;  // its output is full from the beginning
};
struct Write {
  std::string bytes;
  bool bytewise = false;  // each byte when the agent has read the one before
};
struct HangUp {};  // closes the agent's input
struct Signal {
  int number = 0;
};
struct TellWhenTaken {};
struct Look {};
struct Clog {};  // fills the agent's output, and reads nothing from it
struct Unclog {};

struct Order {
  int agent = 0;
  std::variant<Start, Write, HangUp, Signal, TellWhenTaken, Look, Clog, Unclog> what;
};

using Orders = std::vector<Order>;

}  // namespace conformance
