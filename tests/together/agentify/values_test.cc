// Tests the command line of agentify, and functions that do no input or output. These functions are
// about durations, signals, stop plans, URLs, notifications of a daemon, and the ancestry of
// processes.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/signals.h"
#include "tools/agentify/command.h"
#include "tools/agentify/daemon_lock.h"
#include "tools/agentify/duration.h"
#include "tools/agentify/family.h"
#include "tools/agentify/following.h"
#include "tools/agentify/notify_message.h"
#include "tools/agentify/options.h"
#include "tools/agentify/probe_kind.h"
#include "tools/agentify/stop_plan.h"

namespace values_test {

using namespace agentify;
using namespace std::chrono_literals;

// ---- the command line

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
  CHECK(options_of({"--version=1 gr\xc3\xbcn", "d"}).version == "1 gr\xc3\xbcn");
  CHECK(complaint({"--version=1\xff", "d"})
            .ends_with(": needs =TEXT, the daemon's version, of at most 128 bytes of UTF-8"));
  CHECK(complaint({"--version=1", "--version-command=v", "d"}) ==
        "--version-command: is of no use beside --version");
}

// ---- durations, signals, stop plans and other values

namespace {

StopPlan plan_of(std::string_view text) {
  auto parsed = parse_stop_plan(text);
  REQUIRE(std::holds_alternative<StopPlan>(parsed));
  return std::get<StopPlan>(parsed);
}

std::string complaint_of(std::string_view text) {
  auto parsed = parse_stop_plan(text);
  return std::holds_alternative<std::string>(parsed) ? std::get<std::string>(parsed) : "";
}

std::vector<std::pair<int, int>> times_of(const std::vector<StopMoment>& moments) {
  std::vector<std::pair<int, int>> times;
  for (const StopMoment& moment : moments)
    times.emplace_back(static_cast<int>(moment.at.count()), moment.signal);
  return times;
}

using Times = std::vector<std::pair<int, int>>;

}  // namespace

TEST_CASE("a signal has a name, with or without SIG, or a number") {
  CHECK(upgrader::parse_signal("QUIT") == SIGQUIT);
  CHECK(upgrader::parse_signal("SIGUSR2") == SIGUSR2);
  CHECK(upgrader::parse_signal("9") == SIGKILL);
  for (const char* wrong : {"", "SIG", "0", "32", "quit", "9x", "-1", "SIGNONE"})
    CHECK_FALSE(upgrader::parse_signal(wrong));
  CHECK(upgrader::signal_name(SIGTERM) == "SIGTERM");
  CHECK(upgrader::signal_name(40) == "signal 40");
}

TEST_CASE("a stop plan is signals with times, of which only the last may have none") {
  CHECK(plan_of("TERM") == StopPlan{{{SIGTERM, {}}}});
  CHECK(plan_of("QUIT:60s,TERM:10s") == StopPlan{{{SIGQUIT, 60s}, {SIGTERM, 10s}}});
  CHECK(plan_of("INT:1s,KILL").names(SIGKILL));
  CHECK_FALSE(plan_of("INT:1s").names(SIGKILL));
  CHECK(complaint_of("") == "\"\" names no signal, such as TERM or QUIT");
  CHECK(complaint_of("TERM,KILL") == "\"TERM\" needs a time, since another follows");
  CHECK(complaint_of("TERM:0") == "\"TERM:0\" needs a time behind its colon that is not 0");
  CHECK(complaint_of("TERM:") == "\"TERM:\" needs a time behind its colon that is not 0");
  CHECK(complaint_of("TERM:1s,") == "\"\" names no signal, such as TERM or QUIT");
  std::string many = "TERM:1s";
  for (int i = 0; i < 16; ++i)
    many += ",TERM:1s";
  CHECK(complaint_of(many) == "more than 16 signals");
}

