#include "tests/adversity/kill/point.h"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <sstream>

#include "tests/adversity/kill/aftermath.h"
#include "tests/together/integration/process_table.h"

namespace kill_points {
namespace {

// Keeps this process, and all processes that it starts, on one processor. These processes run one
// at a time anyway, and on one processor the run takes a third less time.
class OneProcessor {
 public:
  OneProcessor() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OneProcessor() { let_go(0); }
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;

  // Allows a process (0: the calling process) to use all processors that this test could use before
  // the constructor ran.
  void let_go(pid_t pid) const { sched_setaffinity(pid, sizeof before_, &before_); }

 private:
  cpu_set_t before_{};
};

constexpr const char* after_signals[] = {"SIGKILL", "SIGSEGV", "SIGSTOP"};

// Returns whether the step is a system call that has no meaning in an upgrade. Such calls are steps
// only if every system call of the upgrader is a step. Their names contain `-calls-`.
bool is_any_call(const std::string& step) {
  return step.find("-calls-") != std::string::npos;
}

int number_of(const std::string& signal) {
  return signal == "SIGKILL" ? SIGKILL : signal == "SIGSEGV" ? SIGSEGV : SIGSTOP;
}

// A story (a scripted upgrade) that runs under the tracer.
class Play {
 public:
  Play(const Cast& cast, const Setting& setting, bool every_call)
      : scene_(cast, setting),
        tracer_(setting.order, cast.agents),
        steps_(tracer_, every_call),
        moment_(setting) {}

  bool start() {
    if (!scene_.start() || !tracer_.seize(scene_.started().front())) return false;
    scene_.let_upgrader_go();
    return true;
  }

  // Runs the upgrade until it takes a step for whose name `halt` returns true. Steps before the
  // beginning of the upgrade are not passed to `halt`. Returns false if all processes sleep or have
  // ended before such a step.
  bool run(const std::function<bool(const std::string&)>& halt) {
    return tracer_.run([&](const Stop& stop) {
      const auto name = pass(stop);
      return name && moment_.begun() && halt(*name);
    });
  }

  std::optional<std::string> pass(const Stop& stop) {
    const auto step = steps_.step_of(stop);
    if (!step) return std::nullopt;
    moment_.pass(*step);
    return steps_.numbered(*step);
  }

  Tracee* find(const std::string& victim) {
    for (Tracee& tracee : tracer_.tracees()) {
      const bool alive = tracee.is != Tracee::Is::ended && !tracee.doomed;
      if (alive && moment_.role_of(tracee.generation) == victim) return &tracee;
    }
    return nullptr;
  }

  void let_go() {
    processor_.let_go(0);
    processor_.let_go(scene_.init());
    for (const pid_t pid : scene_.descendants())
      processor_.let_go(pid);
    tracer_.let_go();
  }

