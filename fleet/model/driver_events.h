// The events and actions of a driver. They are the same for every kind of driver.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fleet/model/rollout_records.h"
#include "fleet/model/time.h"
#include "fleet/model/time_zone.h"
#include "fleet/model/transaction.h"

namespace fleet {

// ---- steps of a task, one at a time

struct Wait {
  std::optional<Ms> until = {};  // when to decide again; no value: at the next event

  bool operator==(const Wait&) const = default;
};

struct Write {
  Transaction transaction = {};
  std::string news = {};  // a line for the log, or empty

  bool operator==(const Write&) const = default;
};

// The rollout or plan has ended, and the driver with it.
struct Over {
  std::string why = {};
  bool loud = false;

  bool operator==(const Over&) const = default;
};

// The time to live of a driver's lease. If a controller dies, its lease ends within this time, and
// another controller continues the rollout within 2 s after that.
inline constexpr Ms driver_lease_ms = 15'000;
// The time between two tries if the store does not answer.
inline constexpr Ms store_retry_ms = 1'000;

// Asks a rollout's gates once. The driver does not wait for the answers.
struct AskGates {
  std::int64_t round = 0;
  std::vector<std::string> gates = {};
  // Each gate gets the following four members with its question. They tell the gate for which
  // rollout and batch it is asked.
  std::string rollout = {};
  std::string component = {};
  std::string version = {};
  std::int64_t batch = 0;  // the batch's number, counted from 1

  bool operator==(const AskGates&) const = default;
};

// ---- events

// The driver begins. `wall` is the time of the wall clock, for windows, or no value if it is
// unknown or not needed.
struct BeginDriving {
  std::optional<UnixSeconds> wall = {};
};
struct TransactionEnded {
  Outcome outcome = {};
};
// An event: the store has sent all records that WantReading asked for. The event comes again,
// unasked, whenever the watch has ended.
struct ReadingEnded {
  Reading reading = {};
};
struct ReadingFailed {};
struct LeaseGranted {
  LeaseId lease = 0;
};
struct LeaseFailed {};
// The store has renewed the lease of the driver's own key.
struct KeptAlive {
  std::optional<UnixSeconds> wall = {};
};
// The lease of the driver's key has ended or may have ended: its time to live, counted from just
// before the last renewal was sent, is over.
struct LeaseLost {
  std::string why = {};
};
// A watched key was written, or erased at `revision`. If `more` is true, another change follows at
// once, and the driver decides nothing in between: decisions are costly, and a thousand nodes may
// report at the same moment.
struct KeyChanged {
  KeyValue record = {};
  bool more = false;
};
struct KeyErased {
  std::string key = {};
  Revision revision = 0;
  bool more = false;
};
// The controller is about to end.
struct LeaveDriving {};
struct TimePassed {};
struct GatesAnswered {
  std::int64_t round = 0;
  std::vector<GateStand> stands = {};
};

using DriverEvent = std::variant<BeginDriving, TransactionEnded, ReadingEnded, ReadingFailed,
                                 LeaseGranted, LeaseFailed, KeptAlive, LeaseLost, KeyChanged,
                                 KeyErased, LeaveDriving, TimePassed, GatesAnswered>;

// ---- actions

struct Commit {
  Transaction transaction = {};

  bool operator==(const Commit&) const = default;
};
// An action: read all records whose keys begin with one of these prefixes, at one revision, and
// watch all later changes of these keys.
struct WantReading {
  std::vector<std::string> prefixes = {};

  bool operator==(const WantReading&) const = default;
};
struct GrantLease {
  Ms ttl_ms = 0;

  bool operator==(const GrantLease&) const = default;
};
// A line for the controller's log. `loud` marks trouble.
struct Tell {
  bool loud = false;
  std::string text = {};

  bool operator==(const Tell&) const = default;
};
// The driver's last action: it takes no more events. Its owner has to give back the lease of the
// driver's key.
struct EndDriving {
  std::string why = {};

  bool operator==(const EndDriving&) const = default;
};

using DriverAction = std::variant<Commit, WantReading, GrantLease, AskGates, Tell, EndDriving>;
using DriverActions = std::vector<DriverAction>;

// The next step of a driver, as its task has decided.
using DriverStep = std::variant<Wait, GrantLease, AskGates, Write, Over>;

}  // namespace fleet
