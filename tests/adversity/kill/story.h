// The upgrades that the tests interrupt by signals: how each upgrade ends without a signal, and how
// its processes behave.
#pragma once

#include <string>
#include <vector>

#include "tests/adversity/kill/tracer.h"

namespace kill_points {

// The end of an upgrade, as seen from outside.
enum class End {
  committed,  // the upgrade has succeeded: the new version works
  kept,       // the old agent is still active, in the same process
  fallback,   // the old version works again, in a new process
  restarted,  // init has started the upgrader again, and the version that the link names works
};

std::string words(End end);

struct Story {
  const char* name;
  bool sequential;
  const char* part;  // how the candidate behaves: see actor.cc
  // The upgrade's id. A word in it, such as `unclean`, tells the active agent how to stop.
  const char* id;
  const char* members;  // further members of the request message, as JSON text
  bool relink;
  bool lock_only;  // played only with --lock: without it the story would show nothing new
  End end;         // how the upgrade ends if no signal is sent
  enum class With {
    nothing,
    way_back,  // the options --control, --previous and --attempts
    // At a boot, with the options of way_back. AGENT's link names a version that fails at once, and
    // nobody requests an upgrade.
    boot,
    standby,  // the option --fallback=warm
  };
  With with = With::nothing;

  [[nodiscard]] bool gated() const;
  [[nodiscard]] bool has_way_back() const { return with == With::way_back || with == With::boot; }
};

// Returns all stories. Each story says which upgrade is made, and how that upgrade must end.
const std::vector<Story>& stories();

// One way to play a story: with or without --lock, and with either the agents or the upgrader
// running first when both could run.
struct Setting {
  const Story* story;
  bool lock;
  Order order;

  // Returns the name of this setting, such as `parallel/lock/good/upgrader-first`.
  [[nodiscard]] std::string name() const;
};

std::vector<Setting> all_settings();

}  // namespace kill_points
