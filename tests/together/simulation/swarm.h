// A swarm, as in swarm testing, has the upgrader's options and a random subset of all faults with
// their rates, all drawn from a seed. Most draws have few faults, since an upgrade in which
// everything fails never gets far.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/together/simulation/random.h"
#include "upgrader/core/options.h"

namespace upgrader::simulation {

// An act of an agent: either misbehavior or a step of the protocol.
enum class Deed {
  hello,
  ready,
  unfit,
  upgrade,
  confirm,
  cancel,
  stopped,
  healthy,
  extend,
  heartbeat,
  status,
  exit_zero,
  exit_badly,
  crash,
  exit_with_words,  // sends `unfit` or `stopped`, and then exits
  leave_grandchild,
  close_output,
  close_input,
  stop_reading,
  flood,     // writes stray, over-long, unknown or malformed lines
  outburst,  // sends many messages at the wrong time
};

// The moment at which an agent misbehaves.
enum class Occasion {
  spawned,
  welcomed,
  activated,
  accepted,
  candidate_ready,
  stop_asked,
  said_stopped,
  lost,
  failed,
  committed,
};
inline constexpr std::size_t occasions = 10;

struct Mischief {
  Occasion occasion = Occasion::spawned;
  Duration delay{0};
  Deed deed = Deed::crash;
};

// The options and faults of a run. All rates are in percent.
struct Swarm {
  Options options;
  Duration lock_free_at_delay{0};
  Time lock_free_at{0};
  bool waits_for_lock = false;
  Duration watchdog{0};  // the longest time between heartbeats; 0 if none are wanted

  // ---- the settings of the simulated machine
  bool timers_last = false;
  int splits = 0;  // the percentage of long writes that are cut short
  int interrupts = 0;
  int jostles = 0;  // the percentage of system calls during which other processes act
  int hold_ups = 0;
  std::int64_t hold_up_ms = 1;
  // The percentage of turns of the loop before which all processes are stopped for a while.
  int freezes = 0;
  int late_kills = 0;
  int check_failures = 0;
  int lost_ways_back = 0;
  int spawn_failures = 0;
  int proof_failures = 0;
  int relink_failures = 0;
  std::size_t input_capacity = 65'536;
  std::size_t output_capacity = 65'536;

  // ---- the settings of the simulated agents
  int mischief_makers = 0;         // how many of a hundred agents misbehave
  std::vector<Deed> deeds;         // the kinds of misbehavior that a process may choose
  std::size_t mischief_max = 1;    // how often a process misbehaves at most
  int trickles = 0;                // how many of a hundred agents move few bytes at a time
  std::int64_t slowness_ms = 100;  // milliseconds that an agent takes for each act
  int upgrades_at_most = 3;
  int cancels = 0;
  int odd_requests = 0;  // the percentage of requests that have random members
  // The probability, in percent, that a late event about an ended agent comes before an event.
  int stale_events = 0;
  bool guided = false;
  // Init reads its socket for this time, then leaves the socket unread for the same time, and so
  // on. If 0, init always reads its socket.
  Duration init_reads{0};

  // ---- the settings of the signals to the upgrader, and of its control directory
  std::vector<std::pair<Duration, int>> signals;
  struct Visit {
    Duration delay;
    int lines;  // how many lines the operator writes
    Duration stays;
  };
  std::vector<Visit> visits;  // visits to the control directory, if there is one
  int status_failures = 0;    // the percentage of writes of status.json that fail
  int fifo_failures = 0;      // the percentage of attempts to open the FIFO that fail
  Duration calm_after{0};     // the latest time at which the faults of a random run end
};

[[nodiscard]] Swarm draw_swarm(Random& random);

// Returns a random time of at most an hour, with each order of magnitude equally likely.
[[nodiscard]] Duration some_time(Random& random);

}  // namespace upgrader::simulation
