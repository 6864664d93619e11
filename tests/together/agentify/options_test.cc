// Tests the parser of agentify's command line.
#include "tools/agentify/options.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <string>
#include <vector>

namespace options_test {

using namespace agentify;
using namespace std::chrono_literals;

namespace {

CommandLine parse(std::vector<const char*> words) {
  words.insert(words.begin(), "agentify");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

Options options_of(std::vector<const char*> words) {
  const CommandLine line = parse(std::move(words));
  if (const auto* error = std::get_if<UsageError>(&line)) FAIL(error->reason);
  return std::get<Options>(line);
}

std::string complaint(std::vector<const char*> words) {
  const CommandLine line = parse(std::move(words));
  const auto* error = std::get_if<UsageError>(&line);
  return error == nullptr ? "" : error->reason;
}

}  // namespace

TEST_CASE("without options the settings are the defaults of the page") {
  const Options options = options_of({"--", "daemon", "--check=x", "b"});
  CHECK(options.name == "daemon");
  CHECK(options.args == std::vector<std::string>{"--check=x", "b"});
  CHECK_FALSE(options.check);
  CHECK(options.check_timeout == 1min);
  CHECK(options.ready == ReadyKind{ByStart{}});
  CHECK(options.ready_text == "started");
  CHECK(options.settle == 3s);
  CHECK(options.vouch);
  CHECK_FALSE(options.health);
  CHECK(options.health_interval == 10s);
  CHECK(options.health_failures == 3);
  CHECK(options.health_action == HealthAction::silence);
  CHECK_FALSE(options.ca_file);
  CHECK(options.stop == default_stop_plan());
  CHECK_FALSE(options.version);
  CHECK_FALSE(options.follow);
  CHECK_FALSE(options.last_words);
}

TEST_CASE("last words may be kept in a file, or not be kept") {
  CHECK(options_of({"--last-words", "d"}).last_words);
  CHECK_FALSE(options_of({"--last-words", "d"}).last_words_file);
  CHECK(options_of({"--last-words=/w", "d"}).last_words_file == "/w");
  CHECK_FALSE(options_of({"--last-words=none", "d"}).last_words);
  CHECK(complaint({"--last-words=w", "d"}) ==
        "--last-words=w: needs no value, =none or =FILE, where FILE begins with a slash");
}

TEST_CASE("every option is taken") {
  const Options options =
      options_of({"--check=nginx -t", "--check-timeout=5s", "--ready=notify", "--vouch=no",
                  "--health=exec:true", "--health-interval=1s", "--health-failures=7",
                  "--health-action=exit", "--stop=QUIT:60s,TERM:10s", "--version=1.2",
                  "--follow=/srv", "--follow-keys=/k", "--settle=0", "--last-words=/w", "--", "d"});
  CHECK(options.check == "nginx -t");
  CHECK(options.check_timeout == 5s);
  CHECK(options.ready == ReadyKind{ByNotify{}});
  CHECK(options.ready_text == "notify");
  CHECK(options.settle == 0s);
  CHECK_FALSE(options.vouch);
  CHECK(options.health == ProbeKind{CommandProbe{"true"}});
  CHECK(options.health_interval == 1s);
  CHECK(options.health_failures == 7);
  CHECK(options.health_action == HealthAction::exit);
  CHECK(options.stop == StopPlan{{{SIGQUIT, 60s}, {SIGTERM, 10s}}});
  CHECK(options.version == "1.2");
  CHECK(options.follow == "/srv");
  CHECK(options.follow_keys == "/k");
  CHECK(options_of({"--version-command=v", "d"}).version_command == "v");
  CHECK(options_of({"--vouch=yes", "--health=file:/a", "--health-action=silence", "d"}).vouch);
  CHECK(options_of({"--", ""}).name.empty());
}

TEST_CASE("help and agentify's own version are asked for by themselves") {
  CHECK(parse({"--help"}) == CommandLine{HelpWanted{}});
  CHECK(parse({"-h"}) == CommandLine{HelpWanted{}});
  CHECK(parse({"--version"}) == CommandLine{VersionWanted{}});
  CHECK(version_text().starts_with("agentify "));
}

TEST_CASE("a wrong argument is named") {
  CHECK(complaint({}) == "DAEMON is missing: agentify [options] -- DAEMON [ARG ...]");
  CHECK(complaint({"--"}) == "DAEMON is missing: agentify [options] -- DAEMON [ARG ...]");
  CHECK(complaint({"--nonsense", "d"}) == "--nonsense: no such option; --help names them all");
  CHECK(complaint({"--check=", "d"}) == "--check=: needs =COMMAND, as /bin/sh has it");
  CHECK(complaint({"--check=a", "--check=b", "d"}) == "--check=b: is given twice");
  CHECK(complaint({"--check-timeout=1s", "d"}) == "--check-timeout: needs --check");
  CHECK(complaint({"--check=a", "--check-timeout=0", "d"}) == "--check-timeout=0: must not be 0");
  CHECK(complaint({"--ready=x", "d"}).starts_with("--ready=x: needs =started, notify, fd:N"));
  CHECK(complaint({"--ready", "d"}).starts_with("--ready: needs =started"));
  CHECK(complaint({"--settle=3", "d"}).starts_with("--settle=3: needs =D"));
  CHECK(complaint({"--health=exec:x", "--health-interval=10", "d"}) ==
        "--health-interval=10: needs =D, where D is a whole number and ms, s, m or h, at most 24h");
  CHECK(complaint({"--ready=tcp:80 --stop=QUIT", "d"})
            .ends_with("; each option needs an --adapter of its own"));
  CHECK(complaint({"--ready=tcp:localhost", "d"}).ends_with("as tcp:80 or tcp:localhost:80"));
  CHECK(complaint({"--ready=tcp:99999", "d"}).ends_with(", where PORT is 1 to 65535"));
  CHECK(complaint({"--ready=https://a:b/", "d"}) ==
        "--ready=https://a:b/: https: needs a URL as https://HOST[:PORT][/PATH], without a user");
  CHECK(complaint({"--ca-file=none", "--ready=http://a/", "d"}) ==
        "--ca-file: needs --ready or --health with an https:URL");
  CHECK(complaint({"--ca-file=ca.pem", "--ready=https://a/", "d"}) ==
        "--ca-file=ca.pem: needs =FILE, where FILE begins with a slash, or =none");
  CHECK(complaint({"--ready=unix:run/d", "d"})
            .starts_with("--ready=unix:run/d: unix: needs the "
                         "absolute path"));
  CHECK(complaint({"--vouch=maybe", "d"}) == "--vouch=maybe: needs =yes or =no");
  CHECK(complaint({"--health=notify", "d"}).starts_with("--health=notify: needs =tcp:"));
  CHECK(complaint({"--health-interval=1s", "d"}) == "--health-interval: needs --health");
  CHECK(complaint({"--health-failures=1", "d"}) == "--health-failures: needs --health");
  CHECK(complaint({"--health-action=exit", "d"}) == "--health-action: needs --health");
  CHECK(complaint({"--health-failures=0", "d"}).ends_with("from 1 to 1000000"));
  CHECK(complaint({"--health-action=die", "d"}) == "--health-action=die: needs =silence or =exit");
  CHECK(
      complaint({"--stop=NO", "d"}) ==
      "--stop=NO: needs =SIGNAL[:D[,SIGNAL:D ...]]: \"NO\" names no signal, such as TERM or QUIT");
  CHECK(complaint({"--follow=", "d"}) == "--follow=: needs =DIR, where DIR is a directory");
  CHECK(complaint({"--follow-keys=/k", "d"}) == "--follow-keys: needs --follow=DIR");
  CHECK(complaint({"--version=", "d"}).starts_with("--version=: needs =TEXT"));
  CHECK(complaint({"--version=1", "--version-command=v", "d"}) ==
        "--version-command: is of no use beside --version");
}

}  // namespace options_test
