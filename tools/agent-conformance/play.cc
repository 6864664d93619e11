#include "tools/agent-conformance/play.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "tools/agent-conformance/messages.h"
#include "tools/agent-conformance/seen.h"

namespace conformance {

namespace {

using Kind = Step::Kind;
using What = Step::What;

constexpr Duration trace_timeout = std::chrono::seconds{30};

}  // namespace

Play::Play(const Check& check, const Terms& terms) : check_(check), terms_(terms) {
  const Script script = check.script(terms);
  steps_.assign(script.begin(), script.end());
}

Orders Play::begin(Time now) {
  go_on(now);
  return std::exchange(orders_, {});
}

Orders Play::step(const Event& event, Time now) {
  if (over_) return {};
  take_event(event, now);
  go_on(now);
  return std::exchange(orders_, {});
}

void Play::take_event(const Event& event, Time now) {
  const int agent = event.agent;
  Life& it = life(agent);
  const auto note = [&](Entry::Kind kind, const std::string& text) {
    transcript_.add(now, agent, kind, text);
  };
  std::visit(Overloaded{
                 [&](const Started& started) {
                   it.pid = started.pid;
                   note(Entry::Kind::happened, name(agent) + " is started as process " +
                                                   std::to_string(it.pid) +
                                                   (it.role.empty() ? "" : ", role " + it.role));
                 },
                 [&](const NotStarted& failed) {
                   not_started_ = failed.why;
                   over_ = true;
                 },
                 [&](const Line& line) { take_line(agent, line, now); },
                 [&](const ErrorLine& line) { note(Entry::Kind::error_output, line.bytes); },
                 [&](const OutputClosed&) { take_close(agent, now); },
                 [&](const Exited& exited) { take_exit(agent, exited, now); },
                 [&](const InputTaken&) { it.input_taken = true; },
                 [&](const Looked& looked) { it.looks.push_back(*looked.facts); },
                 [&](const Traced& traced) { it.trace.push_back(traced.line); },
                 [&](const TraceEnded&) { it.trace_ended = true; },
                 [&](const TimeUp&) { take_time_up(now); },
             },
             event.what);
}

void Play::go_on(Time now) {
  while (!over_ && !steps_.empty()) {
    if (!begun_) {
      begun_ = true;
      time_up_ = false;
      const Step step = steps_.front();
      begin_step(step, now);
      // begin_step() may have ended the check, or may have replaced a step of the kind `judge` by
      // other steps. Then `step` is no longer the current step, so the loop starts again.
      if (over_ || !begun_) continue;
    }
    if (!is_done(steps_.front())) return;
    steps_.pop_front();
    begun_ = false;
    deadline_.reset();
  }
  over_ = true;
  deadline_.reset();
}

void Play::begin_step(const Step& step, Time now) {
  const int agent = step.agent;
  const auto note = [&](const std::string& text) {
    transcript_.add(now, agent, Entry::Kind::happened, text);
  };
  const Duration time = time_for(step);
  if (time > Duration{0}) deadline_ = now + time;
  switch (step.kind) {
    case Kind::start:
      return start(step, now);
    case Kind::tell:
      return tell_step(step, now);
    case Kind::judge:
      return judge_now(step, now);
    case Kind::hang_up:
      life(agent).hung_up = true;
      note("the input of " + name(agent) + " ends");
      return order(agent, HangUp{});
    case Kind::signal:
      life(agent).signalled = true;
      note(name(agent) + " is sent SIGTERM");
      return order(agent, Signal{SIGTERM});
    case Kind::taken:
      life(agent).input_taken = false;
      return order(agent, TellWhenTaken{});
    case Kind::look:
      looks_before_ = life(agent).looks.size();
      return order(agent, Look{});
    case Kind::clog:
      note("the output of " + name(agent) + " is full from here on");
      return order(agent, Clog{});
    case Kind::unclog:
      note("the output of " + name(agent) + " is read again");
      return order(agent, Unclog{});
    case Kind::watch:
    case Kind::await:
    case Kind::traced:
      return;
  }
}

void Play::start(const Step& step, Time now) {
  lives_.push_back(step.life);
  seats_.push_back({.welcome = step.text,
                    .bytewise = step.bytewise,
                    .is_alone = step.terms.alone,
                    .is_clogged = step.terms.clogged});
  order(step.agent, step.terms);
  if (step.terms.clogged) {
    transcript_.add(now, step.agent, Entry::Kind::happened,
                    "the output of " + name(step.agent) + " is full when it is started");
  }
}

void Play::tell_step(const Step& step, Time now) {
  Life& it = life(step.agent);
  if (step.activates) it.told_activate = true;
  if (step.stops) {
    it.told_stop = true;
    it.said_cancel = false;
    it.upgrade = step.upgrade;
  }
  tell(step.agent, step.text, now, step.bytewise);
}

void Play::judge_now(const Step& step, Time now) {
  Judgement judgement = step.judge(lives_, now);
  notes_.insert(notes_.end(), judgement.notes.begin(), judgement.notes.end());
  if (judgement.fault) return fail(judgement.fault->came, judgement.fault->quote);
  steps_.pop_front();
  steps_.insert(steps_.begin(), judgement.more.begin(), judgement.more.end());
  begun_ = false;
}

bool Play::is_done(const Step& step) const {
  if (step.kind == Kind::watch) return time_up_;
  const Life& it = lives_[static_cast<std::size_t>(step.agent)];
  switch (step.kind) {
    case Kind::start:
      return it.pid != 0;
    case Kind::taken:
      return it.input_taken;
    case Kind::look:
      return it.looks.size() > looks_before_;
    case Kind::traced:
      return it.trace_ended;
    case Kind::await:
      break;
    case Kind::watch:
    case Kind::tell:
    case Kind::hang_up:
    case Kind::signal:
    case Kind::clog:
    case Kind::unclog:
    case Kind::judge:
      return true;
  }
  switch (step.what) {
    case What::hello:
      return it.said_hello;
    case What::ready:
      return it.said_ready;
    case What::stopped:
      return it.said_stopped;
    case What::answer:
      return it.said_stopped || it.said_cancel;
    case What::closed:
      return it.output_closed;
    case What::exit:
      break;
  }
  return it.exited.has_value();
}

Duration Play::time_for(const Step& step) const {
  if (step.time > Duration{0} || step.kind == Kind::watch) return step.time;
  if (step.kind == Kind::taken || step.kind == Kind::start) return terms_.start_timeout;
  if (step.kind == Kind::look) return terms_.start_timeout;
  if (step.kind == Kind::traced) return trace_timeout;
  if (step.kind != Kind::await) return Duration{0};
  if (!step.awaits_word()) return terms_.exit_grace;
  const bool starts = step.what == What::hello || step.what == What::ready;
  return starts ? terms_.start_timeout : terms_.stop_timeout;
}

void Play::tell(int agent, const std::string& lines, Time now, bool bytewise) {
  if (life(agent).hung_up) return;
  std::string_view rest = lines;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    transcript_.add(now, agent, Entry::Kind::told, line);
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  order(agent, Write{.bytes = lines, .bytewise = bytewise});
}

void Play::take_time_up(Time now) {
  if (!deadline_ || now < *deadline_ || steps_.empty() || !begun_) return;
  deadline_.reset();
  if (steps_.front().kind == Kind::watch) {
    time_up_ = true;
    return;
  }
  transcript_.add(now, steps_.front().agent, Entry::Kind::happened, "the time is up");
  fail(waited_in_vain(steps_.front()));
}

void Play::fail(const std::string& came, std::optional<Quote> quote) {
  if (!fault_) fault_ = Fault{shown_whole(came), quote};
  over_ = true;
  deadline_.reset();
}

std::string Play::waited_in_vain(const Step& step) const {
  const std::string it = name(step.agent);
  const std::string within = " within " + duration_in_words(time_for(step));
  if (step.kind == Kind::taken) return it + " did not read what it was told" + within;
  if (step.kind != Kind::await) return "this could not be looked at" + within;
  switch (step.what) {
    case What::hello:
      return it + " did not say hello" + within;
    case What::ready:
      return it + " did not say ready" + within;
    case What::stopped:
      return it + " did not say stopped" + within;
    case What::answer:
      return it + " said neither stopped nor cancel" + within;
    case What::closed:
      return "its output is still open " + duration_in_words(time_for(step)) +
             " after its exit: something that it started holds it";
    case What::exit:
      break;
  }
  return it + " had not exited" + within;
}

std::string Play::name(int agent) const {
  const bool several = lives_.size() > 1;
  return several ? "agent " + std::to_string(agent + 1) : "it";
}

}  // namespace conformance
