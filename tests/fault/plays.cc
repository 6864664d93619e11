#include "tests/fault/plays.h"

#include <signal.h>

#include <stdexcept>

namespace fault {
namespace {

// Deadlines that a lost message leads to, short enough for a run and long enough for a busy
// machine.
Texts options(Texts more) {
  Texts all = {"--start-timeout=3s", "--stop-timeout=2s", "--exit-grace=1s"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

bool is_candidate(const Agent& agent) {
  return agent.role == "candidate";
}

Play parallel() {
  Play play{.name = "parallel",
            .about = "a gate, a trial that ends by healthy; the old agent ends step by step",
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
            .options = options({"--mode=sequential", "--trial=0"}),
            .log = LogKind::pipe,
            .script = true};
  play.begin = [](Run& run) { run.request_upgrade(R"("args":["a","b c"])"); };
  return play;
}

Play unfit() {
  Play play{.name = "unfit",
            .about = "the held candidate is unfit and killed, the old agent stays",
            .options = options({"--trial=0"})};
  play.begin = [](Run& run) { run.request_upgrade(); };
  play.react = [](Run& run, Agent& agent, std::string_view type) {
    if (type != "welcome" || !is_candidate(agent)) return false;
    run.say_type(agent, "unfit", R"("reason":"no disk")");
    return true;
  };
  return play;
}

Play exits() {
  Play play{.name = "exits",
            .about = "the held candidate exits, the old agent stays",
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

// The first program is replaced by another file once it runs, so that the way back goes by the
// descriptor that was kept open.
Play rollback() {
  Play play{.name = "rollback",
            .about = "unfit on trial, rolled back to a program that was replaced; log to a socket",
            .options = options({"--trial=1h"}),
            .log = LogKind::socket};
  play.begin = [](Run& run) {
    run.replace_program("one");
    run.request_upgrade();
  };
  play.react = unfit_on_trial;
  return play;
}

// The adapter itself is replaced, too, and goes on being executed by its descriptor.
Play adapter() {
  Play play{.name = "adapter",
            .about = "an adapter, replaced, runs programs; one is unfit on trial",
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
            .options = options({"--relink", "--lock=", "--trial=0"}),
            .link = true};
  play.begin = [](Run& run) { run.request_upgrade(); };
  return play;
}

Play by_signal() {
  Play play{.name = "sigusr2",
            .about = "SIGUSR2 with --relink, to where the link was pointed, with a lock",
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
            .options = options({"--relink", "--trial=0"}),
            .link = true};
  play.begin = [](Run& run) {
    run.point_link_at("two");
    run.signal(SIGUSR2);
  };
  play.react = [](Run& run, Agent& agent, std::string_view type) {
    if (type != "welcome" || !is_candidate(agent)) return false;
    run.say_type(agent, "unfit", R"("reason":"no disk")");
    return true;
  };
  return play;
}

Play sigterm() {
  Play play{.name = "sigterm",
            .about = "SIGTERM while the candidate is held",
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
            .options = options({"--trial=0"})};
  play.begin = [](Run& run) { run.request_upgrade(); };
  play.react = [](Run& run, Agent& agent, std::string_view type) {
    if (type != "welcome" || !is_candidate(agent)) return false;
    run.signal(SIGQUIT);
    return true;
  };
  return play;
}

}  // namespace

const std::vector<Play>& plays() {
  static const std::vector<Play> all = {parallel(),  sequential(), unfit(),   exits(),
                                        rollback(),  adapter(),    unclean(), relink(),
                                        by_signal(), restore(),    sigterm(), sigquit()};
  return all;
}

const Play& play_named(std::string_view name) {
  for (const Play& play : plays()) {
    if (play.name == name) return play;
  }
  throw std::runtime_error("there is no play called " + std::string(name));
}

}  // namespace fault
