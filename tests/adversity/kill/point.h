// One kill point: a story is played up to a step, one of its processes gets a signal, and the state
// afterwards is judged from outside.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/adversity/kill/moment.h"
#include "tests/adversity/kill/scene.h"
#include "tests/adversity/kill/step.h"
#include "tests/adversity/kill/tracer.h"

namespace kill_points {

// A point's name has these parts: setting, victim, step and signal, as in
// `parallel/lock/good/upgrader-first/candidate/after-agent-2-writes-ready/SIGKILL`.
struct Point {
  Setting setting;
  std::string victim;  // "active", "candidate", "fallback", "first" or "upgrader"
  std::string step;
  std::string signal;

  [[nodiscard]] std::string name() const;
};

struct Verdict {
  bool struck = false;  // the step was reached, and the signal took effect there
  std::string wrong;    // the violation, or ""
  std::string account;  // a record of the events, if something was wrong
  End end{};

  [[nodiscard]] bool good() const { return struck && wrong.empty(); }
};

// Plays the point. With `deaf`, which only canaries set, the signal is not sent.
Verdict play(const Cast& cast, const Point& point, bool deaf = false);

struct Survey {
  Verdict verdict;
  std::vector<Point> points;
};
// Plays the story to its end, and lists its points. With `every_call`, each system call of the
// upgrader is a point, too.
Survey survey(const Cast& cast, const Setting& setting, bool every_call);

// Reads a name that Point::name() has made; returns false for any other text.
bool parse(const std::string& name, Point& point);

}  // namespace kill_points
