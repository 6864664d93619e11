// Tests the pure values of agentify: durations, signals, stop plans, URLs, notifications of a
// daemon, and descent of processes.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "base/signals.h"
#include "tools/agentify/command.h"
#include "tools/agentify/daemon_lock.h"
#include "tools/agentify/duration.h"
#include "tools/agentify/family.h"
#include "tools/agentify/following.h"
#include "tools/agentify/notify_message.h"
#include "tools/agentify/probe_kind.h"
#include "tools/agentify/stop_plan.h"

namespace values_test {

using namespace agentify;
using namespace std::chrono_literals;

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
  const auto url = [](const char* text, const char* host, std::uint16_t port, bool tls) {
    return HttpUrl{.text = text, .host = host, .port = port, .tls = tls};
  };
  for (const HttpUrl& known : {url("http://a", "a", 80, false), url("https://a/", "a", 443, true),
                               url("http://127.0.0.1:8080/x?y=1", "127.0.0.1", 8080, false),
                               url("https://[::1]:81/", "::1", 81, true),
                               url("http://[fe80::1%25lo]/", "fe80::1%lo", 80, false)})
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
  const ReadyKind by_http = ProbeKind{HttpProbe{{"http://a/", "a", 80, false}}};
  CHECK(ready("http://a/") == by_http);
  CHECK(ready("http:http://a/") == by_http);
  const ReadyKind by_https = ProbeKind{HttpProbe{{"https://a/", "a", 443, true}}};
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

TEST_CASE("the last line that is not empty is kept") {
  LastLine line;
  CHECK(line.text().empty());
  line.add("one\ntw");
  CHECK(line.text() == "tw");
  line.add("o\n\n");
  CHECK(line.text() == "two");
  line.add(std::string(5000, 'x'));
  CHECK(line.text().size() == last_line_bytes_max);
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
