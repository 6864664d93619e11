// This target turns the input into a story, which is a sequence of events, and gives these events
// to a supervisor. A watcher checks every step from outside. These rules must hold, too:
// * The codec can write every message that the supervisor sends, and the tests' own decoder
//   (second_decoder.h) can read it.
// * Events about an ended agent change nothing.
// * After the story's end, the supervisor can make a good upgrade.
#include <algorithm>
#include <csignal>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "agent-protocol/cpp/wire/codec.h"
#include "tests/adversity/fuzz/second_decoder.h"
#include "tests/adversity/fuzz/target.h"
#include "tests/decisions/explore/explorer.h"
#include "tests/support/every_event.h"
#include "tests/support/watcher.h"
#include "upgrader/core/event.h"
#include "upgrader/core/supervisor.h"

namespace fuzz {

namespace {

using namespace agent_protocol;
using namespace upgrader;

// ---- the story (the sequence of events) into which an input is turned: messages of agents,
// outcomes of the supervisor's actions, and the passing of time. Most bytes stand for likely
// events, so that a story reaches the later phases of an upgrade.

struct Happening {
  std::string name;  // the event's name in the story that is printed for people
  // The events that the supervisor gets: none if only time passes, and usually one. If an agent has
  // ended, the events are the agent's last messages, which are read only now, and then the agent's
  // exit.
  std::vector<Event> events;
  Duration later{};                // the time since the previous event
  bool deadlines_are_seen = true;  // whether deadlines that passed in this time are reported
  int outcome = 0;                 // selects the outcome of the supervisor's next action
};

template <class Value, std::size_t count>
Value pick(const Value (&values)[count], unsigned index) {
  return values[index % count];
}

// Returns a text of up to `bytes_max` bytes that an agent could have sent.
std::string take_text(Bytes& bytes, std::size_t bytes_max) {
  static constexpr std::string_view units[] = {"a", "\"", "\\", "\n", "\x1f", "\u00e9", "\u20ac"};
  const unsigned char code = bytes.take();
  const std::string_view unit = pick(units, code);
  const std::size_t length = code < 128 ? code / 16 : interesting_length(bytes.take());
  std::string text;
  while (text.size() + unit.size() <= std::min(length, bytes_max))
    text += unit;
  return text;
}

// Returns a text with arbitrary bytes, as a path or an error message of the system may have them.
std::string take_bytes(Bytes& bytes) {
  static constexpr std::size_t path_max = 4'096;
  const unsigned char unit = bytes.take();
  const std::size_t length = std::min(interesting_length(bytes.take()), path_max);
  return "no " + std::string(length, static_cast<char>(unit));
}

std::string take_id(Bytes& bytes) {
  static const std::string longest(64, '~');
  const std::string ids[] = {"u1", "u2", longest, " "};
  return pick(ids, bytes.take());
}

// Returns an upgrade's id for a message such as `confirm` or `cancel`. Some ids have the form that
// the supervisor gives to the ids of upgrades by SIGUSR2. Agents here never request an upgrade with
// such an id, so the watcher can tell the two kinds of upgrades apart.
std::string take_any_id(Bytes& bytes) {
  static const std::string ids[] = {"sigusr2-1", "sigusr2-2"};
  const unsigned char code = bytes.take();
  return code >= 192 ? pick(ids, code) : take_id(bytes);
}

std::optional<std::string> take_optional_text(Bytes& bytes, std::size_t bytes_max) {
  if (bytes.take() % 2 == 0) return std::nullopt;
  return take_text(bytes, bytes_max);
}

std::optional<std::int64_t> timeout(unsigned code, std::int64_t least) {
  const std::optional<std::int64_t> timeouts[] = {{}, least, 5'000, 86'400'000};
  return pick(timeouts, code);
}

Upgrade take_upgrade(Bytes& bytes) {
  static constexpr std::optional<Mode> modes[] = {{}, Mode::parallel, Mode::sequential, {}};
  static constexpr std::optional<Gate> gates[] = {{}, Gate::none, Gate::confirm, {}};
  static constexpr std::optional<CommitRule> commits[] = {
      {}, CommitRule::survive, CommitRule::healthy, {}};
  static constexpr std::optional<UncleanStop> uncleans[] = {
      {}, UncleanStop::fall_back, UncleanStop::carry_on, {}};
  Upgrade upgrade{.id = take_id(bytes), .executable = "/opt/agent-v2"};
  const unsigned how = bytes.take();
  upgrade.mode = pick(modes, how);
  upgrade.gate = pick(gates, how / 4);
  upgrade.commit = pick(commits, how / 16);
  upgrade.on_unclean_stop = pick(uncleans, how / 64);
  const unsigned when = bytes.take();
  upgrade.start_timeout_ms = timeout(when, 0);
  upgrade.confirm_timeout_ms = timeout(when / 4, 0);
  upgrade.stop_timeout_ms = timeout(when / 16, 1);
  upgrade.trial_ms = timeout(when / 64, 0);
  if (when % 8 == 7) upgrade.fallback = FallbackMode::warm;
  return upgrade;
}

struct Said {
  std::string name;
  AgentMessage message;
};

constexpr unsigned kinds_of_messages = 12;

Said take_message(Bytes& bytes, unsigned kind) {
  static constexpr std::int64_t times[] = {1, 1'000, 60'000, 86'400'000};
  switch (kind % kinds_of_messages) {
    case 0:
      return {"hello", Hello{.version = take_optional_text(bytes, version_bytes_max), .features{}}};
    case 1:
    case 2:
      return {"ready", Ready{}};
    case 3:
      return {"unfit", Unfit{take_text(bytes, reason_bytes_max)}};
    case 4: {
      const Upgrade upgrade = take_upgrade(bytes);
      return {"upgrade " + upgrade.id, upgrade};
    }
    case 5: {
      const std::string id = take_any_id(bytes);
      return {"confirm " + id, Confirm{id}};
    }
    case 6: {
      const std::string id = take_any_id(bytes);
      return {"cancel " + id, Cancel{id, take_optional_text(bytes, reason_bytes_max)}};
    }
    case 7:
      return {"stopped", Stopped{take_optional_text(bytes, state_bytes_max)}};
    case 8:
      return {"healthy", Healthy{}};
    case 9: {
      const std::int64_t ms = pick(times, bytes.take());
      return {"extend " + std::to_string(ms), Extend{ms}};
    }
    case 10:
      return {"heartbeat", Heartbeat{}};
    default:
      return {"status", Status{take_text(bytes, status_bytes_max)}};
  }
}

struct Somebody {
  Generation generation;
  std::string name;
};

Somebody somebody(unsigned code, const State& state) {
  Generation generation = state.last_generation;
  if (code % 4 == 0 && state.incumbent) generation = state.incumbent->generation;
  if (code % 4 == 1 && state.candidate) generation = state.candidate->generation;
  if (code % 4 == 3) generation = state.last_generation + 7;
  return {generation, std::to_string(generation) + " "};
}

Happening agent_exits(Bytes& bytes, const Somebody& who) {
  const unsigned char code = bytes.take();
  const Ending ending = code < 128 ? Ending{Ending::How::exited, code % 4}
                                   : Ending{Ending::How::signalled, code % 4 * 3 + 6};
  return {who.name + "exits", {ProcessExited{who.generation, ending}}};
}

Happening agent_says(Bytes& bytes, const Somebody& who, unsigned kind) {
  Said said = take_message(bytes, kind);
  return {who.name + said.name, {MessageReceived{who.generation, std::move(said.message), false}}};
}

Happening agent_says_at_last(Bytes& bytes, const Somebody& who) {
  Said said = take_message(bytes, bytes.take());
  Happening happening = agent_exits(bytes, who);
  happening.name = who.name + "last-word " + said.name + "\n" + happening.name;
  happening.events.insert(happening.events.begin(),
                          MessageReceived{who.generation, std::move(said.message), true});
  return happening;
}

Happening agent_is_refused(Bytes& bytes, const Somebody& who) {
  const unsigned char code = bytes.take();
  if (code % 4 == 0) {
    std::string type = take_text(bytes, line_bytes_max);
    if (code >= 128) type += '\0';  // a NUL in the type stands for a lone surrogate on the wire
    return {who.name + "unknown", {MessageRefused{who.generation, Unknown{type}}}};
  }
  Malformed malformed{"extend", std::string(interesting_length(code), 'r'), std::nullopt};
  if (code % 4 == 1) malformed.type = "upgrade";
  if (code % 8 == 1) malformed.id = take_id(bytes);
  return {who.name + "malformed " + malformed.type, {MessageRefused{who.generation, malformed}}};
}

Happening time_passes(Bytes& bytes) {
  static constexpr std::int64_t times[] = {1,      200,    999,    1'000,   5'000,
                                           10'000, 30'000, 90'000, 300'000, 86'400'000};
  const unsigned char code = bytes.take();
  Happening happening;
  happening.later = Duration(pick(times, code));
  happening.deadlines_are_seen = code < 192;
  happening.name = "wait " + std::to_string(happening.later.count()) +
                   (happening.deadlines_are_seen ? "" : "  # and nobody looks");
  return happening;
}

// Returns options for a supervisor, which a byte of the input selects. The command line of the
// upgrader can set each of these values.
Policy take_policy(Bytes& bytes) {
  static constexpr Duration graces[] = {Duration(10'000), Duration(0)};
  const unsigned how = bytes.take();
  Policy policy;
  policy.defaults.mode = how & 1 ? Mode::sequential : Mode::parallel;
  policy.defaults.on_unclean_stop = how & 2 ? UncleanStop::carry_on : UncleanStop::fall_back;
  policy.defaults.start_timeout = how & 4 ? Duration(0) : Duration(300'000);
  policy.defaults.stop_timeout = how & 8 ? Duration(1) : Duration(90'000);
  policy.defaults.trial = how & 16 ? Duration(0) : Duration(30'000);
  policy.exit_grace = pick(graces, how / 32);
  policy.relink = how & 64;
  return policy;
}

Happening take_happening(Bytes& bytes, const State& state) {
  if (state.last_generation == 0 && state.pending == Pending::nothing && !state.ended &&
      bytes.left() % 16 != 0) {
    return {"start", {StartRequested{1, std::nullopt}}};
  }
  const unsigned char code = bytes.take();
  const Somebody who = somebody(code / 64, state);
  const unsigned deed = code % 64;
  if (deed < 3 * kinds_of_messages) return agent_says(bytes, who, deed);
  if (deed < 42) return agent_exits(bytes, who);
  if (deed < 46) return time_passes(bytes);
  switch (deed) {
    case 46:
    case 47:
      return agent_says_at_last(bytes, who);
    case 48:
      return agent_is_refused(bytes, who);
    case 49:
      return {who.name + "stray", {StrayReceived{who.generation, "oops"}}};
    case 50:
      return {who.name + "closes output", {OutputClosed{who.generation}}};
    case 51:
      return {who.name + "closes input", {InputClosed{who.generation}}};
    case 52:
      return {who.name + "takes activate", {ActivateWritten{who.generation}}};
    case 53:
      return {"sigterm", {StopRequested{}}};
    case 54:
      return {"sigquit", {QuitRequested{}}};
    case 55:
      return {"sigusr2", {UpgradeRequested{}}};
    case 56:
      return {"sighup", {SignalReceived{SIGHUP}}};
    case 57:
      return {"# somebody looks at the clock", {DeadlinePassed{}}};
    case 58:
      return {"# somebody has looked long ago", {DeadlinePassed{Time(0)}}};
    default: {
      Happening happening;
      happening.name = "# the next order does not go well";
      happening.outcome = 1 + code / 128;
      return happening;
    }
  }
}

// Returns one of the outcomes for which the supervisor may wait now, such as a failure of a
// program's start. `which` selects the outcome. The reason of a failure comes from the input.
Event take_outcome(Bytes& bytes, const State& state, int which) {
  const std::vector<test::NamedEvent> all = test::every_outcome(state);
  Event event = all[static_cast<std::size_t>(which) % all.size()].event;
  if (std::optional<Refusal>& refused = std::get<Outcome>(event).refused) {
    refused->reason = take_bytes(bytes);
    if (bytes.take() % 2 != 0) refused->error_number = 0;
  }
  return event;
}

// ---- the run of a supervisor through the events of one input, with checks after every event

// The largest number of actions that one event may cause. A fall-back causes the most: the upgrader
// sends a report, kills an agent, starts the fallback, and logs each of these.
constexpr std::size_t actions_max = 12;
// The number of events that a good upgrade takes: upgrade, hello, ready, stopped, exit, and the end
// of the trial. The function events_to_commit() in explorer.h counts them.
constexpr std::size_t useful_events = 6;

// Returns the generation of the agent that an event is about, or 0 if the event is about no agent.
Generation subject(const Event& event) {
  return std::visit(
      [](const auto& of_some_kind) -> Generation {
        if constexpr (requires { of_some_kind.generation; }) return of_some_kind.generation;
        return 0;
      },
      event);
}

bool knows(const State& state, Generation generation) {
  return (state.incumbent && state.incumbent->generation == generation) ||
         (state.candidate && state.candidate->generation == generation);
}

// The largest number of deadlines that can pass at one instant: several deadlines of each agent,
// and the deadline of the upgrade.
constexpr int deadlines_max = 5;
// When the test moves the clock, it reports at most this many passed deadlines. There can be very
// many: while a killed agent does not exit, the supervisor logs that again and again, and sets a
// new deadline each time.
constexpr int reported_max = 50;

class Stage {
 public:
  Stage(const Policy& policy, std::string* story)
      : supervisor_(policy), watcher_(policy.exit_grace), story_(story) {}

  void play(Bytes& bytes) {
    while (!bytes.empty()) {
      const Happening happening = take_happening(bytes, supervisor_.state());
      tell(happening.name);
      let_pass(happening, bytes);
      if (happening.outcome != 0) outcome_ = happening.outcome;
      for (const Event& event : happening.events)
        take(event, bytes);
    }
    must(test::comes_to_rest(supervisor_), "Time: it never ends");
    if (supervisor_.phase() != Phase::running) return;
    must(!supervisor_.next_deadline(), "Resources: it wakes while nothing is under way");
    const bool useful = test::events_to_commit(supervisor_) == useful_events;
    must(useful, "Usefulness: a good upgrade does not commit");
  }

 private:
  void tell(const std::string& line) {
    if (story_ != nullptr) *story_ += printable(line) + "\n";
  }

  void let_pass(const Happening& happening, Bytes& bytes) {
    const Time end = now_ + happening.later;
    int stays = 0;
    for (int reported = 0; happening.deadlines_are_seen && reported < reported_max; ++reported) {
      const std::optional<Time> next = supervisor_.next_deadline();
      if (!next || *next > end) break;
      now_ = std::max(now_, *next);
      take(DeadlinePassed{}, bytes);
      stays = supervisor_.next_deadline() == next ? stays + 1 : 0;
      must(stays < deadlines_max, "a deadline that passes stays");
    }
    now_ = end;
  }

  // Lets the supervisor handle an event. While the supervisor waits for the outcome of an action,
  // chooses an outcome, and lets the supervisor handle this outcome, too.
  void take(const Event& event, Bytes& bytes) {
    const bool encodable = is_encodable(event);
    if (!encodable) return;
    const Supervisor before = supervisor_;
    step(event);
    must(!is_too_late(before, event) || is_patient(),
         "Time: a deadline is judged at once, though late");
    const Generation generation = subject(event);
    const bool strange = generation != 0 && !knows(before.state(), generation);
    must(!strange || supervisor_ == before, "S7: an agent that is no more changes something");
    while (supervisor_.state().pending != Pending::nothing) {
      const Event outcome = take_outcome(bytes, supervisor_.state(), std::exchange(outcome_, 0));
      step(outcome);
    }
  }

  // Returns whether the codec can encode the message in this event. If not, no agent could have
  // sent the message.
  static bool is_encodable(const Event& event) {
    const auto* said = std::get_if<MessageReceived>(&event);
    return said == nullptr || agent_protocol::encode(said->message);
  }

  // Returns whether the supervisor must postpone the deadlines that have passed, instead of acting
  // on them. It must if each of them passed more than a second ago, and none has been postponed
  // before.
  [[nodiscard]] bool is_too_late(const Supervisor& before, const Event& event) const {
    const auto* passed = std::get_if<DeadlinePassed>(&event);
    if (passed == nullptr || !before.state().put_off.empty()) return false;
    State state = before.state();
    bool due = false, late = true;
    for (const test::NamedDeadline& named : test::deadlines_of(state)) {
      if (!*named.deadline || **named.deadline > std::min(passed->by, now_)) continue;
      due = true;
      late = late && now_ - **named.deadline > std::chrono::seconds(1);
    }
    return due && late;
  }

  // Returns whether the last step of the supervisor has caused no action except log lines.
  [[nodiscard]] bool is_patient() const {
    return std::all_of(actions_.begin(), actions_.end(),
                       [](const Action& action) { return std::holds_alternative<Log>(action); });
  }

  void step(const Event& event) {
    Actions actions = supervisor_.step(event, now_);
    plant(event, actions);
    watcher_.see(event, actions, now_);
    for (const std::string& violation : watcher_.violations())
      must(false, "the watcher saw", violation);
    must(actions.size() <= actions_max, "too many actions for an event");
    for (const Action& action : actions)
      look_at(action);
    actions_ = actions;
    must(phase_of(supervisor_.state()) != Phase::ended || !supervisor_.next_deadline(),
         "there is an end, and a deadline after it");
  }

  // Throws if the code in upgrader/shell could not carry out this action, such as sending a message
  // that cannot be encoded.
  static void look_at(const Action& action) {
    const auto* send = std::get_if<Send>(&action);
    if (send == nullptr) return;
    const auto line = agent_protocol::encode(send->message);
    must(bool(line), "what is to be sent cannot be written", line ? "" : line.reason());
    const std::string_view text(line.value().data(), line.value().size() - 1);
    const SecondOpinion second = second_opinion(text, Sender::upgrader);
    must(second.judgement == Judgement::good, "a message that the second decoder does not take",
         line.value());
    ++comparisons;
  }

  void plant(const Event& event, Actions& actions) {
    const auto* said = std::get_if<MessageReceived>(&event);
    const bool ready = said && std::holds_alternative<agent_protocol::Ready>(said->message);
    const auto& candidate = supervisor_.state().candidate;
    if (planted("early-activation") && ready && candidate && candidate->ready) {
      actions.push_back(Send{candidate->generation, agent_protocol::Activate{}});
    }
    const bool extend = said && std::holds_alternative<agent_protocol::Extend>(said->message);
    if (planted("early-kill") && extend) actions.push_back(Kill{said->generation});
    if (!planted("no-answer")) return;
    std::erase_if(actions, [](const Action& action) {
      const auto* send = std::get_if<Send>(&action);
      const auto* failed =
          send ? std::get_if<agent_protocol::UpgradeFailed>(&send->message) : nullptr;
      return failed && failed->failure.stage == agent_protocol::Stage::request;
    });
  }

  Supervisor supervisor_;
  test::Watcher watcher_;
  std::string* story_;  // the events as text for people, or null if nobody wants it
  Time now_{1'000'000};
  int outcome_ = 0;
  Actions actions_;  // the actions of the last step
};

void play(std::string_view input, std::string* story) {
  Bytes bytes(input);
  const Policy policy = take_policy(bytes);
  Stage(policy, story).play(bytes);
}

}  // namespace

void take_core(std::string_view input) {
  try {
    play(input, nullptr);
  } catch (const Finding& finding) {
    std::string story;
    try {
      play(input, &story);
    } catch (const Finding&) {
      throw Finding{finding.what + "\n" + story};
    }
    throw Finding{finding.what + "\n  and not when it is told again"};
  }
}

}  // namespace fuzz