TEST_CASE("a stop plan ends with SIGKILL, at its end or when the deadline is near") {
  const StopPlan plan = plan_of("QUIT:60s,TERM:10s");
  const Times whole = {{1000, SIGQUIT}, {61000, SIGTERM}, {71000, SIGKILL}};
  CHECK(times_of(schedule(plan, 1000ms, 90s)) == whole);
  CHECK(times_of(schedule(plan, 1000ms, std::nullopt)) == whole);
  const Times cut = {{1000, SIGQUIT}, {30000, SIGKILL}};
  CHECK(times_of(schedule(plan, 1000ms, 30s)) == cut);
  const Times late_second = {{0, SIGQUIT}, {60000, SIGTERM}, {64000, SIGKILL}};
  CHECK(times_of(schedule(plan, 0ms, 65s)) == late_second);
  const Times as_long_as_there_is_time = {{0, SIGTERM}, {89000, SIGKILL}};
  CHECK(times_of(schedule(default_stop_plan(), 0ms, 90s)) == as_long_as_there_is_time);
  const Times no_deadline = {{0, SIGTERM}, {90000, SIGKILL}};
  CHECK(times_of(schedule(default_stop_plan(), 0ms, std::nullopt)) == no_deadline);
  const Times no_time = {{5, SIGQUIT}, {6, SIGKILL}};
  CHECK(times_of(schedule(plan, 5ms, 1ms)) == no_time);
  CHECK(stop_margin(1s) == 200ms);
  CHECK(stop_margin(90s) == 1s);
}

TEST_CASE("a URL of HTTP is parsed") {
  for (const HttpUrl& known : {HttpUrl{"http://a", "a", false}, HttpUrl{"https://a/", "a", true},
                               HttpUrl{"http://127.0.0.1:8080/x?y=1", "127.0.0.1", false},
                               HttpUrl{"https://[::1]:81/", "::1", true},
                               HttpUrl{"http://[fe80::1%25lo]/", "fe80::1%lo", false}})
    CHECK(parse_http_url(known.text) == known);
  for (const char* wrong :
       {"", "ftp://a", "http://", "http:///x", "https:///x", "http://a:0", "http://a:x/",
        "http://a:70000", "http://[::1", "http://[]/", "http://a b/", "http://[::1]x/",
        "http://a/\r\n", "http://user@a/", "https://user:word@a/"})
    CHECK_FALSE(parse_http_url(wrong));
}

TEST_CASE("an address of TCP has a port, and may have a host") {
  CHECK(parse_tcp_address("80") == TcpAddress{"127.0.0.1", 80});
  CHECK(parse_tcp_address("db:5432") == TcpAddress{"db", 5432});
  CHECK(parse_tcp_address("[::1]:1") == TcpAddress{"::1", 1});
  for (const char* wrong : {"", "0", ":80", "a:", "65536", "::1:80", "80x", "[::1]80"})
    CHECK_FALSE(parse_tcp_address(wrong));
}

TEST_CASE("every kind of readiness and health is parsed, and any other is refused") {
  const auto ready = [](std::string_view text) {
    auto parsed = parse_ready_kind(text);
    REQUIRE(std::holds_alternative<ReadyKind>(parsed));
    return std::get<ReadyKind>(parsed);
  };
  CHECK(ready("started") == ReadyKind{ByStart{}});
  CHECK(ready("notify") == ReadyKind{ByNotify{}});
  CHECK(ready("fd:3") == ReadyKind{ByDescriptor{3}});
  CHECK(ready("after:2s") == ReadyKind{ByTime{2s}});
  CHECK(ready("tcp:80") == ReadyKind{ProbeKind{TcpProbe{{"127.0.0.1", 80}}}});
  CHECK(ready("unix:/a") == ReadyKind{ProbeKind{UnixProbe{"/a"}}});
  const ReadyKind by_http = ProbeKind{HttpProbe{{"http://a/", "a", false}}};
  CHECK(ready("http://a/") == by_http);
  CHECK(ready("http:http://a/") == by_http);
  const ReadyKind by_https = ProbeKind{HttpProbe{{"https://a/", "a", true}}};
  CHECK(ready("https://a/") == by_https);
  CHECK(ready("https:https://a/") == by_https);
  CHECK(ready("exec:true") == ReadyKind{ProbeKind{CommandProbe{"true"}}});
  CHECK(ready("file:/a") == ReadyKind{ProbeKind{FileProbe{"/a"}}});
  const std::vector<std::string> wrong = {
      "",       "never",   "fd:2",         "fd:x",           "fd:1024",
      "after:", "after:1", "tcp:",         "unix:",          "exec:",
      "file:",  "http:",   "http:ftp://a", "https:http://a", "unix:" + std::string(108, 'a')};
  for (const std::string& text : wrong)
    CHECK(std::holds_alternative<std::string>(parse_ready_kind(text)));
  CHECK(std::holds_alternative<ProbeKind>(parse_probe_kind("exec:true")));
  for (const char* text : {"started", "notify", "fd:3", "after:1s", "never"})
    CHECK(std::holds_alternative<std::string>(parse_probe_kind(text)));
}

