// The part of agentify that decides, the adapter, with a clock that the test moves.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tools/agentify/adapter.h"

namespace stories {

using namespace agentify;

inline Terms plain_terms() {
  return Terms{.stop = default_stop_plan()};
}

class Story {
 public:
  explicit Story(Terms terms = plain_terms()) : adapter(std::move(terms)) {
    actions = adapter.begin();
  }

  Story& tell(const Event& event) {
    actions = adapter.step(event, now);
    return *this;
  }
  // Moves the clock by `time`. Reports to the adapter each deadline that passes in this time, and
  // collects the actions with which the adapter answers.
  Story& wait(Duration time) {
    const Time end = now + time;
    Actions all;
    for (auto next = adapter.next_deadline(); next && *next <= end;
         next = adapter.next_deadline()) {
      now = std::max(now, *next);
      tell(TimePassed{});
      all.insert(all.end(), actions.begin(), actions.end());
    }
    now = end;
    actions = std::move(all);
    return *this;
  }
  // Reports three events to the adapter: agentify was made a candidate, was activated as
  // `activated` says, and has started its daemon.
  Story& activate(Activated activated) {
    return tell(Welcomed{.candidate = true}).tell(activated).tell(DaemonStarted{42});
  }
  // Reports three events to the adapter: agentify has got the `welcome`, by default that of a
  // candidate; it was activated for a trial of unknown length; it has started its daemon.
  Story& start(Welcomed welcome = {.candidate = true}) {
    return tell(welcome).tell(Activated{}).tell(DaemonStarted{42});
  }

  template <class Kind>
  [[nodiscard]] std::vector<Kind> all() const {
    std::vector<Kind> found;
    for (const Action& action : actions) {
      if (const auto* one = std::get_if<Kind>(&action)) found.push_back(*one);
    }
    return found;
  }
  template <class Kind>
  [[nodiscard]] bool has() const {
    return !all<Kind>().empty();
  }

  Adapter adapter;
  Time now{1000};
  Actions actions;
};

inline DaemonEnded exited(int status, pid_t heir = 0) {
  return {{DaemonEnding::How::exited, status}, heir};
}
inline DaemonEnded killed(int signal) {
  return {{DaemonEnding::How::signalled, signal}, 0};
}

}  // namespace stories
