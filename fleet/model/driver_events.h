// The events and actions of a driver: the same for a rollout, a plan and a desired version.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fleet/model/time.h"
#include "fleet/model/time_zone.h"
#include "fleet/model/transaction.h"

namespace fleet {

// ---- what is decided, one thing at a time

struct Wait {
  std::optional<Ms> until = {};  // none: only news can change anything

  bool operator==(const Wait&) const = default;
};

struct Write {
  Transaction transaction = {};
  std::string news = {};  // for people, where something ends or begins

  bool operator==(const Write&) const = default;
};

// Nothing is left to be driven.
struct Over {
  std::string why = {};
  bool loud = false;

  bool operator==(const Over&) const = default;
};

// The lease of a driver's key: FLEET's promise of adoption is this and 2 s.
inline constexpr Ms driver_lease_ms = 15'000;
// Between two looks at a store that does not answer.
inline constexpr Ms store_retry_ms = 1'000;

// ---- events

// The time of the wall clock, for windows; no value if nobody knows it.
struct BeginDriving {
  std::optional<UnixSeconds> wall = {};
};
struct TransactionEnded {
  Outcome outcome = {};
};
// Of everything that WantReading asked for.
struct ReadingEnded {
  Reading reading = {};
};
struct ReadingFailed {};
struct LeaseGranted {
  LeaseId lease = 0;
};
struct LeaseFailed {};
// The lease of the driver's own key was renewed.
struct KeptAlive {
  std::optional<UnixSeconds> wall = {};
};
// It has ended, or nobody can tell: counted from before the question that renewed it last.
struct LeaseLost {
  std::string why = {};
};
// A watched key was written, or erased as of `revision`. `more`: another of these follows at once,
// so that nothing is decided in between: what is decided costs more than what is taken in, and a
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

using DriverEvent = std::variant<BeginDriving, TransactionEnded, ReadingEnded, ReadingFailed,
                                 LeaseGranted, LeaseFailed, KeptAlive, LeaseLost, KeyChanged,
                                 KeyErased, LeaveDriving, TimePassed>;

// ---- actions

struct Commit {
  Transaction transaction = {};

  bool operator==(const Commit&) const = default;
};
// Everything below these, and these, at one revision; from then on their changes are watched.
struct WantReading {
  std::vector<std::string> prefixes = {};

  bool operator==(const WantReading&) const = default;
};
struct GrantLease {
  Ms ttl_ms = 0;

  bool operator==(const GrantLease&) const = default;
};
// For log, events and notifications.
struct Tell {
  bool loud = false;
  std::string text = {};

  bool operator==(const Tell&) const = default;
};
// The last: the machine takes nothing more. The lease of its key is to be revoked.
struct EndDriving {
  std::string why = {};

  bool operator==(const EndDriving&) const = default;
};

using DriverAction = std::variant<Commit, WantReading, GrantLease, Tell, EndDriving>;
using DriverActions = std::vector<DriverAction>;

// The next step of a driver, as its task decides.
using DriverStep = std::variant<Wait, GrantLease, Write, Over>;

}  // namespace fleet