TEST_CASE("a release is known by its path") {
  CHECK(release_name("/srv/nginx/v1/run") == "v1");
  CHECK(release_name("/srv/nginx/broken/run") == "broken");
  CHECK(release_name("/r/agent-v1.2.3") == "1.2.3");
  CHECK(release_name("/r/agent-v1.2.3-rc.1/run") == "1.2.3-rc.1");
  CHECK(release_name("/r/agent-v1.2.3/bin/agent") == "1.2.3");
  CHECK(release_name("/usr/lib/postgresql/15/bin/postgres") == "15");
  CHECK(release_name("/opt/d/2.0/d") == "2.0");
  for (const char* unknown : {"", "/", "run", "/run", "/usr/sbin/nginx", "/usr/local/bin/d",
                              "/opt/d/d", "/opt/my-values/d", "/srv/x-very/d"}) {
    CHECK(release_name(unknown).empty());
  }
  CHECK(fit_for_version(std::string(127, 'a') + "\u00e9") == std::string(127, 'a'));
}

TEST_CASE("a notification is parsed line by line") {
  CHECK(parse_notify_message("READY=1\nSTATUS=up\nMAINPID=42\n") ==
        NotifyMessage{.ready = true, .status = "up", .main_process = 42});
  CHECK(parse_notify_message("WATCHDOG=1").alive);
  CHECK(parse_notify_message("WATCHDOG=trigger").failed);
  CHECK(parse_notify_message("EXTEND_TIMEOUT_USEC=1500").extend == 2ms);
  CHECK(parse_notify_message("EXTEND_TIMEOUT_USEC=999999999999999999").extend == duration_max);
  CHECK(parse_notify_message("STATUS=a\nSTATUS=b").status == "b");
  for (const char* nothing :
       {"", "READY=0", "READY", "READY=1x", "MAINPID=0", "MAINPID=-4", "MAINPID=99999999999",
        "EXTEND_TIMEOUT_USEC=x", "WATCHDOG=2", "FDSTORE=1", "=1", "\n\n"}) {
    CHECK(parse_notify_message(nothing) == NotifyMessage{});
  }
}

TEST_CASE("a status is UTF-8 of at most 256 bytes") {
  CHECK(fit_for_status("gr\xc3\xbc\xc3\x9f") == "gr\xc3\xbc\xc3\x9f");
  CHECK(fit_for_status("a\xff\xc3z") == "a??z");
  CHECK(fit_for_status(std::string("a\0b", 3)) == "a?b");
  CHECK(fit_for_status("\xed\xa0\x80") == "???");
  CHECK(fit_for_status("\xf5\x80\x80\x80") == "????");
  CHECK(fit_for_status("\xe0\x80\x80") == "???");
  CHECK(fit_for_status("\xf0\x9f\x98\x80") == "\xf0\x9f\x98\x80");
  CHECK(fit_for_status(std::string(300, 'a')).size() == 256);
  CHECK(fit_for_status(std::string(255, 'a') + "\xc3\xbc") == std::string(255, 'a'));
  CHECK(fit_for_reason(std::string(2000, 'a')).size() == 1024);
}

