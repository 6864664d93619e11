// Tests how notify-watchdog parses its command line and notifications.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tools/notify-watchdog/notification.h"
#include "tools/notify-watchdog/options.h"

namespace words_test {

using namespace notify_watchdog;
using namespace std::chrono_literals;

namespace {

CommandLine parse(std::vector<const char*> words) {
  words.insert(words.begin(), "notify-watchdog");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

std::string complaint(std::vector<const char*> words) {
  const CommandLine line = parse(std::move(words));
  const auto* error = std::get_if<UsageError>(&line);
  return error == nullptr ? "" : error->reason;
}

}  // namespace

TEST_CASE("without options the device and the times are those of the page") {
  const auto options = std::get<Options>(parse({"upgrader", "--trial=1s", "agent"}));

  CHECK(options.device == "/dev/watchdog");
  CHECK(options.timeout == 60s);
  CHECK(options.start_timeout == 10min);
  CHECK(options.stop_timeout == 3min);
  CHECK(options.command == std::vector<std::string>{"upgrader", "--trial=1s", "agent"});
}

TEST_CASE("every option is taken, and -- ends them") {
  const auto options =
      std::get<Options>(parse({"--device=/dev/watchdog1", "--timeout=16s", "--start-timeout=0",
                               "--stop-timeout=5s", "--", "--odd", "-x"}));

  CHECK(options.device == "/dev/watchdog1");
  CHECK(options.timeout == 16s);
  CHECK(options.start_timeout == 0s);
  CHECK(options.stop_timeout == 5s);
  CHECK(options.command == std::vector<std::string>{"--odd", "-x"});
  CHECK(parse({"--help"}) == CommandLine{HelpWanted{}});
  CHECK(parse({"--timeout=1s", "-h"}) == CommandLine{HelpWanted{}});
  CHECK(parse({"--version"}) == CommandLine{VersionWanted{}});
}

TEST_CASE("a command line that is wrong is refused by the argument and what is allowed") {
  CHECK(complaint({}) == "PROGRAM is missing: notify-watchdog [options] PROGRAM [ARG ...]");
  CHECK(complaint({"--"}) == "PROGRAM is missing: notify-watchdog [options] PROGRAM [ARG ...]");
  CHECK(complaint({"--device", "a"}) == "--device: needs =FILE, where FILE is a watchdog device");
  CHECK(complaint({"--timeout=0", "a"}) == "--timeout=0: must not be 0");
  CHECK(complaint({"--stop-timeout=0", "a"}) == "--stop-timeout=0: must not be 0");
  CHECK(complaint({"--start-timeout=x", "a"}) ==
        "--start-timeout=x: needs =D, where D is a whole number and ms, s, m or h, at most 24h; "
        "or 0");
  CHECK(complaint({"--timeout=1s", "--timeout=2s", "a"}) == "--timeout=2s: is given twice");
  CHECK(complaint({"--wait=1s", "a"}) == "--wait=1s: no such option; --help names them all");
}

TEST_CASE("a notification is taken apart line by line") {
  CHECK(parse_notification("") == Notification{});
  CHECK(parse_notification("\n\nREADY=1") == Notification{.ready = true});
  CHECK(parse_notification("READY=1\nSTOPPING=1\nWATCHDOG=1\n") ==
        Notification{.ready = true, .stopping = true, .alive = true});
  CHECK(parse_notification("WATCHDOG=trigger") == Notification{.failed = true});
  CHECK(parse_notification("READY=0\nREADY=11\n READY=1\nready=1\nWATCHDOG_USEC=1") ==
        Notification{});
}

TEST_CASE("a time is rounded up to milliseconds and is at most a day") {
  const auto extend = [](std::string_view text) { return parse_notification(text).extend; };

  CHECK(extend("EXTEND_TIMEOUT_USEC=1") == 1ms);
  CHECK(extend("EXTEND_TIMEOUT_USEC=1500000\n") == 1500ms);
  CHECK(extend("EXTEND_TIMEOUT_USEC=18446744073709551615") == 24h);
  CHECK(extend("EXTEND_TIMEOUT_USEC=0") == std::nullopt);
  CHECK(extend("EXTEND_TIMEOUT_USEC=") == std::nullopt);
  CHECK(extend("EXTEND_TIMEOUT_USEC=1s") == std::nullopt);
  CHECK(extend("EXTEND_TIMEOUT_USEC=-1") == std::nullopt);
}

}  // namespace words_test
