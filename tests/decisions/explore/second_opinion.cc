// The second opinion about each step of an exploration. It compares the step with the second table
// (an independent second description of the supervisor): see second_opinion() in second_table.h.
#include <algorithm>
#include <charconv>

#include "tests/decisions/explore/explorer.h"
#include "tests/decisions/explore/second_table.h"
#include "tests/support/bench.h"
#include "upgrader/core/init_news.h"

namespace upgrader::test {
namespace {

// ---- the text of the notes
//
// Equal notes have equal texts. The texts are short, because the exploration makes one text at
// every step.

class Printer {
 public:
  Printer() { text_.reserve(160); }

  void put(std::int64_t number) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits - 1, number);
    *end.ptr = ' ';
    text_.append(digits, end.ptr + 1);
  }
  void put(const std::string& text) { text_.append(text).push_back(' '); }
  template <class Value>
  void put(const std::optional<Value>& value) {
    if (value) return put(*value);
    text_.append("- ");
  }
  void put(Duration time) { put(static_cast<std::int64_t>(time.count())); }

  void put(const Party& party);
  void put(const agent_protocol::Failure& failure);
  void put(const Request& request);

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void Printer::put(const Party& party) {
  put(party.generation);
  if (party.generation == 0) return;
  put(static_cast<std::int64_t>(party.role));
  put(static_cast<std::int64_t>(party.program));
  put(party.version);
  put(party.limit);
  put(party.grace);
  put(party.beat);
  put(party.hello);
  put(party.lasts);
  put(std::int64_t{party.stood_by} * 32 + std::int64_t{party.told_why} * 16 +
      std::int64_t{party.promises_word} * 8 + std::int64_t{party.works} * 4 +
      std::int64_t{party.silent} * 2 + std::int64_t{party.left_unfit});
}

void Printer::put(const agent_protocol::Failure& failure) {
  put(static_cast<std::int64_t>(failure.stage));
  put(failure.exit_status);
  put(failure.signal);
  put(failure.errno_name);
}

void Printer::put(const Request& request) {
  put(request.id);
  if (request.id.empty()) return;
  const Terms& terms = request.terms;
  std::int64_t flags = 0;
  for (const bool flag :
       {request.by_signal, request.by_control, request.of_agent, request.told,
        terms.mode == agent_protocol::Mode::sequential, terms.gate == agent_protocol::Gate::confirm,
        terms.commit == agent_protocol::CommitRule::healthy,
        terms.on_unclean_stop == agent_protocol::UncleanStop::carry_on,
        terms.fallback == agent_protocol::FallbackMode::warm}) {
    flags = flags * 2 + flag;
  }
  put(flags);
  for (const Duration limit :
       {terms.start_timeout, terms.confirm_timeout, terms.stop_timeout, terms.trial})
    put(limit);
  put(request.generation);
  put(static_cast<std::int64_t>(request.program));
  put(static_cast<std::int64_t>(request.previous));
  put(request.previous_version);
  put(request.failed_version);
  put(request.limit);
  put(request.cause);
  put(request.boot.has_value());
  if (!request.boot) return;
  put(request.boot->failure);
  put(request.boot->version);
}

std::string print_notes(const Notes& notes) {
  Printer printer;
  printer.put(notes.a);
  printer.put(notes.b);
  printer.put(notes.last);
  printer.put(notes.request);
  printer.put(std::int64_t{notes.clean} * 2 + std::int64_t{notes.attempts_over});
  printer.put(notes.left);
  printer.put(std::int64_t{notes.end});
  printer.put(notes.verdict ? std::int64_t{*notes.verdict} : -1);
  return printer.take();
}

// ---- the second table, which gets the same events as the supervisor

// Runs the second table (an independent second description of the supervisor) beside a supervisor,
// with the same events. Keeps the current situation (the stage of the upgrade and the states of two
// agents) and the notes (all other facts). Each step changes both.
class Reading {
 public:
  Reading(std::shared_ptr<const SecondTable> table, const Policy& policy);

  struct Answer {
    bool row = true;  // false if no row fits the last step
    Actions actions;
  };
  Answer step(const Event& event, Time now);

  [[nodiscard]] Notes& notes() { return notes_; }
  [[nodiscard]] const std::string& phase() const { return table_->phase_of(situation_); }
  // Returns the last step as text: the old situation, the event, and the new situation. A situation
  // is the upgrade's stage and the states of the agents A and B. For example, in "hand yields
  // ready, A stopped -> hand stopped ready", the stage is "hand", B is "ready", and A goes from
  // "yields" to "stopped".
  [[nodiscard]] std::string latest() const;
  [[nodiscard]] std::string print() const;
  // Returns whether `other` has the same situation and the same notes.
  [[nodiscard]] bool equals(const Reading& other) const {
    return situation_ == other.situation_ && notes_ == other.notes_;
  }

