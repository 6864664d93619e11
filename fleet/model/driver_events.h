// The events and actions of a driver. They are the same for a rollout, a plan and a desired
// version.
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
  std::optional<Ms> until = {};  // no value if only news can change anything

  bool operator==(const Wait&) const = default;
};

struct Write {
  Transaction transaction = {};
  std::string news = {};  // a line for people if something ends or begins

  bool operator==(const Write&) const = default;
};

// Nothing is left to drive.
struct Over {
  std::string why = {};
  bool loud = false;

  bool operator==(const Over&) const = default;
};

// The time to live of the lease of a driver's key. Another controller adopts a rollout within this
// time and 2 s.
inline constexpr Ms driver_lease_ms = 15'000;
// The time between two questions to a store that does not answer.
inline constexpr Ms store_retry_ms = 1'000;

// A round of questions to the gates of a rollout is to begin. The driver does not wait for the
// answers: it goes on meanwhile.
struct AskGates {
  std::int64_t round = 0;
  std::vector<std::string> gates = {};
  // what the gates are asked about
  std::string rollout = {};
  std::string component = {};
  std::string version = {};
  std::int64_t batch = 0;  // from 1

  bool operator==(const AskGates&) const = default;
};

// ---- events

// The driving begins. `wall` is the time of the wall clock, for windows, or no value if nobody
// knows it.
struct BeginDriving {
  std::optional<UnixSeconds> wall = {};
};
struct TransactionEnded {
  Outcome outcome = {};
};
// The store has answered WantReading with everything that it asked for.
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
// The lease of the driver's key has ended, or may have ended: its time is counted from the moment
// before the question that renewed it last.
struct LeaseLost {
  std::string why = {};
};
// A watched key was written, or erased as of `revision`. If `more` is true, another change follows
// at once, and nothing is decided in between: a decision costs more than taking in a change, and a
// thousand nodes may report in one moment.
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
// Asks for the records of these keys and of all keys below them, at one revision; from then on
// their changes are watched.
struct WantReading {
  std::vector<std::string> prefixes = {};

  bool operator==(const WantReading&) const = default;
};
struct GrantLease {
  Ms ttl_ms = 0;

  bool operator==(const GrantLease&) const = default;
};
// A line for the log, events and notifications.
struct Tell {
  bool loud = false;
  std::string text = {};

  bool operator==(const Tell&) const = default;
};
// The last action: the machine takes no more events. Its owner has to revoke the lease of the
// driver's key.
struct EndDriving {
  std::string why = {};

  bool operator==(const EndDriving&) const = default;
};

using DriverAction = std::variant<Commit, WantReading, GrantLease, AskGates, Tell, EndDriving>;
using DriverActions = std::vector<DriverAction>;

// The next step of a driver, as its task decides.
using DriverStep = std::variant<Wait, GrantLease, AskGates, Write, Over>;

}  // namespace fleet
