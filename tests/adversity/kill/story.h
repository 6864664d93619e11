// The upgrades that are interrupted: how each goes when it is not, and what its parties play.
#pragma once

#include <string>
#include <vector>

#include "tests/adversity/kill/tracer.h"

namespace kill_points {

// How an upgrade may end, as seen from outside.
enum class End {
  committed,  // the new version works
  kept,       // the old agent has kept the work, in the process that it had
  fallback,   // the old version works again, in a process of its own
  restarted,  // init has started the upgrader again, and the version that it names works
};

std::string words(End end);

struct Story {
  const char* name;
  bool sequential;
  const char* part;     // what the candidate plays: see actor.cc
  const char* id;       // how the active agent stops
  const char* members;  // more of the request
  bool relink;
  bool lock_only;  // a story that adds nothing without the lock
  End end;         // without any signal
  enum class With {
    nothing,
    way_back,  // --control, --previous and --attempts
    boot,      // the same, and AGENT's link names a version that fails at once: nobody asks
    standby,   // --fallback=warm
  };
  With with = With::nothing;

  [[nodiscard]] bool gated() const;
  [[nodiscard]] bool has_way_back() const { return with == With::way_back || with == With::boot; }
};

// All stories of a mode by their names.
const std::vector<Story>& stories();

// One story as it is played.
struct Setting {
  const Story* story;
  bool lock;
  Order order;

  // `parallel/lock/good/upgrader-first`
  [[nodiscard]] std::string name() const;
};

std::vector<Setting> all_settings();

}  // namespace kill_points