 private:
  std::shared_ptr<const SecondTable> table_;
  Situation situation_;
  Situation before_;
  std::optional<What> latest_;
  Notes notes_;
};

Reading::Reading(std::shared_ptr<const SecondTable> table, const Policy& policy)
    : table_(std::move(table)), situation_(table_->start()), before_(situation_) {
  notes_.policy = policy;
}

Reading::Answer Reading::step(const Event& event, Time now) {
  Answer answer;
  std::optional<Happening> happening = happening_of(notes_, event, now);
  before_ = situation_;
  latest_.reset();
  if (happening) latest_ = happening->what;
  while (happening) {
    const auto& rows = table_->rows_for(situation_, happening->what);
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto* each) {
      return std::all_of(each->guards.begin(), each->guards.end(), [&](const auto& guard) {
        return guard.first(notes_, *happening) == guard.second;
      });
    });
    answer.row = row != rows.end();
    if (!answer.row) break;
    ++(*row)->uses;
    for (const Effect effect : (*row)->effects)
      effect(notes_, *happening, answer.actions);
    situation_ = table_->next_of(**row, situation_);
    if (!(*row)->then) break;
    happening->what = *(*row)->then;
  }
  notes_.asked = asked_by(answer.actions);
  return answer;
}

std::string Reading::latest() const {
  return table_->text_of(before_) + ", " + (latest_ ? name_of_what(*latest_) : "nothing") + " -> " +
         table_->text_of(situation_);
}

std::string Reading::print() const {
  std::string text = print_notes(notes_);
  for (const std::uint8_t word : situation_)
    text.push_back(static_cast<char>('0' + word));
  return text;
}

// ---- the actions without texts for people, for the comparison of table and supervisor

void leave_reasons_out(agent_protocol::UpgraderMessage& message) {
  if (auto* failed = std::get_if<agent_protocol::UpgradeFailed>(&message)) {
    failed->failure.reason.clear();
  } else if (auto* lost = std::get_if<agent_protocol::CandidateLost>(&message)) {
    lost->reason.clear();
  } else if (auto* error = std::get_if<agent_protocol::Error>(&message)) {
    error->reason.clear();
  } else if (auto* welcome = std::get_if<agent_protocol::Welcome>(&message)) {
    if (welcome->failure) welcome->failure->failure.reason.clear();
  } else if (auto* activate = std::get_if<agent_protocol::Activate>(&message)) {
    if (activate->failure) activate->failure->failure.reason.clear();
  }
}

// Returns the actions without log lines and without reasons, which are texts for people.
Actions bare(const Actions& actions) {
  Actions kept;
  for (const Action& action : actions) {
    if (std::holds_alternative<Log>(action) || std::holds_alternative<Notice>(action)) continue;
    kept.push_back(action);
    if (auto* send = std::get_if<Send>(&kept.back())) leave_reasons_out(send->message);
    auto* answer = std::get_if<Answer>(&kept.back());
    if (answer != nullptr && !answer->refusal.empty()) answer->refusal = "refused";
    auto* ending = std::get_if<RecordEnding>(&kept.back());
    if (ending != nullptr && ending->failure) ending->failure->reason.clear();
  }
  return kept;
}

using Deadlines = std::vector<Time>;

