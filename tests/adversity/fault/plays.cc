// The scripted runs of the upgrader into which faults are injected, each with a name.
#include <signal.h>

#include <stdexcept>

#include "tests/adversity/fault/run.h"

namespace fault {
namespace {

// Returns the options in `more`, and options that give the upgrader long time limits. With these
// limits a deadline passes only if a process makes no progress. Long limits do not slow a run: the
// simulated clock of tracer.h jumps to the deadline.
Texts options(Texts more) {
  Texts all = {"--start-timeout=60s", "--stop-timeout=50s", "--exit-grace=40s"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

bool is_candidate(const Agent& agent) {
  return agent.role == "candidate";
}

Play parallel() {
  Play play{.name = "parallel",
            .about = "a gate, a trial that ends by healthy; the old agent ends step by step",
            .story =
                "first welcome activate accepted candidate_ready stop; "
                "candidate welcome activate committed stop",
            .options = options({"--trial=1h"})};
  play.begin = [](Run& run) { run.request_upgrade(R"("gate":"confirm","commit":"healthy")"); };
  play.react = [](Run& run, Agent& agent, std::string_view type) {
    if (type == "activate" && is_candidate(agent)) run.say_type(agent, "healthy");
    if (type != "stop") return false;
    run.stop_slowly(agent);
    return true;
  };
  return play;
}

Play sequential() {
  Play play{.name = "sequential",
            .about = "scripts as agents, no trial; the log is a pipe",
            .story =
                "first welcome activate accepted stop; "
                "candidate welcome activate committed stop",
            .options = options({"--mode=sequential", "--trial=0"}),
            .log = LogKind::pipe,
            .script = true};
  play.begin = [](Run& run) { run.request_upgrade(R"("args":["a","b c"])"); };
  return play;
}

bool unfit_while_held(Run& run, Agent& agent, std::string_view type) {
  if (type != "welcome" || !is_candidate(agent)) return false;
  run.say_type(agent, "unfit", R"("reason":"no disk")");
  return true;
}

Play unfit() {
  Play play{.name = "unfit",
            .about = "the held candidate is unfit and killed, the old agent stays",
            .story =
                "first welcome activate accepted upgrade_failed(start) stop; "
                "candidate welcome",
            .options = options({"--trial=0"})};
  play.begin = [](Run& run) { run.request_upgrade(); };
  play.react = unfit_while_held;
  return play;
}

Play exits() {
  Play play{.name = "exits",
            .about = "the held candidate exits, the old agent stays",
            .story =
                "first welcome activate accepted upgrade_failed(start) stop; "
                "candidate welcome",
            .options = options({"--trial=0"})};
  play.begin = [](Run& run) { run.request_upgrade(); };
  play.react = [](Run& run, Agent& agent, std::string_view type) {
    if (type != "welcome" || !is_candidate(agent)) return false;
    run.exit_after(agent, "{\"type\":\"status\",\"text\":\"no disk\"}\n", 3);
    return true;
  };
  return play;
}

bool unfit_on_trial(Run& run, Agent& agent, std::string_view type) {
  if (type != "activate" || !is_candidate(agent)) return false;
  run.say_type(agent, "unfit", R"("reason":"no network")");
  return true;
}

// A play (scripted run) in which a new file replaces the first program at its path. When the
// upgrade fails, the upgrader must start the old file again, from the descriptor that it has kept
// open.
Play rollback() {
  Play play{.name = "rollback",
            .about = "unfit on trial, rolled back to a program that was replaced; log to a socket",
            .story =
                "first welcome activate accepted stop; "
                "candidate welcome activate stop; "
                "fallback welcome(trial) activate stop",
            .options = options({"--trial=1h"}),
            .log = LogKind::socket};
  play.begin = [](Run& run) {
    run.replace_program("one");
    run.request_upgrade();
  };
  play.react = unfit_on_trial;
  return play;
}

// A play (scripted run) with an adapter, a program that is started instead of the agent. A new file
// replaces the adapter at its path. The upgrader must still execute the old adapter, through its
// open descriptor.
Play adapter() {
  Play play{.name = "adapter",
            .about = "an adapter, replaced, runs programs; one is unfit on trial",
            .story =
                "first welcome activate accepted stop; "
                "candidate welcome activate stop; "
                "fallback welcome(trial) activate stop",
            .options = options({"--trial=1h", "--lock="}),
            .adapter = true};
  play.begin = [](Run& run) {
    run.replace_program("adapter");
    run.replace_program("one");
    run.request_upgrade();
  };
  play.react = unfit_on_trial;
  return play;
}

Play unclean() {
  Play play{.name = "unclean",
            .about = "the old agent crashes while it stops, and is started again",
            .story =
                "first welcome activate accepted stop; "
                "candidate welcome; "
                "fallback welcome(stop) activate stop",
            .options = options({"--trial=0"})};
  play.begin = [](Run& run) { run.request_upgrade(); };
  play.react = [](Run& run, Agent& agent, std::string_view type) {
    if (type != "stop" || agent.role != "first") return false;
    run.exit_after(agent, "{\"type\":\"status\",\"text\":\"crashes\"}\n", 3);
    return true;
  };
  return play;
}

Play relink() {
  Play play{.name = "relink",
            .about = "--relink, --lock and a log file",
            .story =
                "first welcome activate accepted stop; "
                "candidate welcome activate committed stop",
            .options = options({"--relink", "--lock=", "--trial=0"}),
            .link = true};
  play.begin = [](Run& run) { run.request_upgrade(); };
  return play;
}

Play by_signal() {
  Play play{.name = "sigusr2",
            .about = "SIGUSR2 with --relink, to where the link was pointed, with a lock",
            .story =
                "first welcome activate stop; "
                "candidate welcome activate committed stop",
            .options = options({"--relink", "--lock=", "--trial=1h"}),
            .link = true};
  play.begin = [](Run& run) {
    run.point_link_at("two");
    run.signal(SIGUSR2);
  };
  play.react = [](Run& run, Agent& agent, std::string_view type) {
    if (type == "activate" && is_candidate(agent)) run.say_type(agent, "healthy");
    return false;
  };
  return play;
}

Play restore() {
  Play play{.name = "restore",
            .about = "SIGUSR2 with --relink; the candidate is unfit, and the link is put back",
            .story =
                "first welcome activate stop; "
                "candidate welcome",
            .options = options({"--relink", "--trial=0"}),
            .link = true};
  play.begin = [](Run& run) {
    run.point_link_at("two");
    run.signal(SIGUSR2);
  };
  play.react = unfit_while_held;
  return play;
}

Play sigterm() {
  Play play{.name = "sigterm",
            .about = "SIGTERM while the candidate is held",
            .story =
                "first welcome activate accepted upgrade_failed(shutdown) stop; "
                "candidate welcome",
            .options = options({"--trial=0", "--lock="})};
  play.begin = [](Run& run) { run.request_upgrade(); };
  play.react = [](Run& run, Agent& agent, std::string_view type) {
    if (type != "welcome" || !is_candidate(agent)) return false;
    run.signal(SIGTERM);
    return true;
  };
  return play;
}

Play sigquit() {
  Play play{.name = "sigquit",
            .about = "SIGQUIT while the candidate is held",
            .story =
                "first welcome activate accepted; "
                "candidate welcome",
            .options = options({"--trial=0"})};
  play.begin = [](Run& run) { run.request_upgrade(); };
  play.react = [](Run& run, Agent& agent, std::string_view type) {
    if (type != "welcome" || !is_candidate(agent)) return false;
    run.signal(SIGQUIT);
    return true;
  };
  return play;
}

// Returns the line of an operator's request. `more` has additional members, such as the id of an
// upgrade.
std::string request(int number, const std::string& type, const std::string& more = "") {
  return R"({"type":")" + type + R"(","request":"r)" + std::to_string(number) + "\"" + more + "}";
}

constexpr const char* of_u1 = R"(,"id":"u1")";

Play by_operator() {
  Play play{.name = "control",
            .about = "an operator asks, and opens the gate; all that is kept across restarts",
            .story =
                "first welcome activate stop; "
                "candidate welcome activate committed stop",
            .options = options({"--control=", "--relink", "--previous=", "--attempts=3",
                                "--lock=", "--trial=0", "--confirm-timeout=0"}),
            .link = true};
  play.requests = [](const Run& run) -> Texts {
    const std::string two = R"(,"gate":"confirm","executable":")" + run.path("two") + "\"";
    return {request(1, "upgrade", of_u1 + two), request(2, "confirm", of_u1)};
  };
  return play;
}

Play operator_gives_up() {
  Play play{.name = "operator",
            .about = "an operator's lines: no request, a refused one, a cancel, a shutdown",
            .story =
                "first welcome activate stop; "
                "candidate welcome",
            .options = options({"--control=", "--trial=0", "--confirm-timeout=0"})};
  play.requests = [](const Run& run) -> Texts {
    const std::string two = R"(,"gate":"confirm","executable":")" + run.path("two") + "\"";
    return {request(1, "commit", of_u1), request(2, "upgrade", of_u1 + two),
            request(3, "cancel", of_u1), request(4, "shutdown")};
  };
  return play;
}

Play standby_takes_over() {
  Play play{.name = "warm",
            .about = "a fallback stands by, and an operator has the new version rolled back",
            .story =
                "first welcome activate accepted stop; "
                "candidate welcome activate stop; "
                "fallback welcome activate(trial) stop",
            .options = options({"--control=", "--fallback=warm", "--trial=1h"})};
  play.begin = [](Run& run) { run.request_upgrade(); };
  play.requests = [](const Run&) -> Texts { return {request(1, "rollback", of_u1)}; };
  play.without_operator = [](Run& run) {
    run.say_type(*run.active(), "unfit", R"("reason":"no network")");
  };
  return play;
}

Play standby_is_not_needed() {
  Play play{.name = "standby",
            .about = "a fallback stands by, and an operator vouches for the new version",
            .story =
                "first welcome activate accepted stop; "
                "candidate welcome activate committed stop; "
                "fallback welcome",
            .options = options({"--control=", "--fallback=warm", "--trial=1h", "--lock="})};
  play.begin = [](Run& run) { run.request_upgrade(); };
  play.requests = [](const Run&) -> Texts { return {request(1, "commit", of_u1)}; };
  play.without_operator = [](Run& run) { run.say_type(*run.active(), "healthy"); };
  return play;
}

Play bad_boot() {
  Play play{.name = "boot",
            .about = "what AGENT's link names is unfit, and LINK is the way back",
            .story =
                "first welcome; "
                "fallback welcome(start) activate committed stop",
            .options = options(
                {"--control=", "--relink", "--previous=", "--attempts=3", "--lock=", "--trial=0"}),
            .link = true,
            .previous = "two"};
  play.react = [](Run& run, Agent& agent, std::string_view type) {
    if (type != "welcome" || agent.role != "first") return false;
    run.say_type(agent, "unfit", R"("reason":"no disk")");
    return true;
  };
  return play;
}

Play attempts_exhausted() {
  return {.name = "exhausted",
          .about = "what AGENT's link names did not last, and is not even tried",
          .story = "fallback welcome(boot) activate committed stop",
          .options = options({"--relink", "--previous=", "--attempts=2", "--trial=0"}),
          .link = true,
          .previous = "two",
          .attempts = "2"};
}

}  // namespace

const std::vector<Play>& plays() {
  static const std::vector<Play> all = {parallel(),
                                        sequential(),
                                        unfit(),
                                        exits(),
                                        rollback(),
                                        adapter(),
                                        unclean(),
                                        relink(),
                                        by_signal(),
                                        restore(),
                                        sigterm(),
                                        sigquit(),
                                        by_operator(),
                                        operator_gives_up(),
                                        standby_takes_over(),
                                        standby_is_not_needed(),
                                        bad_boot(),
                                        attempts_exhausted()};
  return all;
}

const Play& play_named(std::string_view name) {
  for (const Play& play : plays()) {
    if (play.name == name) return play;
  }
  throw std::runtime_error("there is no play called " + std::string(name));
}

}  // namespace fault
