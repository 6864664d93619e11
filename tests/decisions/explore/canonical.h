// This file decides which states of a supervisor, and which events, the exploration treats as
// equal. Two states count as equal if they differ only in how far off deadlines are, in the numbers
// of generations and programs, or in the texts that agents choose. The simulation
// (tests/together/simulation) uses the same rule when it counts the states and moves that it has
// reached.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/watcher.h"
#include "upgrader/core/supervisor.h"

namespace upgrader::test {

// In a normalised state, all running deadlines lie at this instant, and the current instant is 0.
inline constexpr Time later{3'600'000};

// Names one deadline of a state. It is a deadline of an agent, the deadline of the upgrade under
// way, or the time at which an active agent's start counts as a success (for --previous and
// --attempts).
struct Due {
  enum class What { nothing, limit, close, heartbeat, hello, upgrade, attempts };
  What what = What::nothing;
  Generation generation = 0;
};

struct NamedDeadline {
  const char* name;
  Due due;
  std::optional<Time>* deadline;
};
[[nodiscard]] std::vector<NamedDeadline> deadlines_of(State& state);

// Returns a copy of the state in which every running deadline lies at the instant `later` (above).
// The copy has no texts that only people read, such as reasons.
[[nodiscard]] State normalised(State state);

// Returns new numbers, from 1 on, for the generations of the agents and of the upgrade in this
// state. The numbers keep the order of the generations.
[[nodiscard]] std::map<Generation, Generation> ranks_of(const State& state);
[[nodiscard]] State renumbered(State state, const std::map<Generation, Generation>& ranks);

// Replaces the number in each upgrade's id by 1, so that texts that differ only in these numbers
// become equal. `text` is a watcher's record of facts. In it, an id is "u" and capital letters, or
// "sigusr2-" and digits.
[[nodiscard]] std::string with_equal_upgrade_ids(const std::string& text);

// ---- the policies (sets of options) under which the supervisor is explored

// A policy is a set of the upgrader's options, and has a number as its name. There are five basic
// policies. The first four are with or without --relink, and with or without time limits. The fifth
// has --relink, time limits, --mode=sequential and --on-unclean-stop=continue. These last two
// options apply only to requests that do not say otherwise.
inline constexpr int policies = 5;
// The policy that has time limits, and no other option.
inline constexpr int plain_policy = 1;
inline constexpr int relink_policy = 3;
inline constexpr int sequential_policy = policies - 1;
// Three more policies, which not every test program explores. The first has a watchdog. The second
// has --gate=confirm and --commit=healthy, which apply to upgrades that SIGUSR2 requests. The third
// has --fallback=warm.
inline constexpr int watchdog_policy = policies;
inline constexpr int gate_policy = watchdog_policy + 1;
inline constexpr int warm_policy = gate_policy + 1;
inline constexpr int all_policies = warm_policy + 1;
// Two more policies, both with --relink, --previous and --attempts. The first has time limits. The
// second has none, so no agent has a trial under it. The exploration uses both policies, the
// simulation neither.
inline constexpr int boot_policy = all_policies;
inline constexpr int boot_no_limits_policy = boot_policy + 1;
inline constexpr int explored_policies = boot_no_limits_policy + 1;
[[nodiscard]] Policy explored_policy(int which);
[[nodiscard]] std::string name_of_policy(int which);

// Kinds of events that multiply the number of states, but have the same effect under every policy
// (set of options). So each kind is usually explored under only one or two policies. `make explore`
// (WHOLE=1) explores `control` and `of_one_gone` under every policy. It explores `readiness` under
// the plain policy and those with --previous, under which a fallback may be on trial.
struct Breadth {
  bool readiness = false;    // some agents have the feature `readiness`
  bool control = false;      // an operator may make requests
  bool of_one_gone = false;  // an agent that has ended may cause late events
};
[[nodiscard]] Breadth breadth_of(const Policy& policy);
[[nodiscard]] bool wants_the_whole();

// Returns which of the explored policies has the same options as `policy`, or nullopt if none has.
// The lengths of time limits make no difference.
[[nodiscard]] std::optional<int> which_policy(const Policy& policy);

// Returns a hash of a supervisor's state and of `accounts`, a text with all records of its
// observers (such as a Watcher). States that the exploration treats as the same have the same hash.
// Different states almost certainly have different hashes.
[[nodiscard]] std::uint64_t key_of(const State& canonical, std::string_view accounts);
// Returns key_of() for a state and a watcher that need not come from an exploration. First replaces
// their ids, texts, times and generations by those that the exploration uses.
[[nodiscard]] std::uint64_t key_of_any(const State& state, test::Watcher watcher);

// Returns whether an upgrade with this id was requested by SIGUSR2.
[[nodiscard]] inline bool is_signal_id(std::string_view id) {
  return id.rfind("sigusr2-", 0) == 0;
}

// A number for a class of events that the exploration treats alike: events of the same kind about
// the same agent. Events that the exploration never makes have the class `other_event`.
using EventClass = std::uint16_t;
inline constexpr EventClass other_event = 65'535;
[[nodiscard]] EventClass class_of(const State& before, const Event& event, Time now);
// Returns the name of a class of events, such as "the candidate: stopped".
[[nodiscard]] std::string name_of_class(EventClass kind);

// The two parts of an event's class: the agent that the event is about, and the kind of the event.
enum class Speaker : std::uint8_t { nobody, incumbent, candidate, stranger };
enum class EventKind : std::uint8_t {
  // Events of an agent.
  hello,
  hello_readiness,
  ready,
  unfit,
  confirm,
  confirm_signal,
  confirm_other,
  cancel,
  cancel_signal,
  cancel_other,
  stopped,
  healthy,
  extend,
  heartbeat,
  status,
  first_upgrade,
  last_upgrade = first_upgrade + 7,
  last_stopped,
  last_unfit,
  last_ready,
  unknown,
  malformed_upgrade,
  malformed,
  stray,
  closes_output,
  closes_input,
  takes_activate,
  exits,
  is_killed,
  extend_at_limit,
  cancel_at_limit,
  limit,
  close_limit,
  heartbeat_limit,
  hello_limit,
  limit_unseen,
  close_limit_unseen,
  heartbeat_limit_unseen,
  hello_limit_unseen,
  // Events that no agent causes.
  start,
  start_exhausted,
  start_refused,
  attempts_limit,
  attempts_limit_unseen,
  sigterm,
  sigquit,
  sigusr2,
  signal,
  control_upgrade,
  control_upgrade_to_agent,
  control_upgrade_with_gate,
  control_deed,
  control_shutdown = control_deed + 4,
  control_deed_of_another,
  upgrade_limit = control_deed_of_another + 4,
  upgrade_limit_unseen,
  // Outcomes of the supervisor's orders.
  checked,
  no_way_back,
  check_fails,
  way_back_found,
  no_way_back_at_boot,
  link_put_back,
  link_not_put_back,
  spawned,
  spawn_refused,
  spawn_fails,
  proved,
  proof_fails,
  relinked,
  relink_fails,
  activate_written,
  activate_waits,
  activate_lost,
  count
};
[[nodiscard]] constexpr EventClass class_for(Speaker who, EventKind what) {
  return static_cast<EventClass>(static_cast<unsigned>(who) *
                                     static_cast<unsigned>(EventKind::count) +
                                 static_cast<unsigned>(what));
}
[[nodiscard]] constexpr Speaker speaker_of(EventClass kind) {
  return static_cast<Speaker>(kind / static_cast<unsigned>(EventKind::count));
}
[[nodiscard]] constexpr EventKind kind_of(EventClass kind) {
  return static_cast<EventKind>(kind % static_cast<unsigned>(EventKind::count));
}
static_assert(static_cast<unsigned>(EventKind::count) * 4 < other_event);

// A move of the exploration from one state to the next: an event, and the outcomes of the orders
// that the supervisor gave because of this event, such as "the program was started".
struct Move {
  std::uint32_t from = 0;
  std::uint32_t to = 0;  // the number of the next state; set only if `whole` is true
  bool whole = false;    // true if `steps` has the outcomes of all orders
  std::uint8_t length = 0;
  EventClass steps[6] = {};
};

// A map of the states that the exploration has found. Other programs, such as the simulation,
// follow the map to reach the same states.
struct Map {
  struct Place {
    std::uint64_t key = 0;
    bool ended = false;
    Speaker promised = Speaker::nobody;  // the agent whose `activate` is not written yet
    Move how;                            // the first move that has led to this state
  };
  std::vector<Place> places;
  std::vector<Move> moves;
};

// Returns the shortest sequence of moves from the supervisor's first state to the state at this
// place of the map.
[[nodiscard]] std::vector<Move> way_to(const Map& map, std::size_t place);

}  // namespace upgrader::test
