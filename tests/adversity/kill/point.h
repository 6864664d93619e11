// One kill point: a story played up to a step, a signal for one of its parties, and what must hold
// afterwards, judged from outside.
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

// `parallel/lock/good/upgrader-first/candidate/after-agent-2-writes-ready/SIGKILL`
struct Point {
  Setting setting;
  std::string victim;  // "active", "candidate", "fallback", "first" or "upgrader"
  std::string step;
  std::string signal;

  [[nodiscard]] std::string name() const;
};

struct Verdict {
  bool struck = false;  // the step was reached, and the signal did there what it does
  std::string wrong;    // what must not be, or ""
  std::string account;  // what happened, where something was wrong
  End end{};

  [[nodiscard]] bool good() const { return struck && wrong.empty(); }
};

// Plays the point. `deaf` is for a canary: the signal is kept back.
Verdict play(const Cast& cast, const Point& point, bool deaf = false);

// Plays the story to its end, and names the points of it: with `every_call`, of the upgrader at
// each of its system calls, too.
struct Survey {
  Verdict verdict;
  std::vector<Point> points;
};
Survey survey(const Cast& cast, const Setting& setting, bool every_call);

// A name that is made by nothing but Point::name(); false if it is none.
bool parse(const std::string& name, Point& point);

}  // namespace kill_points
