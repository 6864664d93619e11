// The events and orders of a command that waits beside a control directory. A Decider decides, and
// is pure; errand_runner.h watches and acts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agent-protocol/cpp/control/look.h"

namespace upgraderctl {

// ---- what happened
struct Looked {
  Look look;
  Moment wall;
};
struct Wrote {
  WriteOutcome outcome = WriteOutcome::written;
};
// Nobody reads the FIFO any more that was opened first: that life of the upgrader is over.
struct ReaderGone {};
// The peak memory of the held candidate, if it could be had.
struct Measured {
  std::optional<std::int64_t> kib;
};
struct Interrupted {
  int signal = 0;
};
struct TimePassed {};
using Happening = std::variant<Looked, Wrote, ReaderGone, Measured, Interrupted, TimePassed>;

// ---- what is to be done
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

  // Once, before all else.
  [[nodiscard]] virtual Orders start(Duration now) = 0;

  // Time only grows. Finish is the last order that is ever given.
  [[nodiscard]] virtual Orders step(const Happening& happening, Duration now) = 0;

  // When TimePassed is next due.
  [[nodiscard]] virtual std::optional<Duration> next_deadline() const = 0;
};

}  // namespace upgraderctl
