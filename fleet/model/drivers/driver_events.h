// This file defines the events and actions of a driver, which are the same for every kind of
// driver.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fleet/model/records/rollout_records.h"
#include "fleet/model/records/time.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

// ---- the steps that a task returns, one at a time

struct Wait {
  std::optional<Ms> until = {};  // when to decide again; no value: at the next event

  bool operator==(const Wait&) const = default;
};

struct Write {
  Transaction transaction = {};
  std::string news = {};  // a line for the log; empty if there is nothing to log

  bool operator==(const Write&) const = default;
};

// This step ends the driver, for example because the rollout has ended. `loud` is true if the log
// has to report the end as trouble.
struct Over {
  std::string why = {};
  bool loud = false;

  bool operator==(const Over&) const = default;
};

// The time to live of the lease of a driver's key. If the driver's controller dies, the store
// erases the key within this time. Another controller then continues the rollout within 2 s.
inline constexpr Ms driver_lease_ms = 15'000;
// How long a driver waits before it continues if the store gives no answer, or has refused the same
// write twice.
inline constexpr Ms store_retry_ms = 1'000;

// In this step the driver asks each gate of a rollout once whether the new version does well. Gates
// are sources of measurements outside the fleet (gates.h). The driver does not wait for the
// answers.
struct AskGates {
  std::int64_t round = 0;
  std::vector<std::string> gates = {};
  // These four members identify the rollout and the batch about which the gate is asked.
  std::string rollout = {};
  std::string component = {};
  std::string version = {};
  std::int64_t batch = 0;  // the batch's number, counted from 1

  bool operator==(const AskGates&) const = default;
};

// ---- events

// The first event of each driver. `wall` is the time of the wall clock, which the driver needs for
// maintenance windows. `wall` has no value if the time is unknown or not needed.
struct BeginDriving {
  std::optional<UnixSeconds> wall = {};
};
struct TransactionEnded {
  Outcome outcome = {};
};
// This event has all records for which the action WantReading has asked. If the watch ends, all
// records are read again, and the driver gets this event without asking.
struct ReadingEnded {
  Reading reading = {};
};
struct ReadingFailed {};
struct LeaseGranted {
  LeaseId lease = 0;
};
struct LeaseFailed {};
// This event says that the store has renewed the lease of the driver's own key.
struct KeptAlive {
  std::optional<UnixSeconds> wall = {};
};
// This event says that the lease of the driver's key has ended, or may have ended. The lease may
// have ended if its time to live has passed since the last successful request to make or renew it.
struct LeaseLost {
  std::string why = {};
};
// These two events say that a watched key was written (KeyChanged), or erased at `revision`
// (KeyErased). If `more` is true, another change follows immediately, and the driver decides
// nothing before that change. Decisions are costly, and a thousand nodes may report at the same
// moment.
struct KeyChanged {
  KeyValue record = {};
  bool more = false;
};
struct KeyErased {
  std::string key = {};
  Revision revision = 0;
  bool more = false;
};
// This event says that the driver has to end, because its controller is about to exit, or begins
// another driver instead.
struct LeaveDriving {
  std::string why = "its controller ends";
};
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
// This action reads all records whose keys begin with one of these prefixes, at one revision, and
// then watches all changes of these keys.
struct WantReading {
  std::vector<std::string> prefixes = {};

  bool operator==(const WantReading&) const = default;
};
struct GrantLease {
  Ms ttl_ms = 0;

  bool operator==(const GrantLease&) const = default;
};
// This action writes a line to the controller's log. `loud` is true if the line reports trouble.
struct Tell {
  bool loud = false;
  std::string text = {};

  bool operator==(const Tell&) const = default;
};
// The last action of a driver, which has ended and ignores all further events. The caller then
// gives back the lease of the driver's key.
struct EndDriving {
  std::string why = {};

  bool operator==(const EndDriving&) const = default;
};

using DriverAction = std::variant<Commit, WantReading, GrantLease, AskGates, Tell, EndDriving>;
using DriverActions = std::vector<DriverAction>;

// The next step of a driver, as its task has decided.
using DriverStep = std::variant<Wait, GrantLease, AskGates, Write, Over>;

}  // namespace fleet
