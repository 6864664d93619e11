#include "tests/decisions/explore/canonical.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace upgrader::test {

using namespace agent_protocol;

namespace {

// The exploration uses only these four time limits. `some_limit` is shorter than the five seconds
// after which the log reports that an agent has not sent `hello`. So the log never has that report
// under this limit.
constexpr Duration some_limit{4'000};
constexpr Duration some_gate_limit{5'000};
constexpr Duration some_stop_limit{90'000};
constexpr Duration some_watchdog{20'000};

Duration or_none(Duration timeout, Duration otherwise) {
  return timeout == Duration::zero() ? timeout : otherwise;
}

std::string usual_id(const std::string& id) {
  return is_signal_id(id) ? "sigusr2-1" : "u1";
}

int usual_status(int status) {
  return status > 128 && status != 131 ? 137 : status;
}

void make_usual(Agent& agent) {
  if (agent.told_id) agent.told_id = usual_id(*agent.told_id);
  if (agent.state) agent.state = "left";
}

void make_usual(UpgradeUnderWay& upgrade) {
  upgrade.id = usual_id(upgrade.id);
  Terms& terms = upgrade.terms;
  terms.start_timeout = or_none(terms.start_timeout, some_limit);
  const bool has_gate = terms.gate != Gate::none;
  terms.confirm_timeout = has_gate ? or_none(terms.confirm_timeout, some_gate_limit) : Duration(0);
  terms.stop_timeout = or_none(terms.stop_timeout, some_stop_limit);
  terms.trial = or_none(terms.trial, some_limit);
  if (upgrade.version) upgrade.version = "new";
  if (!upgrade.failure) return;
  Failure& failure = *upgrade.failure;
  failure.id = upgrade.id;
  if (failure.signal) failure.signal = 9;
  if (failure.errno_name) failure.errno_name = "EIO";
}

// Replaces the state's ids, versions and times by those that the exploration uses. So states that
// differ only in these values become equal.
State usual(State state) {
  if (state.incumbent) make_usual(*state.incumbent);
  if (state.candidate) make_usual(*state.candidate);
  if (state.candidate && state.candidate->version) {
    state.candidate->version = state.candidate->standby ? "old" : "new";
  }
  if (state.upgrade) make_usual(*state.upgrade);
  if (state.left_behind && state.left_behind->state) state.left_behind->state = "left";
  if (state.left_behind)
    state.left_behind->exit_status = usual_status(state.left_behind->exit_status);
  if (state.exit_with) state.exit_with = usual_status(*state.exit_with);
  return state;
}

// ---- a hash of all values in a state

class Hash {
 public:
  template <class Number>
  void put(Number number) {
    value_ = (value_ ^ static_cast<std::uint64_t>(number)) * 0x9e3779b97f4a7c15U;
    value_ ^= value_ >> 32U;
  }
  void put(std::string_view text) {
    put(text.size());
    for (const char byte : text)
      put(static_cast<unsigned char>(byte));
  }
  void put(const std::string& text) { put(std::string_view(text)); }
  void put(Duration time) { put(time.count()); }
  template <class Value>
  void put(const std::optional<Value>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  void put(const Agent& agent) {
    put(agent.generation);
    put(agent.role);
    put(agent.program);
    unsigned flags = 0;
    for (const bool flag :
         {agent.greeted, agent.ready, agent.activate_waits, agent.activated, agent.stopped,
          agent.output_closed, agent.input_closed, agent.terminated, agent.killed, agent.silent,
          agent.has_readiness, agent.works, agent.standby, agent.knows_failure}) {
      flags = flags * 2 + (flag ? 1 : 0);
    }
    put(flags);
    put(agent.version);
    put(agent.told);
    put(agent.told_id);
    put(agent.state);
    put(agent.unfit);
    put(agent.deadline);
    put(agent.close_deadline);
    put(agent.heartbeat_deadline);
    put(agent.hello_deadline);
  }
  void put(const Terms& terms) {
    put(terms.mode);
    put(terms.gate);
    put(terms.commit);
    put(terms.start_timeout);
    put(terms.confirm_timeout);
    put(terms.stop_timeout);
    put(terms.trial);
    put(terms.on_unclean_stop);
    put(terms.fallback);
  }
  void put(const Failure& failure) {
    put(failure.id);
    put(failure.stage);
    put(failure.reason);
    put(failure.exit_status);
    put(failure.signal);
    put(failure.errno_name);
  }
  void put(const UpgradeUnderWay& upgrade) {
    put(upgrade.id);
    put(upgrade.origin);
    put(upgrade.names_agent);
    put(upgrade.terms);
    put(upgrade.previous);
    put(upgrade.previous_version);
    put(upgrade.program);
    put(upgrade.generation);
    put(upgrade.version);
    put(upgrade.waits_for_confirm);
    put(upgrade.known_to_agent);
    put(upgrade.deadline);
    put(upgrade.failure);
  }
  void put(const LeftBehind& left_behind) {
    put(left_behind.clean);
    put(left_behind.state);
    put(left_behind.exit_status);
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0x243f6a8885a308d3U;
};

}  // namespace

// ---- states that differ only in facts without effect are made equal

std::vector<NamedDeadline> deadlines_of(State& state) {
  using Which = Due::What;
  std::vector<NamedDeadline> all;
  if (state.incumbent) {
    Agent& agent = *state.incumbent;
    all.push_back({"incumbent", {Which::limit, agent.generation}, &agent.deadline});
    all.push_back({"incumbent's close", {Which::close, agent.generation}, &agent.close_deadline});
    all.push_back(
        {"incumbent's heartbeat", {Which::heartbeat, agent.generation}, &agent.heartbeat_deadline});
    all.push_back({"incumbent's hello", {Which::hello, agent.generation}, &agent.hello_deadline});
  }
  if (state.candidate) {
    Agent& agent = *state.candidate;
    all.push_back({"candidate", {Which::limit, agent.generation}, &agent.deadline});
    all.push_back({"candidate's close", {Which::close, agent.generation}, &agent.close_deadline});
    all.push_back({"candidate's hello", {Which::hello, agent.generation}, &agent.hello_deadline});
  }
  if (state.upgrade) all.push_back({"upgrade", {Which::upgrade, 0}, &state.upgrade->deadline});
  all.push_back({"attempts", {Which::attempts, 0}, &state.attempts_deadline});
  return all;
}

State normalised(State state) {
  for (const NamedDeadline& named : deadlines_of(state)) {
    if (*named.deadline) *named.deadline = later;
  }
  state.upgrade_signals = 0;
  state.control_reloads = 0;
  // Forgets which deadlines were postponed because the process was frozen. The supervisor remembers
  // them so that a second freeze does not postpone them again. In the exploration, the process is
  // never frozen a second time.
  state.put_off.clear();
  for (std::optional<Agent>* agent : {&state.incumbent, &state.candidate}) {
    if (!*agent) continue;
    if ((*agent)->unfit) (*agent)->unfit = "";
    (*agent)->allowed = (*agent)->extended = Duration(0);
    // Keeps only one fact about closed pipes, in `output_closed`: whether an agent that is not
    // active has closed any pipe. All other facts make a difference only in texts for people.
    // Forgets even this fact while an `activate` waits to be written: the agent's input is then
    // open, and a closed output has no effect.
    const bool closed = (*agent)->output_closed || (*agent)->input_closed;
    (*agent)->output_closed = closed && !(*agent)->activated && !(*agent)->activate_waits;
    (*agent)->input_closed = false;
    (*agent)->activate_late = false;
  }
  if (state.upgrade && state.upgrade->failure) state.upgrade->failure->reason = "";
  if (state.upgrade && state.upgrade->boot) state.upgrade->boot->failure.reason = "";
  state.last_failure.reset();  // only texts for people use this member
  state.proved_good = false;   // only the times in status.json depend on this member
  return state;
}

std::map<Generation, Generation> ranks_of(const State& state) {
  std::map<Generation, Generation> ranks;
  if (state.incumbent) ranks[state.incumbent->generation];
  if (state.candidate) ranks[state.candidate->generation];
  if (state.upgrade && state.upgrade->generation) ranks[*state.upgrade->generation];
  Generation next = 1;
  for (auto& [generation, rank] : ranks)
    rank = next++;
  return ranks;
}

State renumbered(State state, const std::map<Generation, Generation>& ranks) {
  if (state.last_generation == 0) return state;  // no agent has been started yet
  if (state.incumbent) state.incumbent->generation = ranks.at(state.incumbent->generation);
  if (state.candidate) state.candidate->generation = ranks.at(state.candidate->generation);
  if (state.upgrade && state.upgrade->generation) {
    state.upgrade->generation = ranks.at(*state.upgrade->generation);
  }
  state.last_generation = std::max<Generation>(1, static_cast<Generation>(ranks.size()));
  // Gives each program one of two numbers. Program 1 has the version "old": it is the program from
  // before the upgrade, and a fallback runs it again. Program 2 has the version "new": it is the
  // candidate's program.
  const bool on_trial =
      state.upgrade && state.incumbent && state.upgrade->generation == state.incumbent->generation;
  if (state.incumbent) state.incumbent->program = on_trial ? 2 : 1;
  if (state.incumbent && state.incumbent->version) {
    state.incumbent->version = on_trial ? "new" : "old";
  }
  if (state.upgrade && state.upgrade->previous_version) state.upgrade->previous_version = "old";
  if (state.candidate) state.candidate->program = state.candidate->standby ? 1 : 2;
  if (state.upgrade) state.upgrade->previous = 1;
  if (state.upgrade && state.upgrade->program) state.upgrade->program = 2;
  return state;
}

// ---- the hash by which equal states are found

std::uint64_t key_of(const State& state, std::string_view accounts) {
  Hash hash;
  hash.put(state.incumbent);
  hash.put(state.candidate);
  hash.put(state.upgrade);
  hash.put(state.left_behind);
  hash.put(state.exit_with);
  hash.put(state.shutdown);
  hash.put(state.quit);
  hash.put(state.ended);
  hash.put(state.last_generation);
  hash.put(state.start_is_judged);
  hash.put(accounts);
  return hash.value();
}

std::string with_equal_upgrade_ids(const std::string& text) {
  std::string usual;
  for (std::size_t at = 0; at < text.size(); ++at) {
    usual += text[at];
    const bool is_signal = usual.ends_with("sigusr2-");
    if (!is_signal && text[at] != 'u') continue;
    std::size_t behind = at + 1;
    const auto belongs = [is_signal](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return is_signal ? std::isdigit(byte) != 0 : std::isupper(byte) != 0;
    };
    while (behind < text.size() && belongs(text[behind]))
      ++behind;
    if (behind > at + 1) usual += '1';
    at = behind - 1;
  }
  return usual;
}

std::uint64_t key_of_any(const State& state, Watcher watcher) {
  const std::map<Generation, Generation> ranks = ranks_of(state);
  watcher.let_time_pass(0);
  watcher.renumber(ranks);
  return key_of(renumbered(normalised(usual(state)), ranks),
                with_equal_upgrade_ids(watcher.print()));
}

// ---- policies

Policy explored_policy(int which) {
  if (which == watchdog_policy) {
    Policy watched = explored_policy(1);
    watched.watchdog = some_watchdog;
    return watched;
  }
  if (which == boot_policy || which == boot_no_limits_policy) {
    Policy booting = explored_policy(which == boot_policy ? 3 : 2);
    booting.previous = booting.attempts = true;
    return booting;
  }
  if (which == gate_policy) {
    Policy gated = explored_policy(3);
    gated.defaults.gate = Gate::confirm;
    gated.defaults.confirm_timeout = some_gate_limit;
    gated.defaults.commit = CommitRule::healthy;
    return gated;
  }
  if (which == warm_policy) {
    Policy warm = explored_policy(3);
    warm.defaults.fallback = FallbackMode::warm;
    return warm;
  }
  const bool otherwise = which == policies - 1;
  const Duration limits = which % 2 == 0 && !otherwise ? Duration(0) : some_limit;
  Policy made;
  made.defaults.start_timeout = limits;
  made.defaults.stop_timeout = some_stop_limit;
  made.defaults.trial = limits;
  made.exit_grace = limits;
  made.relink = which / 2 == 1 || otherwise;
  if (otherwise) {
    made.defaults.mode = Mode::sequential;
    made.defaults.on_unclean_stop = UncleanStop::carry_on;
  }
  return made;
}

std::string name_of_policy(int which) {
  if (which == watchdog_policy) return ", watchdog";
  if (which == boot_policy) return ", relink, previous, attempts";
  if (which == boot_no_limits_policy) return ", relink, previous, attempts, no limits";
  if (which == gate_policy) return ", relink, gate, healthy";
  if (which == warm_policy) return ", relink, warm";
  if (which == policies - 1) return ", relink, sequential, continue";
  return std::string(which / 2 == 1 ? ", relink" : "") + (which % 2 == 0 ? ", no limits" : "");
}

std::optional<int> which_policy(const Policy& policy) {
  Policy usual = policy;
  Terms& terms = usual.defaults;
  terms.start_timeout = or_none(terms.start_timeout, some_limit);
  terms.stop_timeout = or_none(terms.stop_timeout, some_stop_limit);
  terms.confirm_timeout = or_none(terms.confirm_timeout, some_gate_limit);
  terms.trial = or_none(terms.trial, some_limit);
  usual.exit_grace = or_none(usual.exit_grace, some_limit);
  usual.watchdog = or_none(usual.watchdog, some_watchdog);
  for (int which = 0; which < explored_policies; ++which) {
    if (explored_policy(which) == usual) return which;
  }
  return std::nullopt;
}

bool wants_the_whole() {
  static const bool whole = std::getenv("WHOLE") != nullptr;
  return whole;
}

Breadth breadth_of(const Policy& policy) {
  const std::optional<int> which = which_policy(policy);
  const bool whole = wants_the_whole();
  return {.readiness =
              whole ? which == plain_policy || which >= boot_policy : which == sequential_policy,
          .control = whole || which == relink_policy || which == gate_policy,
          .of_one_gone = whole || which == gate_policy};
}

// ---- sequences of moves from the first state

std::vector<Move> way_to(const Map& map, std::size_t place) {
  std::vector<Move> moves;
  for (std::size_t at = place; at != 0; at = map.places[at].how.from)
    moves.push_back(map.places[at].how);
  std::reverse(moves.begin(), moves.end());
  return moves;
}

}  // namespace upgrader::test
