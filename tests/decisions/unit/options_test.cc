// Tests how the upgrader's command line is parsed: the values and limits of every option, the
// refused command lines, and the supervisor's policy that results from the options.
#include "upgrader/core/options.h"

#include <catch2/catch.hpp>

#include "base/version.h"

namespace options_test {

using namespace upgrader;
using namespace std::chrono_literals;

namespace {

CommandLine parse(const std::vector<std::string>& words) {
  std::vector<const char*> argv{"upgrader"};
  for (const std::string& word : words)
    argv.push_back(word.c_str());
  argv.push_back(nullptr);
  return parse_command_line(static_cast<int>(words.size()) + 1, argv.data());
}

Options options_of(std::vector<std::string> words) {
  words.push_back("agent");
  const CommandLine parsed = parse(words);
  INFO(words.front());
  REQUIRE(std::holds_alternative<Options>(parsed));
  return std::get<Options>(parsed);
}

std::string refusal_of(std::vector<std::string> words) {
  words.push_back("agent");
  const CommandLine parsed = parse(words);
  INFO(words.front());
  REQUIRE(std::holds_alternative<UsageError>(parsed));
  return std::get<UsageError>(parsed).reason;
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("without options the documented defaults hold") {
  const CommandLine parsed = parse({"agent"});

  const Options& options = std::get<Options>(parsed);
  CHECK(options.defaults.mode == agent_protocol::Mode::parallel);
  CHECK(options.defaults.start_timeout == 5min);
  CHECK(options.defaults.stop_timeout == 90s);
  CHECK(options.exit_grace == 10s);
  CHECK(options.defaults.trial == 30s);
  CHECK(options.defaults.on_unclean_stop == agent_protocol::UncleanStop::fall_back);
  CHECK(options.defaults.fallback == agent_protocol::FallbackMode::cold);
  CHECK(options.defaults.confirm_timeout == 5min);
  CHECK_FALSE(options.relink);
  CHECK_FALSE(options.subreaper);
  CHECK(options.adapter.empty());
  CHECK_FALSE(options.notify_fd);
  CHECK_FALSE(options.lock_file);
  CHECK_FALSE(options.lock_timeout);
  CHECK(options.log_level == LogLevel::info);
  CHECK(options.agent == "agent");
  CHECK(options.args.empty());
}

TEST_CASE("every option sets what it names") {
  CHECK(options_of({"--mode=sequential"}).defaults.mode == agent_protocol::Mode::sequential);
  CHECK(options_of({"--mode=parallel"}).defaults.mode == agent_protocol::Mode::parallel);
  CHECK(options_of({"--start-timeout=1h"}).defaults.start_timeout == 1h);
  CHECK(options_of({"--stop-timeout=250ms"}).defaults.stop_timeout == 250ms);
  CHECK(options_of({"--exit-grace=2m"}).exit_grace == 2min);
  CHECK(options_of({"--trial=0"}).defaults.trial == 0ms);
  CHECK(options_of({"--on-unclean-stop=continue"}).defaults.on_unclean_stop ==
        agent_protocol::UncleanStop::carry_on);
  CHECK(options_of({"--on-unclean-stop=fallback"}).defaults.on_unclean_stop ==
        agent_protocol::UncleanStop::fall_back);
  CHECK(options_of({"--fallback=warm"}).defaults.fallback == agent_protocol::FallbackMode::warm);
  CHECK(options_of({"--fallback=cold"}).defaults.fallback == agent_protocol::FallbackMode::cold);
  CHECK(options_of({"--gate=confirm"}).defaults.gate == agent_protocol::Gate::confirm);
  CHECK(options_of({"--gate=none"}).defaults.gate == agent_protocol::Gate::none);
  CHECK(options_of({"--confirm-timeout=7s"}).defaults.confirm_timeout == 7s);
  CHECK(options_of({"--commit=healthy"}).defaults.commit == agent_protocol::CommitRule::healthy);
  CHECK(options_of({"--commit=survive"}).defaults.commit == agent_protocol::CommitRule::survive);
  CHECK(options_of({"--relink"}).relink);
  CHECK(options_of({"--relink", "--previous=p"}).previous == "p");
  CHECK(options_of({"--relink", "--previous=p", "--attempts=3"}).attempts == 3);
  CHECK(options_of({"--attempts=0"}).attempts == 0);
  CHECK(options_of({"--subreaper"}).subreaper);
  CHECK(options_of({"--notify-fd=3"}).notify_fd == 3);
  CHECK(options_of({"--notify-fd=2147483647"}).notify_fd == 2'147'483'647);
  CHECK(options_of({"--lock=a=b"}).lock_file == "a=b");
  CHECK(options_of({"--control=/run/a"}).control_directory == "/run/a");
  CHECK(options_of({"--lock=f", "--lock-timeout=3s"}).lock_timeout == Duration{3s});
  CHECK(options_of({"--log-level=error"}).log_level == LogLevel::error);
  CHECK(options_of({"--log-level=warning"}).log_level == LogLevel::warning);
  CHECK(options_of({"--log-level=info"}).log_level == LogLevel::info);
  CHECK(options_of({"--log-level=debug"}).log_level == LogLevel::debug);
}

TEST_CASE("options end at AGENT or at two dashes, and arguments stay byte for byte") {
  const auto check = [](const std::vector<std::string>& words, const std::string& agent,
                        const std::vector<std::string>& args) {
    const CommandLine parsed = parse(words);
    REQUIRE(std::holds_alternative<Options>(parsed));
    CHECK(std::get<Options>(parsed).agent == agent);
    CHECK(std::get<Options>(parsed).args == args);
  };

  check({"--relink", "agent", "--help", "--", "", "a b", "\xff\xfe"}, "agent",
        {"--help", "--", "", "a b", "\xff\xfe"});
  check({"--", "--relink", "x"}, "--relink", {"x"});
  check({"--", "--", "x"}, "--", {"x"});
  check({"-", "x"}, "-", {"x"});
  check({"agent", "--mode=nonsense"}, "agent", {"--mode=nonsense"});
}

TEST_CASE("a thousand arguments are all kept") {
  std::vector<std::string> words(1001, "x");
  words.front() = "agent";

  const CommandLine parsed = parse(words);

  CHECK(std::get<Options>(parsed).args == std::vector<std::string>(1000, "x"));
}

TEST_CASE("an option that is given twice is refused, also with the same value") {
  CHECK(refusal_of({"--trial=1s", "--relink", "--trial=2s"}) == "--trial=2s: is given twice");
  CHECK(refusal_of({"--lock=a", "--lock=a"}) == "--lock=a: is given twice");
  CHECK(refusal_of({"--relink", "--relink"}) == "--relink: is given twice");
  CHECK(mentions(refusal_of({"--trial=soon", "--trial=2s"}), "--trial=soon: needs"));
  CHECK(std::holds_alternative<Options>(parse({"--relink", "agent", "--relink", "--relink"})));
}

TEST_CASE("an adapter has as many words as are given, of which only the first must not be empty") {
  using Words = std::vector<std::string>;
  CHECK(options_of({"--adapter=agentify"}).adapter == Words{"agentify"});
  CHECK(options_of({"--adapter=a", "--relink", "--adapter=--ready=b",
                    "--adapter=", "--adapter=--ready=b", "--adapter=\xff"})
            .adapter == Words{"a", "--ready=b", "", "--ready=b", "\xff"});

  const std::string needs = ": needs =WORD, the first a program, the others its arguments";
  CHECK(refusal_of({"--adapter"}) == "--adapter" + needs);
  CHECK(refusal_of({"--adapter="}) == "--adapter=" + needs);
  CHECK(refusal_of({"--adapter=", "--adapter=a"}) == "--adapter=" + needs);
  CHECK(refusal_of({"--adapter=a", "--adapter"}) == "--adapter" + needs);
}

TEST_CASE("a time to wait for the lock is refused where there is no lock") {
  CHECK(refusal_of({"--lock-timeout=3s"}) == "--lock-timeout: needs --lock=FILE");
  CHECK(options_of({"--lock-timeout=3s", "--lock=f"}).lock_timeout == Duration{3s});
}

TEST_CASE("a lock that is a file of the control directory is refused") {
  const std::string name = GENERATE("status.json", "previous.json", "control", ".lock");
  const std::string lock = "--lock=d/" + name;
  CHECK(refusal_of({lock, "--control=d"}) == lock + ": is a file that --control needs");
  CHECK(options_of({lock, "--control=e"}).lock_file == "d/" + name);
  CHECK(options_of({"--lock=d/lock", "--control=d"}).lock_file == "d/lock");
}

TEST_CASE("help and version are wanted wherever options may stand") {
  CHECK(std::holds_alternative<HelpWanted>(parse({"--help"})));
  CHECK(std::holds_alternative<HelpWanted>(parse({"-h"})));
  CHECK(std::holds_alternative<HelpWanted>(parse({"--relink", "--help", "agent"})));
  CHECK(std::holds_alternative<VersionWanted>(parse({"--version"})));
  CHECK(mentions(version_text(), "upgrader "));
}

TEST_CASE("the version says which protocol is spoken, too") {
  CHECK(version_text() == "upgrader " + std::string(upgrader_version) + ", agent protocol 1\n");
}

TEST_CASE("help names every option") {
  for (const char* name :
       {"--mode=", "--start-timeout=", "--stop-timeout=", "--exit-grace=", "--trial=",
        "--on-unclean-stop=", "--gate=", "--confirm-timeout=", "--commit=", "--relink", "--lock=",
        "--lock-timeout=", "--control=", "--adapter=", "--log-level=", "-h, --help", "--version"}) {
    CHECK(mentions(help_text(), name));
  }
}

TEST_CASE("help says what each signal does") {
  for (const char* line : {"SIGUSR2\t", "SIGTERM, SIGINT\t", "SIGQUIT\t", "SIGHUP, SIGUSR1\t"})
    CHECK(mentions(help_text(), "\n  " + std::string(line)));
}

TEST_CASE("a way back needs a link, and attempts need a way back") {
  CHECK(refusal_of({"--previous=p"}) == "--previous: needs --relink");
  CHECK(refusal_of({"--relink", "--attempts=1"}) == "--attempts: needs --previous=LINK");
  CHECK(mentions(refusal_of({"--relink", "--previous="}), "needs =LINK, where LINK is a path"));
  for (const char* wrong : {"--attempts=", "--attempts", "--attempts=-1", "--attempts=1000000",
                            "--attempts=3x", "--attempts=99999999999"}) {
    CHECK(mentions(refusal_of({"--relink", "--previous=p", wrong}),
                   "needs =N, where N is a number from 0 to 999999"));
  }
}

TEST_CASE("a commit that needs healthy needs a trial") {
  CHECK(refusal_of({"--commit=healthy", "--trial=0"}) ==
        "--commit=healthy: needs a --trial that is not 0");
  CHECK(refusal_of({"--trial=0", "--commit=healthy"}) ==
        "--commit=healthy: needs a --trial that is not 0");
}

TEST_CASE("a gate that does not say waits as long as a start, unless an option says how long") {
  const auto limit = [](std::vector<std::string> given) {
    return policy_of(options_of(given), Duration{0}).defaults.confirm_timeout;
  };
  CHECK(limit({"--start-timeout=3s"}) == 3s);
  CHECK(limit({"--start-timeout=3s", "--confirm-timeout=0"}) == 0s);
}

TEST_CASE("durations are a whole number and a unit, at most a day, or 0") {
  CHECK(options_of({"--trial=24h"}).defaults.trial == 24h);
  CHECK(options_of({"--trial=1440m"}).defaults.trial == 24h);
  CHECK(options_of({"--trial=86400s"}).defaults.trial == 24h);
  CHECK(options_of({"--trial=86400000ms"}).defaults.trial == 24h);
  CHECK(options_of({"--trial=007s"}).defaults.trial == 7s);
  CHECK(options_of({"--trial=9s"}).defaults.trial == 9s);
  CHECK(options_of({"--trial=0ms"}).defaults.trial == 0ms);

  for (const char* wrong : {"--trial",
                            "--trial=",
                            "--trial=5",
                            "--trial=00",
                            "--trial=s",
                            "--trial=-1s",
                            "--trial=+1s",
                            "--trial= 1s",
                            "--trial=1 s",
                            "--trial=1.5s",
                            "--trial=1e3s",
                            "--trial=1S",
                            "--trial=1sec",
                            "--trial=1s ",
                            "--trial=25h",
                            "--trial=1441m",
                            "--trial=86401s",
                            "--trial=86400001ms",
                            "--trial=0x10s",
                            "--trial=99999999999999999999999999s",
                            "--trial=18446744073709551617s",
                            "--trial=1d",
                            "--trial=\xd9\xa1s"}) {
    const std::string reason = refusal_of({wrong});
    CHECK(mentions(reason, wrong));
    CHECK(mentions(reason, "at most 24h"));
  }
}

TEST_CASE("every duration option refuses what is no duration") {
  for (const char* name :
       {"--start-timeout", "--stop-timeout", "--exit-grace", "--trial", "--lock-timeout"}) {
    const std::string needs = "needs =D, where D is a whole number and ms, s, m or h, ";
    CHECK(mentions(refusal_of({std::string(name) + "=x"}), std::string(name) + "=x: " + needs));
    CHECK(mentions(refusal_of({name}), std::string(name) + ": " + needs));
  }
}

TEST_CASE("only the stop timeout must not be 0") {
  CHECK(refusal_of({"--stop-timeout=0"}) == "--stop-timeout=0: must not be 0");
  CHECK(refusal_of({"--stop-timeout=0s"}) == "--stop-timeout=0s: must not be 0");
  CHECK(options_of({"--start-timeout=0"}).defaults.start_timeout == 0ms);
  CHECK(options_of({"--exit-grace=0"}).exit_grace == 0ms);
  CHECK(options_of({"--lock=f", "--lock-timeout=0"}).lock_timeout == Duration{0});
}

TEST_CASE("a wrong choice is told what is allowed") {
  for (const char* wrong : {"--mode=both", "--mode", "--mode="})
    CHECK(refusal_of({wrong}) == wrong + std::string(": needs =parallel or =sequential"));
  CHECK(mentions(refusal_of({"--on-unclean-stop=x"}), "x: needs =fallback or =continue"));
  CHECK(mentions(refusal_of({"--log-level=loud"}), "loud: needs =error or =warning or ="));
  CHECK(refusal_of({"--relink=yes"}) == "--relink=yes: takes no value");
  CHECK(refusal_of({"--subreaper="}) == "--subreaper=: takes no value");
  for (const char* wrong : {"", "0", "1", "2", "-3", "3x", "x", " 3", "+3", "2147483648"}) {
    INFO(wrong);
    CHECK(mentions(refusal_of({("--notify-fd=" + std::string(wrong)).c_str()}), "3 or more"));
  }
  CHECK(mentions(refusal_of({"--notify-fd"}), "--notify-fd: needs =N"));
  CHECK(mentions(refusal_of({"--lock"}), "--lock: needs =FILE"));
  CHECK(mentions(refusal_of({"--lock="}), "--lock=: needs =FILE"));
  CHECK(mentions(refusal_of({"--control"}), "--control: needs =DIR"));
}

TEST_CASE("an unknown option is refused by its name") {
  for (const char* wrong : {"-H", "-v", "--mod=parallel", "--Mode=parallel", "---", "--help=x",
                            "--version=1", "--=x"}) {
    CHECK(mentions(refusal_of({wrong}), std::string(wrong) + ": no such option; --help"));
    CHECK(mentions(refusal_of({"--adapter=agentify", wrong}),
                   "one of the adapter's is given as --adapter=" + std::string(wrong)));
  }
}

TEST_CASE("a missing or empty AGENT is a usage error") {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {}, {"--"}, {"--relink"}, {"--relink", "--"}, {""}, {"--", "", "x"}}) {
    const CommandLine parsed = parse(words);
    REQUIRE(std::holds_alternative<UsageError>(parsed));
    CHECK(mentions(std::get<UsageError>(parsed).reason, "AGENT is missing"));
  }
}

TEST_CASE("an empty argument vector is a usage error") {
  const char* const argv[] = {nullptr};

  CHECK(std::holds_alternative<UsageError>(parse_command_line(0, argv)));
}

TEST_CASE("the lock is waited for as long as a predecessor's agent may take to end") {
  CHECK(lock_timeout_of(options_of({"--lock=f"})) == 100s);
  CHECK(lock_timeout_of(options_of({"--stop-timeout=1s", "--exit-grace=2s"})) == 3s);
  CHECK(lock_timeout_of(options_of({"--exit-grace=0"})) == 0ms);
  CHECK(lock_timeout_of(options_of({"--exit-grace=0", "--lock=f", "--lock-timeout=4s"})) == 4s);
  CHECK(lock_timeout_of(options_of({"--lock=f", "--lock-timeout=0"})) == 0ms);
}

// ---- the policy (set of options) that the supervisor gets

TEST_CASE("every option that the supervisor goes by is in its policy") {
  Options options;
  options.defaults.mode = agent_protocol::Mode::sequential;
  options.defaults.gate = agent_protocol::Gate::confirm;
  options.defaults.commit = agent_protocol::CommitRule::healthy;
  options.defaults.start_timeout = 1s;
  options.defaults.confirm_timeout = 2s;
  options.defaults.stop_timeout = 3s;
  options.defaults.trial = 4s;
  options.defaults.on_unclean_stop = agent_protocol::UncleanStop::carry_on;
  options.defaults.fallback = agent_protocol::FallbackMode::warm;
  options.exit_grace = 5s;
  options.relink = true;
  options.previous = "/opt/previous";
  options.attempts = 1;
  const Terms terms{.mode = options.defaults.mode,
                    .gate = options.defaults.gate,
                    .commit = options.defaults.commit,
                    .start_timeout = 1s,
                    .confirm_timeout = 2s,
                    .stop_timeout = 3s,
                    .trial = 4s,
                    .on_unclean_stop = options.defaults.on_unclean_stop,
                    .fallback = options.defaults.fallback};

  CHECK(policy_of(options, 6s) == Policy{terms, 5s, 6s, true, true, true});
}

TEST_CASE("without their options there is no way back, and no attempts are counted") {
  const Options options;

  CHECK_FALSE(policy_of(options, 0s).attempts);
  CHECK_FALSE(policy_of(options, 0s).previous);
}

}  // namespace options_test
