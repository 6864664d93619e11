// Visits every state that the adapter, the part of agentify that decides, can reach. Tries all
// orders of the events that the adapter's surroundings may cause. A model of these surroundings,
// which sees only the adapter's actions and the events, checks each step.
#include <catch2/catch.hpp>
#include <csignal>
#include <deque>
#include <iostream>
#include <string>
#include <unordered_set>
#include <vector>

#include "tests/together/agentify/stories.h"

namespace explore_test {

using namespace stories;
using namespace std::chrono_literals;

namespace {

// The states of the keeper process, and of the daemon, which is the keeper's child.
enum class Kept { nothing, starting, daemon, asking, sweeping, done, lost, lost_sweeping, swept };

// The facts about the surroundings of the adapter. They follow from the adapter's actions and from
// the events.
struct World {
  Terms terms = {};
  bool checking = false;
  bool welcomed = false;
  bool candidate = false;
  bool activated = false;
  bool stop_asked = false;
  bool committed = false;
  bool said_ready = false;
  bool said_unfit = false;
  bool said_healthy = false;
  bool said_stopped = false;
  bool left = false;
  bool started_once = false;
  bool cancelled = false;
  bool follows = false;
  // A signal that is not in the stop plan (option --stop) killed the main process.
  bool killed_otherwise = false;
  std::optional<Probe> asked = {};
  Kept kept = Kept::nothing;

  [[nodiscard]] bool daemon_may_be() const {
    return kept != Kept::nothing && kept != Kept::done && kept != Kept::swept && kept != Kept::lost;
  }
  // Returns true if agentify was started without a trial, or if its trial is over. If agentify
  // fails after that, the upgrader starts no fallback.
  [[nodiscard]] bool is_settled() const { return !candidate || committed; }
  // Returns true if agentify must now watch its directory of releases (option --follow) for a new
  // version: the daemon works, and nothing is going to end it.
  [[nodiscard]] bool must_follow() const {
    return terms.follow && activated && is_settled() && kept == Kept::daemon && !stop_asked &&
           terms.health_action != HealthAction::exit && !left;
  }
  [[nodiscard]] std::string describe() const {
    std::string text;
    for (const bool fact :
         {checking, welcomed, candidate, activated, stop_asked, committed, said_ready, said_unfit,
          said_healthy, said_stopped, left, started_once, cancelled, killed_otherwise, follows}) {
      text += fact ? '1' : '0';
    }
    text += asked ? (*asked == Probe::readiness ? 'r' : 'h') : '-';
    return text + std::to_string(static_cast<int>(kept));
  }
};

// ---- the effect of an action on the world, and whether the action is allowed

class Judge {
 public:
  explicit Judge(World& seen) : world(seen) {}

