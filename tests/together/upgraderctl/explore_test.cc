// Tries every order of events between an upgrader and a conversation, which is the part of
// upgraderctl that sends a request and waits for the end of that request. The upgrader may read
// lines late or never, write its status late or never, exit with or without a last status, and be
// restarted. Deadlines may pass, the operator may interrupt upgraderctl, and a second operator may
// open the gate. When a conversation ends, its report is compared with the true events.
#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <set>

#include "tests/together/upgraderctl/talk.h"
#include "tools/upgraderctl/core/conversation.h"
#include "tools/upgraderctl/core/options.h"

namespace explore_test {

using namespace upgraderctl;
using namespace std::chrono_literals;
using Goal = Errand::Goal;

namespace {

const std::string upgrade_line = "upgrade\n";
const std::string cancel_line = "cancel\n";

// The true facts about the upgrader to which the request was sent. They stay as they are when this
// upgrader exits.
struct Truth {
  bool alive = true;
  bool last_word = false;  // true if status.json says that the upgrader has ended
  bool confirmed = false;  // true if an operator has opened the gate
  std::string phase = "running";
  std::vector<Answer> answers;
  std::optional<std::string> outcome;
  std::string stage;
  int begun = 0;
};

struct World {
  explicit World(const Errand& asked) : errand(asked), conversation(asked) {}

