// This file writes the moves of an exploration as a scenario: see tell() in explorer.h.
#include <algorithm>
#include <cerrno>

#include "tests/decisions/explore/explorer.h"
#include "tests/support/bench.h"

namespace upgrader::test {
namespace {

std::string options_of(const Policy& policy) {
  const auto option = [](const char* name, Duration time) {
    return std::string(" --") + name + "=" + std::to_string(time.count()) + "ms";
  };
  return "options" + option("start-timeout", policy.defaults.start_timeout) +
         option("stop-timeout", policy.defaults.stop_timeout) +
         option("trial", policy.defaults.trial) + option("exit-grace", policy.exit_grace) +
         (policy.relink ? " --relink" : "") + (policy.previous ? " --previous=previous" : "") +
         (policy.attempts ? " --attempts=3" : "") +
         (policy.defaults.gate == agent_protocol::Gate::confirm ? " --gate=confirm" : "") +
         (policy.defaults.commit == agent_protocol::CommitRule::healthy ? " --commit=healthy"
                                                                        : "") +
         (policy.defaults.mode == agent_protocol::Mode::sequential ? " --mode=sequential" : "") +
         (policy.defaults.on_unclean_stop == agent_protocol::UncleanStop::carry_on
              ? " --on-unclean-stop=continue"
              : "") +
         (policy.defaults.fallback == agent_protocol::FallbackMode::warm ? " --fallback=warm"
                                                                         : "") +
         (policy.watchdog == Duration::zero()
              ? ""
              : "\nwatchdog " + std::to_string(policy.watchdog.count()) + "ms");
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

class Teller {
 public:
  Teller(const Policy& policy, const StepFunction& step)
      : step_(step), supervisor_(policy), watcher_(policy.exit_grace) {
    story_.text = options_of(policy) + "\n";
  }

  // Adds a move to the text of the scenario. Returns false if a scenario cannot express the move.
  bool tell(const Move& move) {
    const EventKind kind = kind_of(move.steps[0]);
    if (kind == EventKind::limit_unseen || kind == EventKind::close_limit_unseen ||
        kind == EventKind::heartbeat_limit_unseen || kind == EventKind::hello_limit_unseen ||
        kind == EventKind::upgrade_limit_unseen || kind == EventKind::attempts_limit_unseen) {
      return true;  // the supervisor does nothing, so there is nothing to write
    }
    say_outcomes(move);
    if (kind == EventKind::limit || kind == EventKind::close_limit ||
        kind == EventKind::heartbeat_limit || kind == EventKind::hello_limit ||
        kind == EventKind::upgrade_limit || kind == EventKind::attempts_limit) {
      return let_pass(move);
    }
    std::vector<NamedEvent> events = every_event(supervisor_.state());
    for (NamedEvent& asked : every_control_event(supervisor_.state()))
      events.push_back(std::move(asked));
    for (NamedEvent& start : every_start_at_boot())
      events.push_back(std::move(start));
    for (const NamedEvent& each : events) {
      if (!is_meant(each.event, move.steps[0])) continue;
      story_.text += first_line(each.name) + "\n";
      take(each.event, move);
      return true;
    }
    return false;
  }

  Story finish() {
    story_.violations = watcher_.violations();
    return std::move(story_);
  }

 private:
  // Returns whether the event is of the class `wanted`. The exploration has extra classes for an
  // `extend` or a `cancel` just before a deadline. A scenario has no such classes, so here they
  // count as the usual class of `extend` or `cancel`.
  bool is_meant(const Event& event, EventClass wanted) const {
    EventClass usual = wanted;
    if (kind_of(wanted) == EventKind::extend_at_limit) {
      usual = class_for(speaker_of(wanted), EventKind::extend);
    } else if (kind_of(wanted) == EventKind::cancel_at_limit) {
      usual = class_for(speaker_of(wanted), EventKind::cancel);
    }
    return class_of(supervisor_.state(), event, now_) == usual;
  }

  // Returns the outcome with the errno that a scenario uses for a failed start, which is EAGAIN.
  // The exploration uses EIO for every failure.
  static Event as_named(Event outcome, Pending pending) {
    auto& its = std::get<Outcome>(outcome);
    const bool spawn_fails = pending == Pending::spawn && its.refused && !its.not_executable;
    if (spawn_fails) its.refused->error_number = EAGAIN;
    return outcome;
  }

  // Writes a line such as "next check fails EIO" into the scenario for each outcome of the move, in
  // the order of the outcomes.
  void say_outcomes(const Move& move) {
    for (std::size_t at = 1; at < move.length; ++at)
      say_outcome(move.steps[at]);
  }

  void say_outcome(EventClass happens) {
    for (const Pending pending :
         {Pending::way_back, Pending::check, Pending::link_back, Pending::spawn,
          Pending::relink_proof, Pending::relink, Pending::activate}) {
      State asked;
      asked.pending = pending;
      asked.spawning = asked.incumbent = Agent{};
      for (const NamedEvent& outcome : every_outcome(asked)) {
        const bool is_it = class_of(asked, outcome.event, now_) == happens;
        if (is_it && !outcome.name.empty()) story_.text += outcome.name + "\n";
      }
    }
  }

  bool let_pass(const Move& move) {
    const std::optional<Time> next = supervisor_.next_deadline();
    const bool is_next =
        next && class_of(supervisor_.state(), DeadlinePassed{}, *next) == move.steps[0];
    if (!is_next) return false;
    const Time then = std::max(*next, now_);
    // `move` lets one deadline pass, but the line `wait` of a scenario lets all deadlines at that
    // instant pass. So the move cannot be written as a scenario if another deadline lies at the
    // same instant. A copy of the supervisor shows whether there is one.
    Supervisor ahead = supervisor_;
    (void)ahead.step(DeadlinePassed{}, then);
    const std::optional<Time> another = ahead.next_deadline();
    if (another && *another <= then) return false;
    story_.text += "wait " + std::to_string((then - now_).count()) + "ms\n";
    now_ = then;
    take(DeadlinePassed{}, move);
    return true;
  }

  void take(const Event& event, const Move& move) {
    Actions all = step(event);
    for (std::size_t at = 1; at < move.length; ++at) {
      if (supervisor_.state().pending == Pending::nothing) break;
      for (const NamedEvent& outcome : every_outcome(supervisor_.state())) {
        if (class_of(supervisor_.state(), outcome.event, now_) != move.steps[at]) continue;
        const Actions more = step(as_named(outcome.event, supervisor_.state().pending));
        all.insert(all.end(), more.begin(), more.end());
        break;
      }
    }
    for (const std::string& line : summary(all))
      story_.text += "> " + line + "\n";
    story_.text += "= " + std::string(name_of(supervisor_.phase())) + "\n";
  }

  Actions step(const Event& event) {
    Actions actions = step_(supervisor_, event, now_);
    watcher_.see(event, actions, now_);
    return actions;
  }

  const StepFunction& step_;
  Supervisor supervisor_;
  Watcher watcher_;
  Time now_{1'000'000};
  Story story_;
};

}  // namespace

Story tell(const Policy& policy, const std::vector<Move>& moves, const StepFunction& step) {
  Teller teller(policy, step);
  bool told = true;
  for (const Move& move : moves)
    told = told && teller.tell(move);
  Story story = teller.finish();
  if (!told) story.text += "# the rest cannot be told with these times and words\n";
  return story;
}

}  // namespace upgrader::test