TEST_CASE("a process is parsed from its line in /proc, whatever its name is") {
  const std::string rest = " 7 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0";
  CHECK(parse_process("42 (sleep) S" + rest) == Process{42, 7, 4711, false});
  CHECK(parse_process("42 (a) Z 9 (b) Z" + rest) == Process{42, 7, 4711, true});
  CHECK(parse_process("42 (a) Z 7 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 2 0 4711 0 0") ==
        Process{42, 7, 4711, false});
  CHECK(parse_process("42 (a) R" + rest) == Process{42, 7, 4711, false, true});
  CHECK(parse_process("42 (a) D" + rest) == Process{42, 7, 4711, false, true});
  CHECK_FALSE(parse_process(""));
  CHECK_FALSE(parse_process("42 (sleep"));
  CHECK_FALSE(parse_process("42 (sleep)"));
  CHECK_FALSE(parse_process("x (sleep) S" + rest));
  CHECK_FALSE(parse_process("42 (sleep) S 7 1 1"));
}

TEST_CASE("descendants are found through all generations, and the oldest orphan is the heir") {
  const std::vector<Process> all = {{5, 4, 50, false}, {2, 1, 10, false}, {3, 2, 20, false},
                                    {4, 3, 30, true},  {9, 1, 5, false},  {6, 2, 15, false},
                                    {7, 2, 12, true}};
  std::vector<pid_t> found;
  for (const Process& process : descendants(all, 2))
    found.push_back(process.pid);
  CHECK(found == std::vector<pid_t>{3, 6, 7, 4, 5});
  CHECK(heir(all, 2) == 6);
  CHECK(heir(all, 3) == 0);
  CHECK(heir({{9, 2, 5, false}, {8, 2, 5, false}}, 2) == 8);
  CHECK(descendants({{1, 1, 0, false}, {2, 3, 0, false}, {3, 2, 0, false}}, 2).size() == 1);
}

TEST_CASE("an orphan that is born while the processes are listed is found in the next list") {
  // Process 6 forks, and exits before its state is read, so the first list lacks its child 7. The
  // second list lacks the child of 7 for the same reason.
  std::vector<std::vector<Process>> lists = {
      {{6, 2, 15, true}},
      {{6, 2, 15, true}, {7, 2, 16, true}},
      {{6, 2, 15, true}, {7, 2, 16, true}, {8, 2, 17, false}, {9, 2, 18, false}},
  };
  std::size_t listed = 0;
  CHECK(find_heir(2, [&] { return lists.at(listed++); }) == 8);
  CHECK(listed == 3);
}

TEST_CASE("if two lists show the same ended children, and no other child, there is no heir") {
  std::vector<std::vector<Process>> lists = {
      {{6, 2, 15, true}, {9, 3, 1, false}},
      {{6, 2, 15, true}, {10, 3, 1, false}},
  };
  std::size_t listed = 0;
  CHECK(find_heir(2, [&] { return lists.at(listed++); }) == 0);
  CHECK(listed == 2);
  // If a daemon's processes fork and exit without end, the search must still end.
  pid_t newest = 100;
  CHECK(find_heir(2, [&] { return std::vector<Process>{{++newest, 2, 1, true}}; }) == 0);
}

TEST_CASE("a process descends from the keeper even if its parent exits while it is looked for") {
  std::map<pid_t, std::vector<Process>> looks = {
      {9, {{9, 8, 30}, {9, 2, 30}}},  // first look: the parent is 8; second look: 8 has exited
      {8, {}},
      {7, {{7, 1, 20}}},
      {6, {}},
  };
  const auto look = [&looks](pid_t pid) -> std::optional<Process> {
    std::vector<Process>& all = looks.at(pid);
    if (all.empty()) return std::nullopt;
    const Process first = all.front();
    all.erase(all.begin());
    return first;
  };
  CHECK(descends_from(9, 2, look));
  CHECK(descends_from(2, 2, look));
  CHECK_FALSE(descends_from(6, 2, look));
  looks[1] = {{1, 0, 1}};
  CHECK_FALSE(descends_from(7, 2, look));
  // The parent of process 9 seems to exit at every look. The search must end nevertheless.
  const auto flicker = [](pid_t pid) -> std::optional<Process> {
    return pid == 9 ? std::optional(Process{9, 8, 30}) : std::nullopt;
  };
  CHECK_FALSE(descends_from(9, 2, flicker));
  // If /proc hides a parent from this user (hidepid), the search looks at the parent twice, and
  // then gives up.
  int looked = 0;
  const auto hidden = [&](pid_t pid) {
    ++looked;
    return flicker(pid);
  };
  CHECK_FALSE(descends_from(9, 2, hidden));
  CHECK(looked == 4);
}