Deadlines deadlines_of(const State& state) {
  Deadlines all;
  const auto add = [&all](const std::optional<Time>& deadline) {
    if (deadline) all.push_back(*deadline);
  };
  for (const std::optional<Agent>* agent : {&state.incumbent, &state.candidate}) {
    if (*agent) add((*agent)->deadline);
    if (*agent) add((*agent)->close_deadline);
    if (*agent) add((*agent)->heartbeat_deadline);
    if (*agent) add((*agent)->hello_deadline);
  }
  if (state.upgrade) add(state.upgrade->deadline);
  add(state.attempts_deadline);
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<std::optional<Time>*> deadlines_of(Notes& notes) {
  std::vector<std::optional<Time>*> all{&notes.a.limit, &notes.a.grace,       &notes.a.beat,
                                        &notes.a.hello, &notes.b.limit,       &notes.b.grace,
                                        &notes.b.hello, &notes.request.limit, &notes.a.lasts};
  return all;
}

Deadlines sorted_deadlines_of(Notes& notes) {
  Deadlines all;
  for (const std::optional<Time>* deadline : deadlines_of(notes)) {
    if (*deadline) all.push_back(**deadline);
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::string in_words(const Actions& actions) {
  std::string text;
  for (const std::string& line : summary(actions))
    text += "\n#   " + line;
  for (const Action& action : actions) {
    const auto* send = std::get_if<Send>(&action);
    const auto* welcome = send ? std::get_if<agent_protocol::Welcome>(&send->message) : nullptr;
    if (welcome == nullptr || !welcome->failure) continue;
    text += "\n#     the failed one's version: " + welcome->failure->version.value_or("not known");
  }
  return text.empty() ? "\n#   nothing" : text;
}

std::string in_words(const Deadlines& deadlines) {
  std::string text;
  for (const Time deadline : deadlines)
    text += " " + std::to_string(deadline.count());
  return text.empty() ? " none" : text;
}

std::string in_words(bool vouched) {
  return vouched ? " no active agent is silent" : " the active agent is silent";
}

class SecondOpinion : public Companion {
 public:
  SecondOpinion(std::shared_ptr<const SecondTable> table, const Policy& policy)
      : reading_(std::move(table), policy) {}

  std::unique_ptr<Companion> clone() const override {
    return std::make_unique<SecondOpinion>(*this);
  }

  void set_deadlines(Time later, const Due& due, Time due_at, bool put_off) override {
    reading_.notes().put_off = put_off;
    for (std::optional<Time>* deadline : deadlines_of(reading_.notes())) {
      if (*deadline) *deadline = later;
    }
    if (std::optional<Time>* deadline = named(due); deadline && *deadline) *deadline = due_at;
  }

  void see(const Event& event, const Actions& actions, const Supervisor& after) override {
    const Reading::Answer answer = reading_.step(event, Time(0));
    if (!answer.row) return differ("no row", "a row", "none");
    const Actions done = bare(actions);
    if (done != answer.actions) {
      return differ("other actions", in_words(answer.actions), in_words(done));
    }
    const Deadlines limits = sorted_deadlines_of(reading_.notes());
    const Deadlines its_limits = deadlines_of(after.state());
    if (limits != its_limits) {
      return differ("other deadlines", in_words(limits), in_words(its_limits));
    }
    if (after.state().pending != Pending::nothing) return;
    const std::string_view phase = name_of(after.phase());
    if (reading_.phase() != phase) {
      return differ("another phase", " " + reading_.phase(), " " + std::string(phase));
    }
    if (reading_.notes().policy.watchdog == Duration::zero()) return;
    const bool vouched = !reading_.notes().a.silent;
    if (init_news(after.state()).vouched != vouched) {
      differ("vouching", in_words(vouched), in_words(!vouched));
    }
  }

  const std::vector<std::string>& violations() const override { return differences_; }

  void renumber(const std::map<Generation, Generation>& ranks) override {
    Notes& notes = reading_.notes();
    if (notes.last == 0) return;
    const auto rank = [&ranks](Generation& generation) {
      const auto found = ranks.find(generation);
      if (generation != 0) generation = found == ranks.end() ? 1000 : found->second;
    };
    rank(notes.a.generation);
    rank(notes.b.generation);
    Request& request = notes.request;
    rank(request.generation);
    const bool on_trial = request.generation != 0 && notes.a.generation == request.generation;
    if (request.program != 0) request.program = 2;
    if (request.previous != 0) request.previous = 1;
    if (request.previous_version) request.previous_version = "old";
    if (notes.a.version) notes.a.version = on_trial ? "new" : "old";
    if (notes.a.program != 0) notes.a.program = on_trial ? 2 : 1;
    if (notes.b.program != 0) notes.b.program = notes.b.stood_by ? 1 : 2;
    notes.last = std::max<Generation>(1, static_cast<Generation>(ranks.size()));
    notes.signals = 0;
  }

  std::string print() const override { return reading_.print(); }

  bool equals(const Companion& other) const override {
    return reading_.equals(static_cast<const SecondOpinion&>(other).reading_);
  }

 private:
  std::optional<Time>* named(const Due& due) {
    Notes& notes = reading_.notes();
    if (due.what == Due::What::nothing) return nullptr;
    if (due.what == Due::What::upgrade) return &notes.request.limit;
    if (due.what == Due::What::attempts) return &notes.a.lasts;
    Party& party = due.generation == notes.a.generation ? notes.a : notes.b;
    if (due.what == Due::What::heartbeat) return &party.beat;
    if (due.what == Due::What::hello) return &party.hello;
    return due.what == Due::What::limit ? &party.limit : &party.grace;
  }

  void differ(const std::string& what, const std::string& table, const std::string& supervisor) {
    differences_.push_back(what + ", " + reading_.latest() + "\n# the table:" + table +
                           "\n# the supervisor:" + supervisor);
  }

  Reading reading_;
  std::vector<std::string> differences_;
};

}  // namespace

std::unique_ptr<Companion> second_opinion(std::shared_ptr<const SecondTable> table,
                                          const Policy& policy) {
  return std::make_unique<SecondOpinion>(std::move(table), policy);
}

}  // namespace upgrader::test
