// When two states, or two events, are the same to the exploration: however far deadlines lie ahead,
// whatever the numbers of generations and programs are, and whatever texts were chosen. The
// simulation uses the same measure, to say which states and edges it has visited.
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

// Every deadline that is set lies here, seen from an instant that is always 0.
inline constexpr Time later{3'600'000};

// The deadline that passes: an agent's, or that of the upgrade under way.
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

// The same state with every deadline at `later`, and without what only people read, such as
// versions and reasons.
[[nodiscard]] State normalised(State state);

// New numbers for the generations that still matter: 1, 2, ... in their order.
[[nodiscard]] std::map<Generation, Generation> ranks_of(const State& state);
[[nodiscard]] State renumbered(State state, const std::map<Generation, Generation>& ranks);

// ---- for those that do not choose the exploration's own words and times

// The policies that are explored: with and without --relink, with and without limits; and with
// --mode=sequential and --on-unclean-stop=continue, which requests that do not say go by.
inline constexpr int policies = 5;
inline constexpr int plain_policy = 1;  // with limits, and nothing else
inline constexpr int relink_policy = 3;
inline constexpr int sequential_policy = policies - 1;
// And more, which are not for all to explore: with a watchdog; and with --gate=confirm and
// --commit=healthy, which SIGUSR2 goes by; and with --fallback=warm.
inline constexpr int watchdog_policy = policies;
inline constexpr int gate_policy = watchdog_policy + 1;
inline constexpr int warm_policy = gate_policy + 1;
inline constexpr int all_policies = warm_policy + 1;
// With --previous and --attempts; and the same again where nothing has a limit of time, so that
// there is no trial either. The exploration and the second table walk through both; the simulation,
// which goes by the policies before them, leaves them out.
inline constexpr int boot_policy = all_policies;
inline constexpr int boot_no_limits_policy = boot_policy + 1;
inline constexpr int explored_policies = boot_no_limits_policy + 1;
[[nodiscard]] Policy explored_policy(int which);
[[nodiscard]] std::string name_of_policy(int which);

// Three things multiply the work and mean the same under every policy, so they are explored under
// few of them. With WHOLE=1 in the environment, as make explore has it, agents with the feature are
// explored under a policy that leads to many states, and under those with --previous, where a
// fallback, too, may be on trial; the other two are explored under all policies.
struct Breadth {
  bool readiness = false;    // agents with the feature
  bool control = false;      // an operator's requests
  bool of_one_gone = false;  // what comes too late, from an agent that has gone
};
[[nodiscard]] Breadth breadth_of(const Policy& policy);
[[nodiscard]] bool wants_the_whole();

// Which of these it is, whatever its times are, or nullopt.
[[nodiscard]] std::optional<int> which_policy(const Policy& policy);

// Equal for states, with the accounts of their watchers, that are one to the exploration; of
// others, by all chance, different.
[[nodiscard]] std::uint64_t key_of(const State& canonical, std::string_view accounts);
// Of any state, in which any words and times are used.
[[nodiscard]] std::uint64_t key_of_any(const State& state, test::Watcher watcher);

// Ids of upgrades that a signal has asked for.
[[nodiscard]] inline bool is_signal_id(std::string_view id) {
  return id.rfind("sigusr2-", 0) == 0;
}

// An event, as the exploration tells events apart: by who and what. Some that other sources know
// are `other`.
using EventClass = std::uint16_t;
inline constexpr EventClass other_event = 65'535;
[[nodiscard]] EventClass class_of(const State& before, const Event& event, Time now);
// "the candidate: stopped"
[[nodiscard]] std::string name_of_class(EventClass kind);

// How it is taken apart.
enum class Speaker : std::uint8_t { nobody, incumbent, candidate, stranger };
enum class EventKind : std::uint8_t {
  // an agent's
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
  // nobody's
  start,
  start_worn_out,
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
  // outcomes
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

// From a state: an event, and the outcomes that it asked for.
struct Move {
  std::uint32_t from = 0;
  std::uint32_t to = 0;  // only of a whole one
  bool whole = false;    // no outcome is due after it
  std::uint8_t length = 0;
  EventClass steps[6] = {};
};

// What a walk has found, for those that want to walk there again.
struct Map {
  struct Place {
    std::uint64_t key = 0;
    bool ended = false;
    Speaker promised = Speaker::nobody;  // whose `activate` waits
    Move how;                            // that first led here
  };
  std::vector<Place> places;
  std::vector<Move> moves;
};

// The shortest way from the start to a place.
[[nodiscard]] std::vector<Move> way_to(const Map& map, std::size_t place);

}  // namespace upgrader::test