TEST_CASE("processes that cannot be killed are looked at ever less often, up to once in a second") {
  CHECK(Sweep().interval_ms() == 10);
  CHECK(next_sweep_interval(10, false) == 20);
  CHECK(next_sweep_interval(640, false) == 1000);
  CHECK(next_sweep_interval(1000, false) == 1000);
  CHECK(next_sweep_interval(1000, true) == 10);
}

TEST_CASE("the last lines that are not empty are kept") {
  LastLines lines;
  CHECK(lines.last().empty());
  CHECK(lines.joined().empty());
  lines.add("one\ntw");
  CHECK(lines.last() == "tw");
  lines.add("o\n\n");
  CHECK(lines.last() == "two");
  CHECK(lines.joined() == "one; two");
  lines.add("three\nfo");
  CHECK(lines.joined() == "two; three; fo");
  lines.add("ur\n");
  CHECK(lines.joined() == "two; three; four");
  lines.add(std::string(5000, 'x'));
  CHECK(lines.last().size() == last_line_bytes_max);
  CHECK(lines.joined() == lines.last());
}

TEST_CASE("earlier lines that are too long to be reported together are left out") {
  LastLines lines;
  lines.add(std::string(900, 'x') + "\ncause\ntest failed\n");

  CHECK(lines.joined() == std::string(900, 'x') + "; cause; test failed");
  lines.add(std::string(60, 'y') + "\n");
  CHECK(lines.joined() == "cause; test failed; " + std::string(60, 'y'));
  lines.add(std::string(950, 'z'));
  CHECK(lines.joined() == std::string(950, 'z'));
}

TEST_CASE("the running release is found by the program's path, otherwise by its version") {
  using agent_releases::Version;
  const Version one = *Version::parse("1.0.0");
  const Version two = *Version::parse("2.0.0");
  const std::vector<agent_releases::Release> releases = {
      {.version = one, .path = "/r/d-v1.0.0"},
      {.version = two, .path = "/r/d-v2.0.0", .is_directory = true}};

  CHECK(running_version(releases, "/r/d-v1.0.0", "9.9.9") == one);
  CHECK(running_version(releases, "/r/d-v2.0.0/bin/d", "") == two);
  CHECK(running_version(releases, "/r/d-v2.0.0x", "1.2.3") == Version::parse("1.2.3"));
  CHECK_FALSE(running_version(releases, "/usr/bin/d", ""));
  CHECK_FALSE(running_version(releases, "/usr/bin/d", "nginx/1.2"));
}

TEST_CASE(
    "in a directory of all users the lock's place is found again, whatever others make there") {
  char base[] = "/tmp/agentify.lock.XXXXXX";
  REQUIRE(::mkdtemp(base) != nullptr);
  const std::string prefix = std::string(base) + "/agentify-" + std::to_string(::geteuid()) + ".";
  ::mkdir((prefix + "000").c_str(), 0755);  // a directory that other users can open
  REQUIRE(::symlink("/", (prefix + "001").c_str()) == 0);

  const auto found = find_in_shared(base);
  REQUIRE(std::holds_alternative<std::string>(found));
  const std::string path = std::get<std::string>(found);
  CHECK(path.starts_with(prefix));
  CHECK(path.size() == prefix.size() + 6);
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
  const auto again = find_in_shared(base);
  CHECK(std::get<std::string>(again) == path);

  std::filesystem::remove_all(base);
  CHECK(std::holds_alternative<NoDirectory>(find_in_shared(base)));
}

}  // namespace values_test
