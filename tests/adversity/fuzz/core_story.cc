#include "tests/adversity/fuzz/core_story.h"

#include <algorithm>
#include <csignal>
#include <iterator>

#include "tests/support/every_event.h"

namespace fuzz {

namespace {

using namespace agent_protocol;
using namespace upgrader;

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

// Returns a text with arbitrary bytes, such as a path or an error message of the system may have.
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

// Returns an upgrade's id for a message such as `confirm` or `cancel`. Some ids have the form of
// those that the supervisor gives to upgrades by SIGUSR2. Agents here never request an upgrade with
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
  Upgrade upgrade;
  upgrade.id = take_id(bytes);
  upgrade.executable = "/opt/agent-v2";
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

}  // namespace

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

Event take_outcome(Bytes& bytes, const State& state, int which) {
  const std::vector<test::NamedEvent> all = test::every_outcome(state);
  Event event = all[static_cast<std::size_t>(which) % all.size()].event;
  if (std::optional<Refusal>& refused = std::get<Outcome>(event).refused) {
    refused->reason = take_bytes(bytes);
    if (bytes.take() % 2 != 0) refused->error_number = 0;
  }
  return event;
}

}  // namespace fuzz