  void operator()(const SayReady&) {
    require(!world.said_ready && !world.said_unfit && !world.checking, "ready");
    world.said_ready = true;
  }
  void operator()(const SayUnfit&) {
    require(!world.activated || (world.candidate && !world.committed), "unfit");
    require(!world.said_unfit, "unfit twice");
    world.said_unfit = true;
  }
  void operator()(const SayHealthy&) {
    require(world.kept == Kept::daemon && !world.stop_asked, "healthy without a daemon");
    require(!world.said_healthy, "healthy twice");
    require(!world.said_unfit || world.committed, "healthy behind unfit");
    require(!world.candidate || world.terms.vouch, "healthy without vouching");
    world.said_healthy = true;
  }
  void operator()(const SayStopped&) {
    require(world.stop_asked && !world.said_stopped, "stopped");
    require(!world.daemon_may_be(), "stopped while processes of the daemon may be there");
    require(!world.follows, "asks for releases behind stopped");
    require(!world.killed_otherwise, "stopped after a stop that was not clean");
    world.said_stopped = true;
  }
  void operator()(const SayHeartbeat&) { require(world.activated, "heartbeat while held"); }
  void operator()(const SayStatus&) {}
  void operator()(const SayExtend&) { require(world.activated, "extend while held"); }
  void operator()(const RunCheck&) { world.checking = true; }
  void operator()(const StartDaemon&) {
    require(world.activated && !world.started_once && !world.stop_asked, "start");
    world.started_once = true;
    if (world.kept == Kept::nothing) world.kept = Kept::starting;
  }
  void operator()(const CancelStart&) { world.cancelled = true; }
  void operator()(const SignalDaemon&) { require(world.kept == Kept::daemon, "signal to nobody"); }
  void operator()(const AdoptMain& adopt) {
    require(adopt.pid != 0, "adopted nobody");
    if (world.kept == Kept::asking) world.kept = Kept::daemon;
  }
  void operator()(const KillFamily&) {
    require(world.kept == Kept::asking, "kills a family that has a head");
    world.kept = Kept::sweeping;
  }
  void operator()(const KillOrphans&) {
    require(world.kept == Kept::lost, "kills orphans of a keeper that lives");
    world.kept = Kept::lost_sweeping;
  }
  void operator()(const AskDaemon& ask) {
    require(!world.asked && world.kept == Kept::daemon, "asks nobody");
    world.asked = ask.probe;
  }
  void operator()(const Follow&) {
    require(world.terms.follow && !world.follows, "follows twice, or unasked");
    require(world.activated && world.is_settled(), "follows on trial, or held");
    require(!world.stop_asked, "follows although it has to stop");
    world.follows = true;
  }
  void operator()(const EndFollowing&) {
    require(world.follows, "ends what it did not follow");
    world.follows = false;
  }
  void operator()(const Log& log) { require(!log.text.empty(), "an empty line"); }
  void operator()(const ReportFailure& failure) {
    require(world.activated && !failure.text.empty(), "reports a failure of nobody");
    require(!world.stop_asked, "reports the end that was asked for");
  }
  void operator()(const Leave&) { leave(); }
  void operator()(const LeaveLike&) { leave(); }

  World& world;
  std::string wrong;

 private:
  void leave() {
    require(!world.daemon_may_be(), "leaves processes of the daemon behind");
    require(!world.left, "leaves twice");
    world.left = true;
  }
  void require(bool fact, const char* what) {
    if (world.left) wrong = "does something after it has left";
    if (!fact && wrong.empty()) wrong = what;
  }
};

// ---- the events that may come

struct Happening {
  Event event;
  World then;  // the state of the surroundings after the event, before the adapter reacts
};

void add_keepers(const World& world, std::vector<Happening>& list) {
  const auto add = [&](Event event, Kept kept, bool killed_otherwise = false) {
    World then = world;
    then.kept = kept;
    then.killed_otherwise |= killed_otherwise;
    list.push_back({std::move(event), then});
  };
  const auto ends = [&](const DaemonEnded& end, bool otherwise) {
    add(end, Kept::asking, otherwise);
  };
  switch (world.kept) {
    case Kept::starting:
      add(DaemonStarted{42}, Kept::daemon);
      add(DaemonRefused{13, "refused"}, Kept::done);
      add(DaemonWaits{}, Kept::starting);
      if (world.cancelled) add(FamilyGone{}, Kept::done);
      break;
    case Kept::daemon:
      ends(exited(0), false);
      ends(exited(0, 43), false);
      ends(exited(3), false);
      ends(killed(SIGTERM), false);
      ends(killed(SIGKILL), true);
      ends(DaemonEnded{}, true);
      break;
    case Kept::sweeping:
      add(FamilyGone{1}, Kept::done);
      break;
    case Kept::lost_sweeping:
      add(FamilyGone{2}, Kept::swept);
      break;
    case Kept::nothing:
    case Kept::asking:
    case Kept::done:
    case Kept::lost:
    case Kept::swept:
      break;
  }
  const bool lost = world.kept >= Kept::lost;
  // The keeper, which is the daemon's parent process, may die. Then nobody reports any more that
  // the daemon's main process has exited.
  const bool had_daemon = world.kept == Kept::daemon || world.kept == Kept::starting;
  if (!lost) add(KeeperLost{}, Kept::lost, had_daemon);
}

void add_conversation(const World& world, std::vector<Happening>& list) {
  const auto add = [&](Event event, bool World::*fact, bool candidate) {
    World then = world;
    then.*fact = true;
    then.candidate = candidate;
    list.push_back({std::move(event), then});
  };
  if (!world.welcomed) {
    add(Welcomed{.candidate = true, .watchdog = 3s}, &World::welcomed, true);
    add(Welcomed{.candidate = true, .readiness = true}, &World::welcomed, true);
    add(Welcomed{.readiness = true}, &World::welcomed, false);
    add(Welcomed{.watchdog = 3s}, &World::welcomed, false);
  }
  if (world.welcomed && world.said_ready && !world.activated) {
    add(Activated{}, &World::activated, world.candidate);
    if (world.candidate) {
      add(Activated{.trial = 20s}, &World::activated, true);
      add(Activated{.trial = 4s, .commit_healthy = true}, &World::activated, true);
    }
  }
  if (world.activated && !world.stop_asked) {
    add(StopAsked{2s}, &World::stop_asked, world.candidate);
    add(StopAsked{}, &World::stop_asked, world.candidate);
    if (world.candidate && !world.committed) add(Committed{}, &World::committed, true);
  }
}

void add_daemons(const World& world, std::vector<Happening>& list) {
  const auto add = [&](Event event) { list.push_back({std::move(event), world}); };
  if (world.asked) {
    for (const bool good : {true, false}) {
      World then = world;
      then.asked.reset();
      list.push_back({ProbeAnswered{*world.asked, good, "no"}, then});
    }
  }
  add(SignalTaken{SIGHUP});
  if (!world.started_once) return;
  add(ReadySaid{});
  add(NotifyReceived{{.ready = true}});
  add(NotifyReceived{{.alive = true, .status = "x"}});
  add(NotifyReceived{{.failed = true}});
  add(NotifyReceived{{.main_process = 44}});
  if (!world.stop_asked) add(NotifyReceived{{.extend = 1s}});
}

std::vector<Happening> all_happenings(const World& world) {
  std::vector<Happening> list;
  if (world.checking) {
    for (const bool good : {true, false}) {
      World then = world;
      then.checking = false;
      list.push_back({CheckEnded{good, "no"}, then});
    }
  }
  add_keepers(world, list);
  add_conversation(world, list);
  add_daemons(world, list);
  return list;
}

// ---- the search through all states that the adapter can reach

struct Place {
  Adapter adapter;
  World world;
  Time now{};
  std::string story;

