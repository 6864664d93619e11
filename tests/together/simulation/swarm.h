// What a seed draws: the upgrader's options, and a random subset of faults with their rates. Mostly
// nothing goes wrong, since where everything does no upgrade ever gets far.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/together/simulation/random.h"
#include "upgrader/core/options.h"

namespace upgrader::simulation {

// What an agent does: on its own account, or as the protocol has it.
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
  exit_with_words,  // unfit or stopped, and gone
  leave_grandchild,
  close_output,
  close_input,
  stop_reading,
  flood,     // stray output, lines that are over-long, of no known type or malformed
  outburst,  // many messages out of turn
};

// When it does it.
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

// All rates in percent.
struct Swarm {
  Options options;
  Duration lock_free_at_delay{0};
  Time lock_free_at{0};
  bool waits_for_lock = false;
  Duration watchdog{0};  // how far apart heartbeats may be; zero: none are wanted

  // The machine.
  bool timers_last = false;
  int splits = 0;  // a long write takes only a part
  int interrupts = 0;
  int jostles = 0;  // something happens during a system call
  int hold_ups = 0;
  std::int64_t hold_up_ms = 1;
  int freezes = 0;  // nobody runs for as long as a hold-up may last
  int late_kills = 0;
  int check_failures = 0;
  int lost_ways_back = 0;
  int spawn_failures = 0;
  int proof_failures = 0;
  int relink_failures = 0;
  std::size_t input_capacity = 65'536;
  std::size_t output_capacity = 65'536;

  // The agents.
  int mischief_makers = 0;         // of the processes
  std::vector<Deed> deeds;         // what these do
  std::size_t mischief_max = 1;    // so many each
  int trickles = 0;                // write byte for byte
  std::int64_t slowness_ms = 100;  // what an agent takes for anything
  int upgrades_at_most = 3;
  int cancels = 0;
  int odd_requests = 0;  // any combination of members
  int stale_events = 0;  // of generations that have gone
  bool guided = false;
  Duration init_reads{0};  // and as long it does not; zero: always

  // People and init.
  std::vector<std::pair<Duration, int>> signals;
  struct Visit {
    Duration delay;
    int lines;  // that the operator writes
    Duration stays;
  };
  std::vector<Visit> visits;  // to the control directory, where there is one
  int status_failures = 0;    // status.json cannot be written
  int fifo_failures = 0;      // the FIFO cannot be opened
  Duration calm_after{0};
};

[[nodiscard]] Swarm draw_swarm(Random& random);

// From a moment to an hour, every scale alike.
[[nodiscard]] Duration some_time(Random& random);

}  // namespace upgrader::simulation
