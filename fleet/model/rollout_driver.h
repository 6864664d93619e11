// The driver of one rollout, as a state machine: it takes the rollout's driver key, reads where
// everything stands, and then writes one transaction after the other, as decide() says, each of
// which compares that the key is still its own.
//
// Values in, a list of actions out. At most one transaction, reading or lease is under way, and
// while one is nothing else is decided. What came of a transaction is always known before the next:
//
//     committed   its own writes are taken in
//     refused     somebody else has written: everything is read again
//     unknown     everything is read again; a transaction that comes later still is refused, since
//                 each compares and writes the rollout
//     denied      the rollout is aborted; where that is denied, too, driving ends, loudly
//
// It ends without a word to the nodes when its key is another's or gone, when it has not heard for
// a whole lease that it holds it, and when it is told to leave; whoever adopts the rollout goes on.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fleet/model/rollout_decision.h"
#include "fleet/model/rollout_view.h"
#include "fleet/model/time.h"
#include "fleet/model/transaction.h"

namespace fleet {

// The lease of a driver's key: FLEET's promise of adoption is this and 2 s.
inline constexpr Ms driver_lease_ms = 15'000;
// Between two looks at a store that does not answer.
inline constexpr Ms store_retry_ms = 1'000;

// ---- events

struct BeginDriving {};
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
struct KeptAlive {};
// A watched key was written, or erased as of `revision`.
struct KeyChanged {
  KeyValue record = {};
};
struct KeyErased {
  std::string key = {};
  Revision revision = 0;
};
// The controller is about to end.
struct LeaveDriving {};
struct TimePassed {};

using DriverEvent =
    std::variant<BeginDriving, TransactionEnded, ReadingEnded, ReadingFailed, LeaseGranted,
                 LeaseFailed, KeptAlive, KeyChanged, KeyErased, LeaveDriving, TimePassed>;

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

class RolloutDriver {
 public:
  // `lease` is alive; the key that is put on it lives as long.
  RolloutDriver(std::string controller, std::string rollout, LeaseId lease);

  [[nodiscard]] DriverActions step(const DriverEvent& event, Ms now);

  // When TimePassed is due; none: never.
  [[nodiscard]] std::optional<Ms> next_deadline() const;

  [[nodiscard]] bool is_over() const { return under_way_ == UnderWay::over; }
  [[nodiscard]] Revision fence() const { return facts_.fence; }
  [[nodiscard]] const RolloutView& view() const { return view_; }
  // All that decides what it does next, times relative to `now`, for tests that compare states.
  [[nodiscard]] std::string words(Ms now) const;

 private:
  enum class UnderWay { nothing, taking, reading, transaction, lease, over };

  void take(const BeginDriving& event);
  void take(const TransactionEnded& event);
  void take(const ReadingEnded& event);
  void take(const ReadingFailed& event);
  void take(const LeaseGranted& event);
  void take(const LeaseFailed& event);
  void take(const KeptAlive& event);
  void take(const KeyChanged& event);
  void take(const KeyErased& event);
  void take(const LeaveDriving& event);
  void take(const TimePassed& event);

  void take_key();
  void read_all();
  void committed(Revision revision);
  void drive();
  void perform(RolloutDecision decision);
  void end(std::string why, bool loud);
  [[nodiscard]] bool holds_key() const;

  std::string controller_;
  LeaseId lease_;
  RolloutView view_;
  DriverFacts facts_;
  UnderWay under_way_ = UnderWay::nothing;
  std::optional<Write> write_;     // under way
  std::optional<Ms> retry_at_;     // the store did not answer
  std::optional<Ms> waits_until_;  // a node's time to answer
  Ms proven_at_ = 0;               // when it heard last that its key is its own
  std::string denied_once_;
  Ms now_ = 0;
  DriverActions actions_;
};

}  // namespace fleet