  [[nodiscard]] std::string key() const { return adapter.describe(now) + world.describe(); }
};

std::string judge(const Actions& actions, World& world) {
  Judge judging(world);
  for (const Action& action : actions)
    std::visit(judging, action);
  if (judging.wrong.empty() && world.must_follow() && !world.follows) return "does not follow";
  return judging.wrong;
}

// Returns the event that brings agentify nearest to its exit. Uses the first of these rules that
// applies:
// * If a check, a start of the daemon, or a cleanup by the keeper (the daemon's parent process) is
//   under way, it ends.
// * If the upgrader has not asked agentify to stop yet, it asks now.
// * If no daemon runs, or agentify is about to send a signal, time passes until the next deadline.
// * If a daemon runs, SIGKILL kills it.
Happening last_happening(const Place& place) {
  World then = place.world;
  if (then.checking) {
    then.checking = false;
    return {CheckEnded{false, "no"}, then};
  }
  if (then.kept == Kept::starting) {
    then.kept = Kept::daemon;
    return {DaemonStarted{42}, then};
  }
  if (then.kept == Kept::sweeping || then.kept == Kept::lost_sweeping) {
    then.kept = then.kept == Kept::sweeping ? Kept::done : Kept::swept;
    return {FamilyGone{}, then};
  }
  if (!then.stop_asked) {
    then.stop_asked = true;
    return {StopAsked{}, then};
  }
  const bool kill_is_due = place.adapter.describe(Time{0}).find(" signal ") != std::string::npos;
  if (kill_is_due || then.kept != Kept::daemon) return {TimePassed{}, then};
  then.kept = Kept::asking;
  then.killed_otherwise = true;
  return {killed(SIGKILL), then};
}

bool comes_to_its_end(Place place) {
  constexpr int steps_max = 100;
  for (int steps = 0; steps < steps_max && !place.world.left; ++steps) {
    // If the upgrader stops agentify before it has activated agentify, the class Adapter gets no
    // event: the library for agents ends agentify's process by itself.
    if (!place.world.checking && !place.world.activated) return true;
    const Happening happening = last_happening(place);
    if (std::holds_alternative<TimePassed>(happening.event)) {
      const auto next = place.adapter.next_deadline();
      if (!next) return false;
      place.now = std::max(place.now, *next);
    }
    place.world = happening.then;
    if (!judge(place.adapter.step(happening.event, place.now), place.world).empty()) return false;
  }
  return place.world.left;
}

struct Walk {
  std::size_t states = 0;
  std::size_t steps = 0;
  std::vector<std::string> faults;
};

Walk walk(const Terms& terms) {
  Walk result;
  Place begin{Adapter(terms), World{.terms = terms}, Time{0}, ""};
  if (std::string wrong = judge(begin.adapter.begin(), begin.world); !wrong.empty()) {
    result.faults.push_back(wrong);
  }
  std::unordered_set<std::string> known = {begin.key()};
  std::deque<Place> open = {begin};
  while (!open.empty() && result.faults.size() < 5) {
    const Place place = std::move(open.front());
    open.pop_front();
    ++result.states;
    if (!comes_to_its_end(place)) result.faults.push_back("no end:" + place.story);
    std::vector<Happening> list = all_happenings(place.world);
    const auto next = place.adapter.next_deadline();
    if (next) list.push_back({TimePassed{}, place.world});
    for (const Happening& happening : list) {
      if (place.world.left) break;
      Place then{place.adapter, happening.then, place.now,
                 place.story + " " + std::to_string(happening.event.index())};
      if (std::holds_alternative<TimePassed>(happening.event)) then.now = std::max(then.now, *next);
      const Actions actions = then.adapter.step(happening.event, then.now);
      ++result.steps;
      std::string wrong = judge(actions, then.world);
      // After a step for a passed deadline, the adapter's next deadline must lie in the future.
      // Otherwise the real event loop would spin forever without reading any other event.
      const auto later = then.adapter.next_deadline();
      if (std::holds_alternative<TimePassed>(happening.event) && later && *later <= then.now) {
        wrong = "a deadline that has passed is still waited for";
      }
      if (!wrong.empty()) result.faults.push_back(wrong + ":" + then.story);
      if (wrong.empty() && known.insert(then.key()).second) open.push_back(std::move(then));
    }
  }
  return result;
}

std::vector<Terms> all_terms() {
  std::vector<Terms> all;
  for (const ReadyBy by : {ReadyBy::start, ReadyBy::word, ReadyBy::time, ReadyBy::probe}) {
    for (const int variant : {0, 1, 2, 3}) {
      if (by != ReadyBy::word && variant != 1 && variant != 3) continue;
      Terms terms = plain_terms();
      terms.check = variant == 1;
      terms.ready_by = by;
      terms.ready_time = 1s;
      terms.vouch = variant < 2;
      terms.follow = variant == 0 || variant == 3;
      terms.health = variant >= 2;
      terms.health_interval = 2s;
      terms.health_failures = 2;
      terms.health_action = variant == 3 ? HealthAction::exit : HealthAction::silence;
      terms.settle = Duration{variant == 1 ? 0 : 3'000};
      terms.stop = {{{SIGQUIT, 1s}, {SIGTERM, 1s}}};
      all.push_back(terms);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("in every order of events no daemon is left, and every message is true") {
  std::size_t states = 0;
  std::size_t steps = 0;
  for (const Terms& terms : all_terms()) {
    const Walk walked = walk(terms);
    for (const std::string& fault : walked.faults)
      FAIL_CHECK(fault);
    states += walked.states;
    steps += walked.steps;
  }
  std::cout << "report: agentify: " << states << " states, " << steps << " steps\n";
  CHECK(states > 1000);
}

TEST_CASE("the walk finds planted faults") {
  World world{.activated = true, .stop_asked = true};
  world.kept = Kept::sweeping;
  CHECK(judge({SayStopped{}}, world) == "stopped while processes of the daemon may be there");
  World twice{.activated = true};
  CHECK(judge({StartDaemon{}, StartDaemon{}}, twice) == "start");
  Terms following = plain_terms();
  following.follow = true;
  World on_trial{.terms = following, .candidate = true, .activated = true};
  CHECK(judge({Follow{}}, on_trial) == "follows on trial, or held");
  World idle{.terms = following, .activated = true};
  idle.kept = Kept::daemon;
  CHECK(judge({}, idle) == "does not follow");
  World after;
  CHECK(judge({Leave{0}, SayReady{}}, after) == "does something after it has left");
}

}  // namespace explore_test
