#include "fleet/cell/dev_life.h"

#include <algorithm>

namespace fleet {
namespace {

using upgrader::Time;

constexpr Time start_limit{30'000};
constexpr Time stop_limit{10'000};
// The pause before an exited program is started again, as in the fleet's systemd units. If the
// program exits soon again, the pause doubles, at most doublings_max times.
constexpr Time restart_first{1'000};
constexpr int doublings_max = 5;
// If a program has run for this time, its next pause is restart_first again.
constexpr Time well_after{60'000};

}  // namespace

DevLife::DevLife(const std::vector<DevProgram>& programs) {
  for (const DevProgram& program : programs) {
    children_.push_back({.program = program});
    last_start_ = std::max(last_start_, program.starts);
    last_stop_ = std::max(last_stop_, program.stops);
  }
}

DevActions DevLife::step(const DevEvent& event, Time now) {
  DevActions actions;
  if (std::holds_alternative<DevBegan>(event)) {
    start_round(now, actions);
  } else if (std::holds_alternative<DevRoundReady>(event)) {
    if (phase_ != Phase::starting) return actions;
    if (round_ == last_start_) {
      phase_ = Phase::running;
      deadline_ = std::nullopt;
      actions.emplace_back(DevAnnounce{});
    } else {
      ++round_;
      start_round(now, actions);
    }
  } else if (const auto* failed = std::get_if<DevFailed>(&event)) {
    if (phase_ == Phase::stopping || phase_ == Phase::ended) return actions;
    failed_ = true;
    actions.emplace_back(DevSay{failed->reason, true});
    begin_stop(now, actions);
  } else if (const auto* ended = std::get_if<DevEnded>(&event)) {
    note_end(*ended, now, actions);
  } else if (std::holds_alternative<DevStopAsked>(event)) {
    if (phase_ == Phase::stopping) {
      kill_rest(actions);
    } else {
      begin_stop(now, actions);
    }
  } else {
    pass_time(now, actions);
  }
  return actions;
}

std::optional<Time> DevLife::next_deadline() const {
  std::optional<Time> next = deadline_;
  for (const Child& child : children_) {
    next = upgrader::earlier_of(next, child.restart_due);
  }
  return next;
}

void DevLife::start_round(Time now, DevActions& actions) {
  for (std::size_t i = 0; i < children_.size(); ++i) {
    if (children_[i].program.starts == round_) start(i, now, actions);
  }
  deadline_ = now + start_limit;
  actions.emplace_back(DevAwait{round_});
}

void DevLife::start(std::size_t program, Time now, DevActions& actions) {
  Child& child = children_[program];
  child.lives = true;
  child.started = now;
  child.restart_due = std::nullopt;
  actions.emplace_back(DevStart{program});
}

void DevLife::note_end(const DevEnded& ended, Time now, DevActions& actions) {
  Child& child = children_[ended.program];
  child.lives = false;
  if (phase_ == Phase::ended) return;
  if (phase_ == Phase::stopping) {
    stop_round(now, actions);
    return;
  }
  const DevProgram& program = child.program;
  const std::string words = program.name + " " + ended.how + "; its log is " + program.log;
  if (phase_ == Phase::starting && program.starts == round_) {
    failed_ = true;
    actions.emplace_back(DevSay{words, true});
    begin_stop(now, actions);
    return;
  }
  if (now - child.started >= well_after) child.deaths = 0;
  const Time pause = restart_first * (1 << std::min(child.deaths, doublings_max));
  ++child.deaths;
  child.restart_due = now + pause;
  actions.emplace_back(
      DevSay{words + "; it is started again in " + std::to_string(pause.count() / 1'000) + " s"});
}

void DevLife::begin_stop(Time now, DevActions& actions) {
  if (phase_ == Phase::ended) return;
  phase_ = Phase::stopping;
  round_ = -1;
  for (Child& child : children_) {
    child.restart_due = std::nullopt;
  }
  stop_round(now, actions);
}

// Stops the programs of the next round when all programs of the earlier rounds have exited.
void DevLife::stop_round(Time now, DevActions& actions) {
  const auto lives = [this](const Child& child) {
    return child.lives && child.program.stops <= round_;
  };
  while (std::none_of(children_.begin(), children_.end(), lives)) {
    if (round_ == last_stop_) {
      phase_ = Phase::ended;
      deadline_ = std::nullopt;
      actions.emplace_back(DevFinish{failed_});
      return;
    }
    ++round_;
    deadline_ = now + stop_limit;
    for (std::size_t i = 0; i < children_.size(); ++i) {
      if (children_[i].lives && children_[i].program.stops == round_)
        actions.emplace_back(DevTerminate{i});
    }
  }
}

void DevLife::kill_rest(DevActions& actions) const {
  for (std::size_t i = 0; i < children_.size(); ++i) {
    if (children_[i].lives) actions.emplace_back(DevKill{i});
  }
}

void DevLife::pass_time(Time now, DevActions& actions) {
  for (std::size_t i = 0; i < children_.size(); ++i) {
    if (children_[i].restart_due && now >= *children_[i].restart_due) start(i, now, actions);
  }
  if (!deadline_ || now < *deadline_) return;
  deadline_ = std::nullopt;
  if (phase_ == Phase::stopping) {
    for (std::size_t i = 0; i < children_.size(); ++i) {
      const Child& child = children_[i];
      if (!child.lives || child.program.stops > round_) continue;
      actions.emplace_back(DevSay{child.program.name + " does not stop, and is killed", true});
      actions.emplace_back(DevKill{i});
    }
    return;
  }
  failed_ = true;
  actions.emplace_back(DevSay{"the cell is not ready after " +
                                  std::to_string(start_limit.count() / 1'000) +
                                  " s; the logs say why",
                              true});
  begin_stop(now, actions);
}

}  // namespace fleet
