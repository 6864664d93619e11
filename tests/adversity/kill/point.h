// One kill point of the tests: an upgrade runs up to a step, one of its processes gets a signal
// there, and the state afterwards is judged from outside.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/adversity/kill/scene.h"
#include "tests/adversity/kill/step.h"
#include "tests/adversity/kill/story.h"
#include "tests/adversity/kill/tracer.h"

namespace kill_points {

// A kill point: a step of an upgrade at which one process gets a signal. Its name has these parts:
// setting, victim, step and signal, as in
// `parallel/lock/good/upgrader-first/candidate/after-agent-2-writes-ready/SIGKILL`.
struct Point {
  Setting setting;
  // The process that gets the signal: "active", "candidate", "fallback", "first" or "upgrader".
  std::string victim;
  std::string step;
  std::string signal;

  [[nodiscard]] std::string name() const;
};

struct Verdict {
  bool struck = false;  // the run has reached the step, and the signal took effect there
  std::string wrong;    // the broken rule in words; empty if none was broken
  std::string account;  // if a rule was broken: all events of the run
  End end{};

  [[nodiscard]] bool good() const { return struck && wrong.empty(); }
};

// Plays the upgrade up to the kill point, sends the signal, and judges the state afterwards. With
// `deaf`, which only a canary (an injected bug) sets, the signal is not sent.
Verdict play(const Cast& cast, const Point& point, bool deaf = false);

struct Survey {
  Verdict verdict;
  std::vector<Point> points;
};
// Plays the story (the scripted upgrade) of `setting` to its end without a signal. Lists its kill
// points: the steps at which a process may get a signal. With `every_call`, each system call of the
// upgrader is a kill point, too.
Survey survey(const Cast& cast, const Setting& setting, bool every_call);

// Parses the name of a kill point, as Point::name() makes it. Returns false if the text is not such
// a name.
bool parse(const std::string& name, Point& point);

// A canary: a fault that is made on purpose, to show that the test of a kill point finds such
// faults. There are four kinds of canaries: a bad program runs instead of the upgrader, an agent
// does not exit when it must, the kill point names a step that does not exist, or the signal is not
// sent.
struct Canary {
  std::string seeded;
  bool quick;  // true if the error is found without waiting for a time limit
  // Runs the canary. Returns "" if the injected bug was found, otherwise the reason why it was not
  // found.
  std::function<std::string()> missed;
};

// Returns all canaries, which canaries.cc defines.
std::vector<Canary> canaries(const Cast& cast);

}  // namespace kill_points
