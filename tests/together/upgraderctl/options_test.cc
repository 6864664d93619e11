// Tests upgraderctl's command line: which control directory it names, and which request it makes to
// the upgrader.
#include "tools/upgraderctl/core/options.h"

#include <catch2/catch.hpp>
#include <cerrno>

#include "tests/together/upgraderctl/talk.h"
#include "tools/upgraderctl/core/errand.h"

namespace options_test {

using namespace upgraderctl;

namespace {

using Words = std::vector<std::string>;

Options parsed(const Words& words) {
  const CommandLine line = parse_command_line(words);
  if (const auto* error = std::get_if<UsageError>(&line)) FAIL(error->text);
  REQUIRE(std::holds_alternative<Options>(line));
  return std::get<Options>(line);
}

std::string error_of(const Words& words) {
  const CommandLine line = parse_command_line(words);
  REQUIRE(std::holds_alternative<UsageError>(line));
  return std::get<UsageError>(line).text;
}

Seen seen_before(const Status& status, const std::optional<Status>& previous = std::nullopt) {
  Seen seen;
  seen.status = status;
  seen.previous = previous;
  seen.command = "upgraderctl app";
  return seen;
}

Errand errand_from(const Words& words, const Status& status = at_rest()) {
  auto errand = errand_of(parsed(words), seen_before(status), "ctl-1");
  if (const auto* none = std::get_if<NoErrand>(&errand)) FAIL(none->text);
  return std::get<Errand>(errand);
}

Finish no_errand_from(const Words& words, const Status& status = at_rest(),
                      const std::optional<Status>& previous = std::nullopt) {
  const auto errand = errand_of(parsed(words), seen_before(status, previous), "ctl-1");
  REQUIRE(std::holds_alternative<NoErrand>(errand));
  return std::get<NoErrand>(errand);
}

}  // namespace

TEST_CASE("a NAME stands before the command, and --dir before or behind it") {
  CHECK_FALSE(parsed({"status"}).name);
  CHECK(parsed({"app", "status", "--json"}).name == "app");
  CHECK(parsed({"--dir=/run/x", "status"}).directory == "/run/x");
  CHECK(parsed({"status", "--dir=/run/x"}).directory == "/run/x");
  CHECK(parsed({"--dir", "status", "status"}).directory == "status");
}

TEST_CASE("the words after the options of an upgrade are EXECUTABLE and its unchanged arguments") {
  const Options options =
      parsed({"upgrade", "--trial=60s", "--gate=confirm", "/opt/a", "--trial=x", "--", "-v", ""});

  CHECK(options.executable == "/opt/a");
  CHECK(options.args == Words{"--trial=x", "--", "-v", ""});
  CHECK(options.terms.trial_ms == 60'000);
  CHECK(options.terms.gate == "confirm");
  CHECK(parsed({"rehearse", "--", "-odd", "x"}).executable == "-odd");
  CHECK_FALSE(parsed({"upgrade"}).executable);
}

TEST_CASE("usage errors say what is wrong") {
  CHECK(error_of({}) == "COMMAND is missing; --help names them all");
  CHECK(error_of({"stauts"}) ==
        "stauts: no such command; or, if it is a NAME, COMMAND is missing; --help names all "
        "commands");
  CHECK(error_of({"app", "stauts"}) == "stauts: no such command; --help names all commands");
  CHECK(error_of({"app", "--dir", "/x", "stauts", "--json"}).find("stauts: no such command") == 0);
  CHECK(error_of({"upgrade", "--trail=60s", "/opt/a"}).find("--trail=60s") != std::string::npos);
  CHECK(error_of({"upgrade", "--trial=1d"}) ==
        "--trial: needs =D, where D is a whole number and ms, s, m or h, at most 24h; or 0; not "
        "=1d");
  CHECK(error_of({"upgrade", "--mode=both"}) == "--mode: needs =parallel|sequential, not =both");
  CHECK(error_of({"upgrade", "--stop-timeout=0"}) == "--stop-timeout: must not be 0");
  CHECK(error_of({"upgrade", "--trial=1s", "--trial=2s"}) == "--trial: given twice");
  CHECK(error_of({"status", "--json", "--json"}) == "--json: given twice");
  CHECK(error_of({"upgrade", "--id=", "u1"}) == "--id: its value is empty");
  CHECK(error_of({"--dir=", "status"}) == "--dir: its value is empty");
  CHECK(error_of({"wait", "--timeout"}) == "--timeout: its value is missing");
  CHECK(error_of({"upgrade", ""}) == "EXECUTABLE is empty");
  CHECK(error_of({"upgrade", "--gate=confirm", "--mode=sequential"}).find("--gate=confirm") == 0);
  CHECK(error_of({"upgrade", "--commit=healthy", "--trial=0"}).find("--commit=healthy") == 0);
  CHECK(error_of({"upgrade", "--previous", "/opt/a"}).find("--previous") == 0);
  CHECK(error_of({"upgrade", "--no-args"}).find("--no-args") == 0);
  CHECK(error_of({"a/b", "status"}).find("a/b: a NAME has no slash") == 0);
  CHECK(error_of({"app", "--dir=/x", "status"}).find("--dir=/x and app") == 0);
  CHECK(error_of({"app", "list"}).find("list: ") == 0);
  CHECK(error_of({"wait", "--for=ever"}).find("--for: needs =starting|running|") == 0);
  CHECK(error_of({"on", "ready", "--exec=true"}) ==
        "EVENT: needs good, commit or fallback, not ready");
  CHECK(error_of({"confirm", "u1", "u2"}) ==
        "confirm: the following argument was not expected: u2; see upgraderctl confirm --help");
  CHECK(error_of({"app", "status", "--frob", "foo"}) ==
        "status: the following arguments were not expected: foo --frob; see upgraderctl status "
        "--help");
}

TEST_CASE("the help of a command has NAME and EXECUTABLE where the command accepts them") {
  const auto help = [](const std::string& command) {
    return std::get<HelpWanted>(parse_command_line({command, "--help"})).text;
  };
  const std::string before = "Usage: upgraderctl [--dir=DIR | NAME] ";

  CHECK(help("status").find(before + "status [OPTIONS]\n") != std::string::npos);
  CHECK(help("list").find("Usage: upgraderctl list [OPTIONS]\n") != std::string::npos);
  CHECK(help("list").find("NAME") == std::string::npos);
  for (const std::string command : {"upgrade", "rehearse"}) {
    const std::string usage = before + command + " [OPTIONS] [EXECUTABLE [ARG ...]]\n";
    CHECK(help(command).find(usage) != std::string::npos);
  }
}

TEST_CASE("an empty reason counts as absent, and the ID after it is still read") {
  CHECK(parsed({"cancel", "--reason=", "u1"}).id == "u1");
  CHECK_FALSE(parsed({"rollback", "--reason=", "u1"}).reason);
  CHECK(parsed({"cancel", "--reason", "why", "u1"}).reason == "why");
}

TEST_CASE("help and version are asked for anywhere before EXECUTABLE") {
  CHECK(std::holds_alternative<HelpWanted>(parse_command_line({"--help"})));
  CHECK(std::holds_alternative<HelpWanted>(parse_command_line({"app", "upgrade", "-h"})));
  CHECK(std::holds_alternative<VersionWanted>(parse_command_line({"--version"})));
  CHECK(parsed({"upgrade", "/opt/a", "--help"}).args == Words{"--help"});
}

TEST_CASE("the only upgrader there is needs no name") {
  const Options options = parsed({"status"});
  CHECK(std::get<Place>(choose_place(options, {{"/run/upgrader", {"app"}}})).path ==
        "/run/upgrader/app");
  CHECK(std::get<NoPlace>(choose_place(options, {{"/run/upgrader"}})).text ==
        "there is no upgrader below /run/upgrader; is --dir missing?");
  CHECK(std::get<NoPlace>(choose_place(options, {{"/run/upgrader", {"app", "b\x1b"}}})).text ==
        "there are 2 upgraders; give a NAME: app b\\x1b");
}

TEST_CASE("a named one is taken as it is called, with the words that lead there") {
  const auto by_name = choose_place(parsed({"it's", "status"}), {{"/base", {"app", "it's"}}});
  CHECK(std::get<Place>(by_name).path == "/base/it's");
  CHECK(std::get<Place>(by_name).words == "upgraderctl 'it'\\''s'");
  const auto by_path = choose_place(parsed({"--dir=/run/x", "status"}), {{"/base", {"app"}}});
  CHECK(std::get<Place>(by_path).path == "/run/x");
  CHECK(std::get<Place>(by_path).words == "upgraderctl --dir=/run/x");
}

TEST_CASE("a name that no upgrader has is refused, with the names that there are") {
  const std::vector<Base> bases = {{"/run/upgrader", {"app", "log"}}, {"/u"}};
  CHECK(std::get<NoPlace>(choose_place(parsed({"absent", "status"}), bases)).text ==
        "there is no upgrader absent below /run/upgrader and /u; there is: app log");
  CHECK(std::get<Place>(choose_place(parsed({"absent", "status"}), {{"/u"}})).path == "/u/absent");
  // upgraderctl finds no names in /run/upgrader: the directory is empty, or the caller may not list
  // it. An upgrader `absent` may exist there, so the name is not refused.
  const std::vector<Base> unlisted = {{"/run/upgrader"}, {"/u", {"mine"}}};
  CHECK(std::get<Place>(choose_place(parsed({"absent", "status"}), unlisted)).path ==
        "/run/upgrader/absent");
}

TEST_CASE("upgraders of the caller's own are found beside those of the machine") {
  const std::vector<Base> bases = {{"/run/upgrader", {"app", "both"}}, {"/u", {"both", "mine"}}};
  const auto path_of = [&](std::vector<std::string> words) {
    return std::get<Place>(choose_place(parsed(std::move(words)), bases)).path;
  };
  CHECK(path_of({"app", "status"}) == "/run/upgrader/app");
  CHECK(path_of({"mine", "status"}) == "/u/mine");
  CHECK(path_of({"absent", "wait", "--for=running"}) == "/run/upgrader/absent");
  CHECK(std::get<NoPlace>(choose_place(parsed({"both", "status"}), bases)).text ==
        "there are 2 upgraders of this name; give one of: --dir=/run/upgrader/both "
        "--dir=/u/both");
  CHECK(std::get<NoPlace>(choose_place(parsed({"status"}), {{"/a"}, {"/b"}})).text ==
        "there is no upgrader below /a and /b; is --dir missing?");
}

TEST_CASE("an upgrade is asked for by one name and one id") {
  const Errand errand = errand_from({"upgrade", "--trial=5s"});

  CHECK(errand.goal == Errand::Goal::ending);
  CHECK(errand.line == R"({"type":"upgrade","request":"ctl-1","id":"ctl-1","trial_ms":5000})"
                       "\n");
  CHECK(errand.asks_upgrade);
  CHECK(errand.tells == "upgraderctl app history");
  CHECK(errand_from({"upgrade", "--no-wait"}).goal == Errand::Goal::answer);
  CHECK(errand_from({"upgrade", "--id=u7"}).line ==
        R"({"type":"upgrade","request":"ctl-1","id":"u7"})"
        "\n");
}

TEST_CASE("a rehearsal has a gate that opens for nobody, and its cancel ready") {
  const Errand errand = errand_from({"rehearse"});

  CHECK(errand.goal == Errand::Goal::rehearsal);
  CHECK(errand.line.find(R"("mode":"parallel","gate":"confirm","confirm_timeout_ms":60000)") !=
        std::string::npos);
  CHECK(errand.cancel_line ==
        R"({"type":"cancel","request":"ctl-1-cancel","id":"ctl-1","reason":"rehearsed"})"
        "\n");
}

TEST_CASE(
    "without an ID the upgrade under way is meant, and if there is none, upgraderctl says so") {
  Status status = at_rest();
  CHECK(no_errand_from({"confirm"}, status).status == exit_refused);
  CHECK(no_errand_from({"wait"}, status).status == exit_done);

  status.upgrade = upgrade_called("u1");

  CHECK(errand_from({"confirm"}, status).line == R"({"type":"confirm","request":"ctl-1","id":"u1"})"
                                                 "\n");
  CHECK(errand_from({"cancel", "--reason=no"}, status).line ==
        R"({"type":"cancel","request":"ctl-1","id":"u1","reason":"no"})"
        "\n");
  CHECK(errand_from({"commit", "u9"}, status).line ==
        R"({"type":"commit","request":"ctl-1","id":"u9"})"
        "\n");
  CHECK(errand_from({"rollback"}, status).line ==
        R"({"type":"rollback","request":"ctl-1","id":"u1"})"
        "\n");
  CHECK(errand_from({"wait"}, status).line.empty());
  CHECK(errand_from({"wait"}, status).id == "u1");
  CHECK(errand_from({"shutdown"}, status).goal == Errand::Goal::shutdown);
}

TEST_CASE("an id that ended in the life before is not begun again") {
  Status previous = at_rest();
  previous.endings = {ending_of("u7", "fell_back", "trial", "exited")};

  const Finish finish = no_errand_from({"upgrade", "--id=u7"}, at_rest(), previous);

  CHECK(finish.status == exit_fell_back);
  CHECK(finish.text ==
        "upgrade u7 ended earlier in the upgrader's previous life, on 2026-11-22 08:00:42 UTC, "
        "and is not begun again: fell back, having failed on trial: exited; version 1.0 is active "
        "again (candidate ready after 412 ms)");
}

TEST_CASE("an upgrade that ended earlier is reported with its time, as it ended") {
  const auto [outcome, exit_status] =
      GENERATE(table<std::string, int>({{"committed", exit_done},
                                        {"kept", exit_kept},
                                        {"fell_back", exit_fell_back},
                                        {"ended", exit_ended}}));
  Status status = at_rest();
  status.endings = {ending_of("u7", outcome, "trial", "exited")};

  const Finish finish = no_errand_from({"upgrade", "--id=u7"}, status);

  CHECK(finish.status == exit_status);
  CHECK(finish.text.starts_with(
      "upgrade u7 ended earlier, on 2026-11-22 08:00:42 UTC, and is not begun again: "));
  CHECK(errand_from({"upgrade", "--id=u8"}, status).id == "u8");
}

TEST_CASE("an id that another executable was asked for under is refused, and nothing is sent") {
  Status status = at_rest();
  Options options = parsed({"upgrade", "--id=u7", "/opt/agent/current"});
  const auto refused = [&](const std::optional<Status>& previous = std::nullopt) {
    const auto errand = errand_of(options, seen_before(status, previous), "ctl-1");
    const auto* none = std::get_if<NoErrand>(&errand);
    return none != nullptr && none->status == exit_refused &&
           none->text.find("belongs to an upgrade to ") != std::string::npos;
  };
  options.resolved = "/opt/agent/1.2";
  CHECK_FALSE(refused());  // not refused: no upgrade has the id u7 yet

  SECTION("that has ended, to 1.1") {
    status.endings = {ending_of("u7", "kept", "start", "exited")};
    CHECK(refused());
    options.resolved = "/opt/agent/1.1";  // the link points to the program of upgrade u7
    CHECK_FALSE(refused());
    options.resolved.reset();  // upgraderctl could not resolve the link
    CHECK_FALSE(refused());
    options.resolved = "/opt/agent/1.2";
    status.endings[0].to.executable = "/opt/agent/current";
    CHECK_FALSE(refused());
    status.endings[0].to.executable = "/opt/\xEF\xBF\xBD";
    CHECK_FALSE(refused());
    status.endings[0].to.executable = "";
    CHECK_FALSE(refused());
  }
  SECTION("that ended in the life before") {
    Status previous = at_rest();
    previous.endings = {ending_of("u7", "committed")};
    CHECK(refused(previous));
  }
  SECTION("that is under way") {
    status.upgrade = upgrade_called("u7");
    CHECK_FALSE(refused());  // not refused: a sequential upgrade has not started its candidate yet
    status.candidate = status.active;
    status.candidate->executable = "/opt/agent/1.1";
    status.candidate->role = "fallback";
    CHECK_FALSE(refused());
    status.candidate->role = "candidate";
    CHECK(refused());
    status.candidate->executable = "/opt/agent/1.2";
    CHECK_FALSE(refused());
  }
  SECTION("that is on trial") {
    status.upgrade = upgrade_called("u7");
    status.phase = "trial";
    CHECK(refused());
    status.active->executable = "/opt/agent/1.2";
    CHECK_FALSE(refused());
    status.active.reset();
    CHECK_FALSE(refused());
  }
}

TEST_CASE("a way back has another executable after its commit, and may be asked for again") {
  Status status = at_rest();
  status.endings = {ending_of("u7", "committed")};
  Options options = parsed({"upgrade", "--previous", "--id=u7"});
  options.executable = options.resolved = "/opt/agent/1.0";
  const auto errand = errand_of(options, seen_before(status), "ctl-1");
  REQUIRE(std::holds_alternative<NoErrand>(errand));
  CHECK(std::get<NoErrand>(errand).status == exit_done);
}

TEST_CASE("an id is not asked for where the life before cannot be read that may know it") {
  Seen seen = seen_before(at_rest());
  seen.previous_trouble = "previous.json is no status of an upgrader";
  const auto status_of = [&](const Words& words) {
    const auto errand = errand_of(parsed(words), seen, "ctl-1");
    const auto* none = std::get_if<NoErrand>(&errand);
    return none == nullptr ? -1 : none->status;
  };
  CHECK(status_of({"upgrade", "--id=u7"}) == exit_unknown);
  CHECK(status_of({"upgrade"}) == -1);
  seen.status.endings = {ending_of("u7", "committed")};
  CHECK(status_of({"upgrade", "--id=u7"}) == exit_done);
}

TEST_CASE("if the status may be old, upgraderctl does not say that no upgrade is under way") {
  Seen seen = seen_before(at_rest());
  seen.hearing = Hearing::full;
  for (const Words& words : {Words{"wait"}, Words{"cancel"}, Words{"commit"}}) {
    const auto errand = errand_of(parsed(words), seen, "ctl-1");
    CHECK(std::get<NoErrand>(errand).status == exit_unknown);
    CHECK(std::get<NoErrand>(errand).text.find(
              "is not known: the upgrader has its control directory on a disk") !=
          std::string::npos);
  }
  CHECK(std::holds_alternative<Errand>(errand_of(parsed({"cancel", "u1"}), seen, "ctl-1")));
}

TEST_CASE("an argument that is too long for a request is a usage error") {
  const Finish finish = no_errand_from({"upgrade", "/opt/a", std::string(5'000, 'x')});

  CHECK(finish.status == exit_usage);
  CHECK(finish.text.find("only 4096 fit") != std::string::npos);
}

TEST_CASE("a name of a request has the time of day, and chance") {
  CHECK(request_name(at(64), 0x00abcdef) == "ctl-080104-fedcba");
}

TEST_CASE("two errors say that a permission is missing") {
  CHECK(is_forbidden(EACCES));
  CHECK(is_forbidden(EPERM));
  CHECK_FALSE(is_forbidden(ENOENT));
  CHECK_FALSE(is_forbidden(0));
  CHECK(status_of_trouble(EACCES) == exit_refused);
  CHECK(status_of_trouble(ENOENT) == exit_absent);
}

}  // namespace options_test
