// Tests upgraderctl's texts for people: sentences, the output of `status`, tables, and the steps of
// an upgrade. Texts from agents and upgraders must be made safe for a terminal.
#include <catch2/catch.hpp>

#include "base/shown.h"
#include "base/table.h"
#include "tests/together/upgraderctl/talk.h"
#include "tools/upgraderctl/core/pages.h"
#include "tools/upgraderctl/core/sentences.h"

namespace words_test {

using namespace upgraderctl;

namespace {

using Lines = std::vector<std::string>;

AgentStatus candidate() {
  AgentStatus agent;
  agent.generation = 2;
  agent.role = "candidate";
  agent.pid = 4022;
  agent.executable = "/opt/agent/1.1";
  agent.started = at(10);
  return agent;
}

Status on_trial() {
  Status status = at_rest();
  status.phase = "trial";
  status.since = at(12);
  status.deadline = at(42);
  status.active = candidate();
  status.active->version = "1.1";
  status.active->activated = at(12);
  status.active->status = "following app.log";
  status.upgrade = upgrade_called("u1");
  return status;
}

}  // namespace

TEST_CASE("an agent is named by what is known of it") {
  AgentStatus agent;
  CHECK(agent_name(agent) == "an agent");
  agent.executable = "/opt/agent/1.1";
  CHECK(agent_name(agent) == "1.1");
  agent.version = "1.1\x1b[2J";
  CHECK(agent_name(agent) == "version 1.1\\x1b[2J");
  agent.generation = 2;
  CHECK(agent_name(agent) == "generation 2 (version 1.1\\x1b[2J)");
}

TEST_CASE("every phase of the protocol has a sentence of its own") {
  Status status = at_rest();
  std::vector<std::string> sentences;
  for (const std::string_view phase : phase_names) {
    status.phase = phase;
    sentences.push_back(phase_sentence(status));
    CHECK(sentences.back().find("phase ") != 0);
  }

  std::sort(sentences.begin(), sentences.end());
  CHECK(std::unique(sentences.begin(), sentences.end()) == sentences.end());
  status.phase = "later\n";
  CHECK(phase_sentence(status) == "phase later\\n");
  status.phase.clear();
  CHECK(phase_sentence(status) == "the phase is not known");
}

TEST_CASE("endings are told with stage, reason, who is active and what it took") {
  Ending ending = ending_of("u1", "committed");
  ending.gap_us = 24;
  CHECK(ending_sentence(ending) ==
        "committed; version 1.1 is active (ready after 412 ms, handed over in 24 us)");
  CHECK(ending_sentence(ending_of("u1", "kept", "start", "exited with status 3")) ==
        "failed at its start: exited with status 3; version 1.0 stayed active (candidate ready "
        "after 412 ms)");
  CHECK(ending_sentence(ending_of("u1", "kept", "cancel", "rehearsed")) ==
        "cancelled: rehearsed; version 1.0 stayed active (candidate ready after 412 ms)");
  CHECK(ending_sentence(ending_of("u1", "kept", "cancel", "cancelled by the control directory")) ==
        "cancelled by the control directory; version 1.0 stayed active (candidate ready after 412 "
        "ms)");
  CHECK(ending_sentence(ending_of("u1", "fell_back", "trial", "killed\n")) ==
        "fell back, having failed on trial: killed\\n; version 1.0 is active again "
        "(candidate ready after 412 ms)");
  CHECK(ending_sentence(ending_of("u1", "ended", "shutdown")) ==
        "ended with the upgrader (candidate ready after 412 ms)");
  Ending bare;
  CHECK(ending_sentence(bare) == "ended, nobody says how");
  bare.outcome = "kept";
  bare.stage = "sideways";
  CHECK(ending_sentence(bare) == "failed at stage sideways; the agent stayed active");
}

TEST_CASE("the page of why has the last failure, and the last words that belong to it") {
  Ending failure = ending_of("u1", "fell_back", "trial", "exited with status 3");
  failure.exit_status = 3;
  failure.start_ms.reset();
  const LastWords words{"no\x1b disk\n\nsorry", at(41)};

  CHECK(why_page(failure, words, at(65)) ==
        Lines{"upgrade  u1, 23 s ago, version 1.0 to version 1.1",
              "why      fell back, having failed on trial: exited with status 3; version 1.0 is "
              "active again",
              "end      exited with status 3", "wrote    no\\x1b disk", "wrote    sorry"});

  failure.signal = 9;
  const LastWords earlier{"an earlier failure", at(9)};
  const Lines page = why_page(failure, earlier, at(65));
  CHECK(page.back() == "end      killed by signal 9");
}

TEST_CASE("words that the daemon wrote long after an upgrade do not belong to its failure") {
  const Ending failure = ending_of("u1", "fell_back", "trial", "exited with status 3");
  const auto is_shown = [&](Moment written) {
    return why_page(failure, LastWords{"sorry", written}, at(3'600)).back() == "wrote    sorry";
  };

  CHECK(is_shown(*failure.ended));
  CHECK(is_shown(*failure.ended + last_words_delay_max));
  CHECK_FALSE(is_shown(*failure.ended + last_words_delay_max + std::chrono::milliseconds{1}));
}

TEST_CASE("the last failure is the newest ending that is neither a commit nor a cancellation") {
  Status present = at_rest();
  present.endings = {ending_of("u4", "committed"), ending_of("u3", "kept", "cancel")};
  Status previous = at_rest();
  previous.endings = {ending_of("u2", "kept", "start"), ending_of("u1", "kept", "start")};

  CHECK(last_failure(present, std::nullopt) == nullptr);
  CHECK(last_failure(std::nullopt, std::nullopt) == nullptr);
  REQUIRE(last_failure(present, previous) != nullptr);
  CHECK(last_failure(present, previous)->id == "u2");
  present.endings.push_back(ending_of("u0", "kept", "start"));
  CHECK(last_failure(present, previous)->id == "u0");
}

TEST_CASE("a version that nobody has told is called as its release is in the executable's path") {
  const auto cell = [](const char* executable) { return side_cell({"", executable}); };
  CHECK(cell("/opt/nginx/v1/run") == "v1");
  CHECK(cell("/opt/nginx/1.2.3/bin/run") == "1.2.3");
  CHECK(cell("/srv/2/agent-v1.2.3/bin/agent") == "agent-v1.2.3");
  CHECK(cell("/srv/2/agent-1.2.3") == "agent-1.2.3");
  CHECK(cell("/usr/bin/memcached") == "memcached");
  CHECK(cell("/opt/very-vain/x86_64") == "x86_64");
  CHECK(cell("run") == "run");
  CHECK(cell("v1//run") == "v1");
  CHECK(cell("") == "-");
  CHECK(side_name({"", "/opt/nginx/v2/run"}) == "v2");
  CHECK(side_name({"1.0", "/opt/nginx/v2/run"}) == "version 1.0");
}

TEST_CASE("the page of an upgrader at rest") {
  Status status = at_rest();
  status.endings = {ending_of("u0", "committed")};
  Status previous = at_rest();
  previous.ended = Ended{125, "fallback cannot start", at(-5)};

  CHECK(status_page(status, previous, Hearing::listens, at(65)) ==
        Lines{"phase     running for 1 min 4 s",
              "active    generation 1 (version 1.0), process 4021, active for 1 min 4 s",
              "          /opt/agent/1.0 --input=app.log",
              "last      u0, 23 s ago, version 1.0 to version 1.1",
              "          committed; version 1.1 is active (ready after 412 ms)",
              "upgrader  process 4020, version 0.1.0, started 1 min 5 s ago",
              "before    the upgrader's previous life ended on 2026-11-22 07:59:55 UTC with status "
              "125: fallback cannot start"});
}

TEST_CASE("the page says for what a running agent has time left") {
  Status status = at_rest();
  status.deadline = at(301);

  CHECK(status_page(status, std::nullopt, Hearing::listens, at(2)).front() ==
        "phase     running for 1 s, 4 min 59 s left for the agent to say healthy");
  CHECK(status_page(status, std::nullopt, Hearing::listens, at(303)).front() ==
        "phase     running for 5 min 2 s, the agent's time to say healthy ended 2 s ago");
}

TEST_CASE("the page while an upgrade is under way") {
  Status status = on_trial();
  status.active->silent = true;
  status.standby = candidate();
  status.standby->role = "fallback";
  status.standby->args_omitted = true;
  Status previous = at_rest();

  CHECK(
      status_page(status, previous, Hearing::gone, at(22)) ==
      Lines{"phase     gone; the last known phase is trial, which began 10 s ago",
            "active    generation 2 (version 1.1), process 4022, active for 10 s",
            "          /opt/agent/1.1", "          says: following app.log",
            "          is silent: its heartbeats are overdue",
            "standby   generation 2, process 4022, held, started 12 s ago, a fallback",
            "          /opt/agent/1.1 (and arguments that are too long to be told)",
            "upgrade   u1, asked for by the control directory, 12 s ago",
            "upgrader  process 4020, version 0.1.0, started 22 s ago; it takes no requests: it "
            "has gone without a last word, or another waits for the lock",
            "before    the upgrader's previous life ended without a last word, in phase running"});
}

TEST_CASE("the page of an upgrader that has ended") {
  Status status = at_rest();
  status.phase = "ended";
  status.active.reset();
  status.ended = Ended{0, "asked for", at(60)};

  CHECK(status_page(status, std::nullopt, Hearing::gone, at(65)) ==
        Lines{"phase     ended 5 s ago with status 0: asked for",
              "upgrader  process 4020, version 0.1.0, started 1 min 5 s ago"});
}

TEST_CASE("an upgrader that is stopped is shown to be so, wherever it is shown") {
  const Status status = at_rest();

  const Lines page = status_page(status, std::nullopt, Hearing::stopped, at(65));
  CHECK(page.front() ==
        "phase     stopped; the last known phase is running, which began 1 min 4 s ago");
  CHECK(page.back() ==
        "upgrader  process 4020, version 0.1.0, started 1 min 5 s ago; it is stopped: its "
        "status is from before that");
  CHECK(status_line(status, Hearing::stopped, at(65)).find("; the upgrader is stopped: ") !=
        std::string::npos);
  CHECK(change_key(status, Hearing::stopped) != change_key(status, Hearing::listens));
  CHECK(list_table({{"aa", status, Hearing::stopped, ""}}, at(65))
            .back()
            .starts_with("aa    stopped"));
}

TEST_CASE("the first line of the status names what the list names in place of an old phase") {
  Status status = at_rest();
  const auto first = [&](Hearing hearing) {
    return status_page(status, std::nullopt, hearing, at(65)).front();
  };

  CHECK(first(Hearing::listens) == "phase     running for 1 min 4 s");
  CHECK(first(Hearing::deaf) == "phase     running for 1 min 4 s");
  CHECK(first(Hearing::gone).starts_with("phase     gone; the last known phase is running, "));
  CHECK(first(Hearing::unseen).starts_with("phase     unseen; the last known phase is running, "));
  CHECK(first(Hearing::full).starts_with("phase     disk full; the last known phase is running, "));
  CHECK(status_line(status, Hearing::gone, at(65))
            .starts_with("2026-11-22 08:01:05 UTC  gone; the last known phase is running, "));
  status.since.reset();
  status.phase.clear();
  CHECK(first(Hearing::gone) == "phase     gone; the last known phase is not known");
}

TEST_CASE("`status --watch` prints a line for each change, but not if only times have grown") {
  Status status = on_trial();

  CHECK(status_line(status, Hearing::listens, at(22)) ==
        "2026-11-22 08:00:22 UTC  trial for 10 s, 20 s left: generation 2 (version 1.1) is on "
        "trial; upgrade u1; says: following app.log");
  const std::string key = change_key(status, Hearing::listens);
  CHECK(change_key(status, Hearing::gone) != key);
  status.requests = {Answer{"r1", "confirm", true, ""}};
  CHECK(change_key(status, Hearing::listens) == key);
  status.active->status = "caught up";
  CHECK(change_key(status, Hearing::listens) != key);
}

TEST_CASE("the list has a line for every upgrader, whatever can be said of it") {
  Status ended = at_rest();
  ended.active.reset();
  ended.ended = Ended{0, "", at(5)};
  Status failed = at_rest();
  failed.endings = {ending_of("u0", "kept", "start", "exited")};

  CHECK(list_table({{"a", at_rest(), Hearing::listens, ""},
                    {"bb", failed, Hearing::gone, ""},
                    {"c\x1b", ended, Hearing::gone, ""},
                    {"d", std::nullopt, Hearing::unknown, "d/status.json: Permission denied"}},
                   at(65)) ==
        Lines{"NAME   PHASE    VERSION  FOR        LAST UPGRADE",
              "a      running  1.0      1 min 4 s  -",
              "bb     gone     1.0      1 min 4 s  failed at its start 23 s ago",
              "c\\x1b  ended    -        1 min      -",
              "d      -        -        -          d/status.json: Permission denied"});
}

TEST_CASE("the history has this life and the one before") {
  Status status = at_rest();
  status.endings = {ending_of("u1", "committed")};
  Status previous = at_rest();
  previous.endings = {ending_of("u0", "ended", "shutdown")};
  previous.endings[0].to = {"", "/opt/agent/agent-1.1"};

  CHECK(history_table(status, Hearing::listens, previous) ==
        Lines{"ENDED                    ID  BY       FROM  TO         OUTCOME",
              "2026-11-22 08:00:42 UTC  u1  control  1.0   1.1        committed; version 1.1 is "
              "active (ready after 412 ms)",
              "In the upgrader's previous life:",
              "2026-11-22 08:00:42 UTC  u0  control  1.0   agent-1.1  ended with the upgrader "
              "(candidate ready after 412 ms)"});
}

TEST_CASE("the history has an upgrade that was cut off with the life before") {
  Status previous = at_rest();
  previous.upgrade = upgrade_called("u0");
  previous.candidate = previous.active;
  previous.candidate->version = "1.1";
  previous.phase = "preparing";
  const auto last_line = [&] {
    return history_table(at_rest(), Hearing::listens, previous).back();
  };

  CHECK(last_line() ==
        "-      u0  control  1.0   1.1  not known: the upgrader ended without a last "
        "word, in phase preparing; status tells what runs now");
  previous.candidate.reset();
  CHECK(last_line().starts_with("-      u0  control  1.0   -   not known: "));
  previous.phase = "trial";
  CHECK(last_line().starts_with("-      u0  control  -     1.0  not known: "));
  previous.ended = Ended{0, "SIGTERM", at(50)};
  CHECK(history_table(at_rest(), Hearing::listens, previous).size() == 1);
}

TEST_CASE("the history shows the upgrade that was under way when the upgrader was killed") {
  Status status = on_trial();
  status.upgrade = upgrade_called("u1");
  CHECK(history_table(status, Hearing::listens, std::nullopt).size() == 1);
  CHECK(history_table(status, Hearing::unseen, std::nullopt).size() == 2);
  CHECK(history_table(status, Hearing::gone, std::nullopt)
            .back()
            .find("not known: the upgrader ended without a last word, in phase trial") !=
        std::string::npos);
}

TEST_CASE("whether an upgrader listens is told by its FIFO, its process and its disk") {
  const auto of = [](int fifo_error, std::optional<bool> there, bool stopped = false,
                     bool full = false) {
    return hearing_of({fifo_error, there, stopped, full});
  };
  CHECK(of(0, true) == Hearing::listens);
  // In this PID namespace, no process has the upgrader's pid, since the upgrader runs in a
  // different one. The upgrader still listens, since its FIFO can be opened.
  CHECK(of(0, false) == Hearing::listens);
  CHECK(of(0, true, true) == Hearing::stopped);
  CHECK(of(0, true, false, true) == Hearing::full);
  // The FIFO has no reader (ENXIO), so the upgrader has ended. The process that has its pid now
  // runs a different program.
  CHECK(of(ENXIO, true) == Hearing::gone);
  CHECK(of(ENOENT, true) == Hearing::deaf);
  CHECK(of(EINVAL, true) == Hearing::deaf);
  CHECK(of(ENOENT, false) == Hearing::gone);
  CHECK(of(ENOENT, std::nullopt) == Hearing::gone);
  CHECK(of(EACCES, true) == Hearing::unknown);
  CHECK(of(EACCES, true, true) == Hearing::stopped);
  CHECK(of(EPERM, false) == Hearing::unseen);
  CHECK(of(EACCES, std::nullopt) == Hearing::unknown);
  for (const Hearing hearing :
       {Hearing::stopped, Hearing::full, Hearing::deaf, Hearing::gone, Hearing::unseen}) {
    CHECK(status_line(at_rest(), hearing, at(65))
              .ends_with("; the upgrader " + hearing_clause(hearing)));
  }
  CHECK(hearing_clause(Hearing::unknown).empty());
  CHECK(
      list_table({{"aa", at_rest(), Hearing::full, ""}}, at(65)).back().starts_with("aa    disk"));
  CHECK(list_table({{"aa", at_rest(), Hearing::unseen, ""}}, at(65)).back().find("unseen") == 6);
}

TEST_CASE("columns are as wide as what is widest in them") {
  CHECK(in_columns({{"a", "b", "c"}, {"long", "", "d"}, {"x"}}) ==
        Lines{"a     b  c", "long     d", "x"});
  CHECK(in_columns({}).empty());
}

TEST_CASE("each step of an upgrade is told once, with its time") {
  Progress progress("u1", "upgraderctl app");
  Status status = at_rest();
  CHECK(progress.take(status).empty());

  status.upgrade = upgrade_called("u1");
  status.upgrade->executable = "/opt/agent/1.1";
  status.candidate = candidate();
  status.phase = "preparing";
  CHECK(progress.take(status) == Lines{"  +0.000s  upgrade u1 is accepted: /opt/agent/1.1"});
  CHECK(progress.take(status).empty());

  status.candidate->version = "1.1";
  status.upgrade->ready = at(10) + Duration{412};
  status.phase = "confirming";
  status.since = status.upgrade->ready;
  CHECK(progress.take(status) ==
        Lines{"  +0.412s  generation 2 (version 1.1) is ready",
              "  +0.412s  the gate is closed: `upgraderctl app confirm` opens it, `upgraderctl app "
              "cancel` gives the upgrade up"});

  status.upgrade->stop_sent = at(11);
  status.phase = "switching";
  CHECK(progress.take(status) == Lines{"  +1.000s  generation 1 (version 1.0) is told to stop"});

  Status trial = on_trial();
  trial.upgrade = status.upgrade;
  trial.upgrade->stopped = trial.upgrade->activated = at(12);
  CHECK(progress.take(trial) ==
        Lines{"  +2.000s  it has stopped",
              "  +2.000s  generation 2 (version 1.1) is active, on trial for 30 s"});
  trial.phase = "rolling_back";
  trial.since = at(130);
  CHECK(progress.take(trial) ==
        Lines{"+120.000s  generation 2 (version 1.1) has failed and is told to stop"});
  CHECK(progress.take(at_rest()).empty());
}

TEST_CASE("steps that are noticed late are shown with the names that were seen before") {
  Progress progress("u1", "upgraderctl app");
  Status status = at_rest();
  status.upgrade = upgrade_called("u1");
  status.candidate = candidate();
  status.phase = "preparing";
  CHECK(progress.take(status) == Lines{"  +0.000s  upgrade u1 is accepted: /opt/agent/1.1"});

  Status trial = on_trial();
  trial.upgrade->ready = trial.upgrade->stop_sent = at(11);
  trial.upgrade->stopped = trial.upgrade->activated = at(12);

  CHECK(progress.take(trial) ==
        Lines{"  +1.000s  generation 2 (version 1.1) is ready",
              "  +1.000s  generation 1 (version 1.0) is told to stop", "  +2.000s  it has stopped",
              "  +2.000s  generation 2 (version 1.1) is active, on trial for 30 s"});
}

TEST_CASE("the steps of another upgrade are not told") {
  Progress progress("u2", "upgraderctl app");

  CHECK(progress.take(on_trial()).empty());
}

TEST_CASE("the line that a terminal shows has a bar where there is a deadline, and fits") {
  const std::string whole =
      "[######..............] trial for 10 s, 20 s left: generation 2 (version 1.1) is on trial";
  CHECK(Progress::line(on_trial(), at(22), 100) == whole);
  CHECK(Progress::line(on_trial(), at(22), 40) == whole.substr(0, 37) + "...");
  CHECK(Progress::line(on_trial(), at(50), 200) ==
        "[####################] trial for 38 s, 8 s late: generation 2 (version 1.1) is on trial");
  Status status = on_trial();
  status.deadline.reset();
  CHECK(Progress::line(status, at(22), 100) ==
        "trial for 10 s: generation 2 (version 1.1) is on trial");
}

// ---- texts from other programs

TEST_CASE("nothing in a shown text commands a terminal") {
  CHECK(shown("plain \xc3\xa9 \xe6\x97\xa5") == "plain \xc3\xa9 \xe6\x97\xa5");
  CHECK(shown("a\x1b[31mb") == "a\\x1b[31mb");
  CHECK(shown("a\nb\tc\rd\x7f") == "a\\nb\\tc\\rd\\x7f");
  CHECK(shown("\xc2\x9b") == "\\u{9b}");
  CHECK(shown("\xe2\x80\xae") == "\\u{202e}");
  CHECK(shown("\xd8\x9c") == "\\u{61c}");
  CHECK(shown("\xff\xfe") == "\\xff\\xfe");
  CHECK(shown(std::string_view("\0", 1)) == "\\x00");
}

TEST_CASE("columns are those of a terminal") {
  CHECK(columns_of("abc") == 3);
  CHECK(columns_of("\xc3\xa9") == 1);
  CHECK(columns_of("e\xcc\x81") == 1);
  CHECK(columns_of("\xe6\x97\xa5") == 2);
  CHECK(columns_of("\xf0\x9f\x98\x80") == 2);
}

TEST_CASE("a text is cut to columns, and says so") {
  CHECK(cut("abcdef", 6) == "abcdef");
  CHECK(cut("abcdefg", 6) == "abc...");
  CHECK(cut("\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5", 6) == "\xe6\x97\xa5...");
  CHECK(cut("abcdefg", 2) == "..");
  CHECK(cut("", 0).empty());
}

TEST_CASE("a text is padded to columns") {
  CHECK(padded("ab", 4) == "ab  ");
  CHECK(padded("\xe6\x97\xa5", 4) == "\xe6\x97\xa5  ");
  CHECK(padded("abcde", 4) == "abcde");
}

}  // namespace words_test