  OneProcessor processor_;
  Scene scene_;
  Tracer tracer_;
  Steps steps_;
  Moment moment_;
};

// Waits until all processes sleep. Leaves out the process `frozen`, which SIGSTOP has stopped.
void wait_for_rest(Play& play, pid_t frozen) {
  int quiet = 0;
  std::vector<pid_t> before;
  static_cast<void>(play.scene_.wait_until(play.tracer_, [&] {
    const std::vector<pid_t> now = play.scene_.descendants();
    bool asleep = now == before;
    for (const pid_t pid : now) {
      const char state = integration::state_of(pid);
      asleep = asleep && (pid == frozen || state == 'S' || state == 'Z');
    }
    before = now;
    quiet = asleep ? quiet + 1 : 0;
    return quiet == 2;
  }));
}

// Sends the signal to the process `victim`. Returns all ends of the upgrade that the rules allow
// after the signal, or an empty set if the signal had no effect.
std::set<Allowed> strike(Play& play, Tracee& victim, const Point& point) {
  const int signal = number_of(point.signal);
  if (signal != SIGSTOP) {
    const bool ended =
        play.tracer_.end_by(victim, signal, [&](const Stop& stop) { play.pass(stop); });
    return ended ? play.moment_.after_end_of(victim.generation, signal) : std::set<Allowed>{};
  }
  if (!play.tracer_.freeze(victim)) return {};
  play.tracer_.run_first_ones();
  play.let_go();
  wait_for_rest(play, victim.pid);
  // The signal was SIGSTOP. The victim must stay stopped until the end, unless the upgrader kills
  // it.
  char state = '\0';
  const bool still = play.scene_.wait_until(play.tracer_, [&] {
    state = integration::state_of(victim.pid);
    return state == 'T' || state == 'Z' || state == '\0';
  });
  if (!still) return {};
  if (state == 'T') kill(victim.pid, SIGCONT);
  return {{point.setting.story->end}};
}

std::vector<std::string> versions_that_may_be_named(const Setting& setting, const Moment& moment) {
  std::vector<std::string> versions;
  if (!setting.story->relink || moment.may_be_uncommitted()) versions.emplace_back("v1");
  if (setting.story->relink && moment.may_be_committed()) versions.emplace_back("v2");
  return versions;
}

}  // namespace

std::string Point::name() const {
  return setting.name() + "/" + victim + "/" + step + "/" + signal;
}

Verdict play(const Cast& cast, const Point& point, bool deaf) {
  Verdict verdict;
  Play play(cast, point.setting, is_any_call(point.step));
  const bool reached =
      play.start() && play.run([&](const std::string& step) { return step == point.step; });
  Tracee* const victim = reached ? play.find(point.victim) : nullptr;
  if (victim == nullptr) {
    verdict.wrong =
        reached ? "nobody is " + point.victim + " at this step" : "this step was never reached";
    verdict.account = play.scene_.account();
    return verdict;
  }
  const Aftermath::Party party{.generation = victim->generation,
                               .pid = victim->pid,
                               .ended = number_of(point.signal) != SIGSTOP};
  Aftermath aftermath(play.scene_, play.tracer_, point.setting, party);
  const std::set<Allowed> allowed = deaf ? std::set<Allowed>{} : strike(play, *victim, point);
  verdict.struck = !allowed.empty();
  play.tracer_.run_first_ones();
  play.let_go();
  if (verdict.struck) {
    verdict.wrong =
        aftermath.judge(allowed, versions_that_may_be_named(point.setting, play.moment_));
  } else {
    verdict.wrong = "the signal was not delivered at this step";
  }
  verdict.end = aftermath.end();
  if (!verdict.wrong.empty()) verdict.account = play.scene_.account();
  return verdict;
}

Survey survey(const Cast& cast, const Setting& setting, bool every_call) {
  Survey result;
  Play play(cast, setting, every_call);
  const auto note = [&](const std::string& step) {
    for (const char* victim : {"active", "candidate", "fallback", "first", "upgrader"}) {
      const Tracee* const party = play.find(victim);
      if (party == nullptr) continue;
      // A system call that has no meaning in an upgrade is a kill point only if the upgrader gets
      // the signal. If an agent gets the signal, it makes no difference at which of these calls the
      // signal comes.
      if (is_any_call(step) && std::string_view(victim) != "upgrader") continue;
      for (const char* signal : after_signals) {
        // At the beginning of a system call only SIGKILL is tried. The other signals would take
        // effect only at the end of the call, which is a kill point of its own.
        if (!step.starts_with("after-") && signal != after_signals[0]) continue;
        if (signal != after_signals[0] && awaits_execution(*party)) continue;
        result.points.push_back({setting, victim, step, signal});
      }
    }
    return false;
  };
  if (!play.start()) {
    result.verdict.wrong = "the story could not be started";
    return result;
  }
  play.run(note);
  result.verdict.struck = true;
  Aftermath aftermath(play.scene_, play.tracer_, setting, {});
  play.let_go();
  const std::vector<std::string> versions = versions_that_may_be_named(setting, play.moment_);
  result.verdict.wrong = aftermath.judge({{setting.story->end}}, versions);
  result.verdict.end = aftermath.end();
  if (!result.verdict.wrong.empty()) result.verdict.account = play.scene_.account();
  return result;
}

bool parse(const std::string& name, Point& point) {
  std::vector<std::string> parts;
  std::istringstream rest(name);
  for (std::string part; std::getline(rest, part, '/');)
    parts.push_back(part);
  if (parts.size() != 7) return false;
  for (const Setting& setting : all_settings()) {
    if (name.starts_with(setting.name() + "/")) {
      point = {setting, parts[4], parts[5], parts[6]};
      return point.name() == name;
    }
  }
  return false;
}

}  // namespace kill_points
