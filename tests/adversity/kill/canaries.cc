// The canaries of the kill points: injected bugs that a kill point must find.
#include <cstdlib>
#include <map>

#include "tests/adversity/kill/point.h"

namespace kill_points {
namespace {

// The time limit for waits in a run with a canary (an injected bug). In such a run the awaited
// event must not come, so each wait lasts this long.
constexpr auto patience = std::chrono::seconds(3);

// Names of kill points (a signal to one process at one step of an upgrade). At the first three
// points, the real upgrader keeps all rules, so the bug that a canary injects is the only error.
// The last name is wrong on purpose: its step `after-upgrader-writes-nonsense` does not exist, so
// it is never reached.
constexpr const char* upgrader_is_killed =
    "parallel/no-lock/good/upgrader-first/upgrader/after-agent-2-reads-welcome/SIGKILL";
constexpr const char* with_the_lock =
    "parallel/lock/good/upgrader-first/upgrader/after-agent-2-reads-welcome/SIGKILL";
constexpr const char* active_is_killed =
    "parallel/lock/good/upgrader-first/active/after-upgrader-writes-accepted/SIGKILL";
constexpr const char* nowhere =
    "parallel/lock/good/upgrader-first/active/after-upgrader-writes-nonsense/SIGKILL";

Point named(const char* name) {
  Point point;
  if (!parse(name, point)) std::abort();
  return point;
}

// Tests a kill point with an injected bug. Returns "" if the test has found this bug: a rule was
// broken, and the text `reason` is in the broken rule or in the events of the run. Otherwise
// returns the reason why the bug was not found.
std::string play_seeded(const Cast& cast, const char* name, const std::string& reason,
                        const std::map<std::string, std::string>& environment, bool deaf = false) {
  for (const auto& [variable, value] : environment)
    setenv(variable.c_str(), value.c_str(), 1);
  const Verdict verdict = play(cast, named(name), deaf);
  for (const auto& [variable, value] : environment)
    unsetenv(variable.c_str());
  if (verdict.good()) return "nothing was found wrong";
  const std::string found = verdict.wrong + "\n" + verdict.account;
  return found.find(reason) != std::string::npos ? ""
                                                 : "found for another reason: " + verdict.wrong;
}

}  // namespace

std::vector<Canary> canaries(const Cast& given) {
  Cast cast = given;
  cast.patience = patience;
  Cast bad = cast;
  bad.upgrader = cast.stand_in;
  const std::map<std::string, std::string> stand_in = {{"STAND_IN_FOR", cast.upgrader}};
  const std::map<std::string, std::string> liar = {{"STAND_IN_FOR", cast.upgrader},
                                                   {"STAND_IN_LIES", std::string("1")}};
  return {
      {"an upgrader that leaves its agents behind when it is killed, and a second active one",
       false,
       [=] { return play_seeded(bad, upgrader_is_killed, "two agents are active", stand_in); }},
      {"the same under the lock: it is never given back", false,
       [=] { return play_seeded(bad, with_the_lock, "waited in vain", stand_in); }},
      {"an upgrader that ends with a status that is not on the page", true,
       [=] { return play_seeded(bad, active_is_killed, "after status 1,", liar); }},
      {"an agent that stays at the end of its input", false,
       [=] {
         return play_seeded(cast, upgrader_is_killed, "two agents are active",
                            {{"ACTOR_STAYS", "1"}});
       }},
      {"a step that is never reached", true,
       [=] { return play_seeded(cast, nowhere, "never reached", {}); }},
      {"a signal that is kept back", true,
       [=] { return play_seeded(cast, active_is_killed, "not delivered", {}, true); }},
  };
}

}  // namespace kill_points
