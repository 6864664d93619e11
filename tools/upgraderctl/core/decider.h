// The events and orders of a command that watches a control directory and waits. A Decider only
// makes decisions. runner.h does the input and output: it reads the directory, and carries out the
// orders that the Decider returns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agent-protocol/cpp/control/look.h"

namespace upgraderctl {

// ---- events that a Decider gets
struct Looked {
  Look look;
  Moment wall;
};
struct Wrote {
  WriteOutcome outcome = WriteOutcome::written;
};
// The upgrader has exited: no process has the FIFO open for reading any more.
struct ReaderGone {};
// The peak memory of the candidate in a rehearsal, in which the candidate is started but never
// activated. Absent if /proc does not show the peak memory.
struct Measured {
  std::optional<std::int64_t> kib;
};
struct Interrupted {
  int signal = 0;
};
struct TimePassed {};
using Happening = std::variant<Looked, Wrote, ReaderGone, Measured, Interrupted, TimePassed>;

// ---- orders that a Decider returns
struct Send {
  std::string line;
  bool operator==(const Send&) const = default;
};
struct Measure {
  std::int64_t pid = 0;
  bool operator==(const Measure&) const = default;
};
struct Say {
  std::string text;
  bool operator==(const Say&) const = default;
};
struct Finish {
  int status = 0;
  std::string text;
  bool operator==(const Finish&) const = default;
};
using Order = std::variant<Send, Measure, Say, Finish>;
using Orders = std::vector<Order>;

template <class Ordered>
void add(Orders& orders, Ordered ordered) {
  orders.emplace_back(std::in_place_type<Ordered>, std::move(ordered));
}

class Decider {
 public:
  virtual ~Decider() = default;

  // Returns the first orders. Must be called once, before step().
  [[nodiscard]] virtual Orders start(Duration now) = 0;

  // Returns the orders that follow from an event at the time `now`. `now` must not be earlier than
  // in the previous call. After the order Finish, no more orders are returned.
  [[nodiscard]] virtual Orders step(const Happening& happening, Duration now) = 0;

  // Returns the time at which step() must be called with TimePassed.
  [[nodiscard]] virtual std::optional<Duration> next_deadline() const = 0;
};

}  // namespace upgraderctl