  Errand errand;
  Conversation conversation;
  Duration now{0};
  Truth truth;
  std::deque<std::string> fifo;
  int sent = 0;
  bool cancel_sent = false;
  bool told_gone = false;  // true if the conversation was told that nobody reads the FIFO
  bool another_life = false;
  bool vanished = false;
  bool interrupted = false;
  std::optional<Status> status;
  std::optional<Status> previous;
  std::optional<Finish> finish;
};

Status published(const Truth& truth) {
  Status status = at_rest();
  status.phase = truth.phase;
  status.requests = truth.answers;
  if (truth.outcome) status.endings = {ending_of("u1", *truth.outcome, truth.stage)};
  if (truth.begun > 0 && !truth.outcome) status.upgrade = upgrade_called("u1");
  if (truth.last_word) status.ended = Ended{0, "it was to end", at(30)};
  return status;
}

Status of_another_life() {
  Status status = at_rest();
  status.upgrader.started = "2026-11-22T09:00:00.000Z";
  return status;
}

// Returns, as text, all facts on which future events depend. If two worlds have the same text, the
// same events can happen in both.
std::string key_of(const World& world) {
  const Conversation::State& state = world.conversation.state();
  std::string key;
  const auto add = [&key](const auto& number) { key += std::to_string(number) + ","; };
  const auto add_time = [&](const std::optional<Duration>& time) {
    add(time ? (*time - world.now).count() : -1'000'000);
  };
  const auto add_status = [&](const std::optional<Status>& status) {
    if (!status) {
      key += "-;";
      return;
    }
    key += status->upgrader.started + status->phase + (status->ended ? "E" : "e");
    for (const Answer& answer : status->requests)
      key += answer.request + (*answer.ok ? "+" : "-");
    if (!status->endings.empty()) key += status->endings[0].outcome + status->endings[0].stage;
    key += ";";
  };
  add(static_cast<int>(state.stage));
  for (const bool fact : {state.sent, state.told_no_answer, state.measured, state.cancel_refused,
                          state.leaving.has_value(), world.cancel_sent, world.told_gone,
                          world.another_life, world.vanished, world.interrupted, world.truth.alive,
                          world.truth.last_word, world.truth.confirmed}) {
    add(fact ? 1 : 0);
  }
  add_time(state.limit);
  add_time(state.resend);
  add_time(state.gone);
  add_time(state.vanished);
  add(state.pause.count());
  add(world.sent);
  for (const std::string& line : world.fifo)
    key += line[0];
  key += world.truth.phase + world.truth.outcome.value_or("") + world.truth.stage;
  for (const Answer& answer : world.truth.answers)
    key += answer.request + (*answer.ok ? "+" : "-");
  add_status(world.status);
  add_status(world.previous);
  return key;
}

// ---- the conversation's orders

void take(World& world, const Orders& orders);

void feed(World& world, const Happening& happening) {
  if (std::holds_alternative<ReaderGone>(happening)) world.told_gone = true;
  take(world, world.conversation.step(happening, world.now));
}

void write(World& world, const std::string& line) {
  REQUIRE((line == world.errand.line || line == world.errand.cancel_line));
  REQUIRE_FALSE(world.told_gone);
  REQUIRE_FALSE(line.empty());
  if (!world.truth.alive) {
    world.told_gone = true;
    feed(world, Wrote{WriteOutcome::gone});
    return;
  }
  ++world.sent;
  world.cancel_sent = world.cancel_sent || line == cancel_line;
  world.fifo.push_back(line);
  feed(world, Wrote{WriteOutcome::written});
}

void take(World& world, const Orders& orders) {
  for (const Order& order : orders) {
    REQUIRE_FALSE(world.finish);
    if (const auto* send = std::get_if<Send>(&order)) write(world, send->line);
    if (std::holds_alternative<Measure>(order)) feed(world, Measured{1});
    if (const auto* finish = std::get_if<Finish>(&order)) world.finish = *finish;
  }
}

// ---- the upgrader's acts

void answer(Truth& truth, const std::string& request, bool ok) {
  truth.answers.insert(truth.answers.begin(), Answer{request, "", ok, ""});
}

// Lets the upgrader read one line from the FIFO. The upgrader ignores a request whose name it
// already knows.
void read_line(World& world, bool refuses) {
  Truth& truth = world.truth;
  const std::string line = world.fifo.front();
  world.fifo.pop_front();
  const std::string request =
      line == cancel_line ? world.errand.cancel_request : world.errand.request;
  for (const Answer& known : truth.answers) {
    if (known.request == request) return;
  }
  if (line == cancel_line) {
    const bool can = truth.begun > 0 && !truth.outcome && !truth.confirmed;
    answer(truth, request, can);
    if (!can) return;
    truth.outcome = "kept";
    truth.stage = "cancel";
    truth.phase = "running";
    return;
  }
  answer(truth, request, !refuses);
  if (refuses) return;
  if (world.errand.goal == Goal::shutdown) {
    truth.phase = "shutting_down";
  } else if (world.errand.asks_upgrade) {
    ++truth.begun;
    truth.phase = "preparing";
  }
}

void end_upgrade(Truth& truth, const std::string& outcome, const std::string& stage) {
  truth.outcome = outcome;
  truth.stage = stage;
  truth.phase = "running";
}

// ---- the events that may come next

struct Named {
  const char* name;
  bool (*possible)(const World&);
  void (*move)(World&);
};

bool under_way(const World& world) {
  return world.truth.alive && world.truth.begun > 0 && !world.truth.outcome;
}

void look(World& world) {
  const bool gone = !world.truth.alive;
  feed(world, Looked{Look{world.status, world.previous, !world.vanished, Hearing::listens, 0, ""},
                     at(20)});
  if (gone && !world.finish) feed(world, ReaderGone{});
}

const std::vector<Named> moves{
    {"reads and obeys", [](const World& w) { return w.truth.alive && !w.fifo.empty(); },
     [](World& w) { read_line(w, false); }},
    {"reads and refuses",
     [](const World& w) {
       return w.truth.alive && !w.fifo.empty() && w.fifo.front() == w.errand.line;
     },
     [](World& w) { read_line(w, true); }},
    {"is ready at the gate",
     [](const World& w) {
       return under_way(w) && w.errand.goal == Goal::rehearsal && w.truth.phase == "preparing";
     },
     [](World& w) { w.truth.phase = "confirming"; }},
    {"somebody opens the gate",
     [](const World& w) { return under_way(w) && w.truth.phase == "confirming"; },
     [](World& w) {
       w.truth.confirmed = true;
       w.truth.phase = "trial";
     }},
    {"commits",
     [](const World& w) {
       return under_way(w) && (w.errand.goal != Goal::rehearsal || w.truth.confirmed);
     },
     [](World& w) { end_upgrade(w.truth, "committed", ""); }},
    {"fails", [](const World& w) { return under_way(w) && !w.truth.confirmed; },
     [](World& w) { end_upgrade(w.truth, "kept", "start"); }},
    {"falls back",
     [](const World& w) {
       return under_way(w) && (w.errand.goal != Goal::rehearsal || w.truth.confirmed);
     },
     [](World& w) { end_upgrade(w.truth, "fell_back", "trial"); }},
    {"writes its status", [](const World& w) { return w.truth.alive && !w.vanished; },
     [](World& w) { w.status = published(w.truth); }},
    {"ends, and says so", [](const World& w) { return w.truth.alive && !w.vanished; },
     [](World& w) {
       if (w.truth.begun > 0 && !w.truth.outcome) end_upgrade(w.truth, "ended", "shutdown");
       w.truth.alive = false;
       w.truth.last_word = true;
       w.fifo.clear();
       w.status = published(w.truth);
     }},
    {"is killed", [](const World& w) { return w.truth.alive; },
     [](World& w) {
       w.truth.alive = false;
       w.fifo.clear();
     }},
    {"another life begins",
     [](const World& w) { return !w.truth.alive && !w.another_life && !w.vanished; },
     [](World& w) {
       w.another_life = true;
       w.previous = w.status;
       w.status = of_another_life();
     }},
    {"another life makes its status the previous one",
     [](const World& w) { return !w.truth.alive && !w.another_life && w.status && !w.vanished; },
     [](World& w) {
       w.previous = w.status;
       w.status.reset();
     }},
    {"the directory vanishes", [](const World& w) { return !w.vanished; },
     [](World& w) {
       w.vanished = true;
       w.status.reset();
       w.previous.reset();
     }},
    {"upgraderctl looks", [](const World&) { return true; }, look},
    {"time passes", [](const World& w) { return w.conversation.next_deadline().has_value(); },
     [](World& w) {
       w.now = std::max(w.now, *w.conversation.next_deadline());
       feed(w, TimePassed{});
     }},
    {"the operator leaves", [](const World& w) { return !w.interrupted; },
     [](World& w) {
       w.interrupted = true;
       feed(w, Interrupted{2});
     }},
};

// ---- the rules for what a conversation reports at its end

const Answer* own_answer(const World& world) {
  for (const Answer& answer : world.truth.answers) {
    if (answer.request == world.errand.request) return &answer;
  }
  return nullptr;
}

bool has_outcome(const World& world, const std::string& outcome) {
  return world.truth.outcome == outcome;
}

bool is_done(const World& world) {
  switch (world.errand.goal) {
    case Goal::answer:
      return own_answer(world) != nullptr && own_answer(world)->ok == true;
    case Goal::ending:
      return has_outcome(world, "committed");
    case Goal::rehearsal:
      return has_outcome(world, "kept") && world.truth.stage == "cancel" && world.cancel_sent;
    case Goal::shutdown:
      return world.truth.last_word;
  }
  return false;
}

bool was_refused(const World& world) {
  if (world.errand.goal == Goal::rehearsal && world.truth.confirmed) return true;
  return own_answer(world) != nullptr && own_answer(world)->ok == false;
}

// Compares the conversation's final report with what has happened in `world`. Returns what is wrong
// with the report, or "" if the report is right.
std::string complaint_of(const World& world) {
  const Truth& truth = world.truth;
  if (truth.begun > 1) return "it was begun twice";
  // A rehearsal is an upgrade that upgraderctl cancels as soon as the candidate is ready. If the
  // operator interrupts upgraderctl after the upgrader has accepted a rehearsal, upgraderctl must
  // cancel it, or say that it could not be cancelled.
  if (world.errand.goal == Goal::rehearsal && under_way(world) && !world.cancel_sent &&
      !world.vanished) {
    return "a rehearsal goes on behind our back";
  }
  switch (world.finish->status) {
    case exit_done:
      return is_done(world) ? "" : "it is not done";
    case exit_absent:
      return world.sent == 0 && !truth.alive ? "" : "it was there, or something was sent";
    case exit_refused:
      return was_refused(world) ? "" : "nobody refused it";
    case exit_kept:
      return has_outcome(world, "kept") ? "" : "it has not been kept";
    case exit_fell_back:
      return has_outcome(world, "fell_back") ? "" : "it did not fall back";
    case exit_ended:
      if (truth.alive) return "the upgrader lives";
      return truth.begun > 0 || truth.last_word || world.errand.goal == Goal::shutdown
                 ? ""
                 : "nobody can know that it was taken";
    case exit_unknown:
      return !truth.alive || world.vanished || world.now >= *world.errand.timeout
                 ? ""
                 : "it could have been known";
    default:
      return world.interrupted ? "" : "no such status";
  }
}

void judge_end(const World& world) {
  const std::string complaint = complaint_of(world);
  if (complaint.empty()) return;
  CAPTURE(key_of(world), world.finish->status, world.finish->text);
  FAIL(complaint);
}

// Checks that a conversation with a time limit ends even if time passes and nothing else happens.
void judge_time(World world) {
  constexpr int deadlines_max = 40;
  for (int i = 0; i < deadlines_max && !world.finish; ++i) {
    REQUIRE(world.conversation.next_deadline());
    world.now = std::max(world.now, *world.conversation.next_deadline());
    feed(world, TimePassed{});
  }
  REQUIRE(world.finish);
}

// Checks the report about a good upgrader: if the upgrader lives and obeys every request, the
// conversation must end, and must report the upgrade's true ending.
void judge_usefulness(World world) {
  if (!world.truth.alive || world.vanished || world.interrupted) return;
  const bool in_time = world.now < *world.errand.timeout;
  for (int i = 0; i < 10 && !world.finish; ++i) {
    while (!world.fifo.empty())
      read_line(world, false);
    if (world.truth.phase == "preparing" && world.errand.goal == Goal::rehearsal) {
      world.truth.phase = "confirming";
    } else if (under_way(world) &&
               (world.errand.goal != Goal::rehearsal || world.truth.confirmed)) {
      end_upgrade(world.truth, "committed", "");
    }
    if (world.truth.phase == "shutting_down") world.truth.last_word = true;
    world.status = published(world.truth);
    look(world);
  }
  CAPTURE(key_of(world), static_cast<int>(world.errand.goal));
  REQUIRE(world.finish);
  if (in_time) REQUIRE(world.finish->status != exit_unknown);
  judge_end(world);
}

struct Figures {
  std::size_t worlds = 0;
  std::size_t lies_caught = 0;  // how many wrong exit statuses were noticed
  std::map<int, std::size_t> ends;
  std::set<std::string> moves;
};

Figures explore(const Errand& errand) {
  Figures figures;
  std::set<std::string> known;
  std::deque<World> open;
  const auto meet = [&](World world) {
    if (world.finish) {
      ++figures.ends[world.finish->status];
      judge_end(world);
      for (int lie = exit_done; lie <= exit_unknown; ++lie) {
        World lied = world;
        lied.finish->status = lie;
        if (!complaint_of(lied).empty()) ++figures.lies_caught;
      }
    } else if (known.insert(key_of(world)).second) {
      ++figures.worlds;
      judge_time(world);
      judge_usefulness(world);
      open.push_back(std::move(world));
    }
  };
  World first(errand);
  first.status = published(first.truth);
  take(first, first.conversation.start(first.now));
  meet(first);
  while (!open.empty()) {
    const World world = std::move(open.front());
    open.pop_front();
    for (const Named& named : moves) {
      if (!named.possible(world)) continue;
      World next = world;
      INFO(named.name);
      named.move(next);
      figures.moves.insert(named.name);
      meet(std::move(next));
    }
  }
  return figures;
}

Errand errand_to_explore(Goal goal) {
  Errand errand;
  errand.goal = goal;
  errand.life = at_rest().upgrader;
  errand.deed = "upgrade u1";
  errand.request = "r1";
  errand.line = upgrade_line;
  errand.id = "u1";
  errand.asks_upgrade = goal != Goal::shutdown;
  errand.timeout = 7s;
  errand.tells = "upgraderctl history";
  if (goal == Goal::rehearsal) {
    errand.cancel_request = "r1-cancel";
    errand.cancel_line = cancel_line;
  }
  return errand;
}

}  // namespace

TEST_CASE("in no order of events is anything said that is not true, or sent where it must not be") {
  const Goal goal = GENERATE(Goal::answer, Goal::ending, Goal::rehearsal, Goal::shutdown);
  const Figures figures = explore(errand_to_explore(goal));

  CAPTURE(figures.worlds, figures.lies_caught);
  CHECK(figures.worlds > 500);
  CHECK(figures.lies_caught > figures.worlds);
  CHECK(figures.ends.count(exit_done) == 1);
  CHECK(figures.ends.count(exit_refused) == 1);
  CHECK(figures.ends.count(exit_unknown) == 1);
  CHECK(figures.ends.count(exit_kept) == (goal == Goal::ending || goal == Goal::rehearsal ? 1 : 0));
  CHECK(figures.ends.count(exit_fell_back) == (goal == Goal::ending ? 1 : 0));
  CHECK(figures.ends.count(exit_ended) == 1);
  if (goal == Goal::rehearsal) CHECK(figures.moves.size() == moves.size());
}

}  // namespace explore_test
