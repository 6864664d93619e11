// Tests `fleet-agent join`, with which a machine joins a cell: in which order it asks the
// controllers, when it gives up, and which files it writes. The files are also tested after an
// interrupted join and with a full disk.
#include "fleet/agent/join_talk.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>

#include "base/directory.h"
#include "fleet/agent/join_place.h"
#include "fleet/common/public_key.h"
#include "fleet/common/text_file.h"
#include "fleet/model/records/record_text.h"
#include "tests/support/temporary_directory.h"

namespace agent_join_test {

namespace {

using namespace fleet;
using upgrader::Time;

// ---- requests of a joining machine to the controllers, and their answers

const JoinReply joined{.status = 200,
                       .body = write_record(JoinAnswer{.state = "joined", .certificate = "C"})};
const JoinReply waits{
    .status = 202, .body = write_record(JoinAnswer{.state = "waits", .words = "waits for anna"})};
const JoinReply gone{.error = "connection refused"};
const JoinReply other{.error = "another authority", .other_authority = true};

JoinEnd end_of(const JoinNext& next) {
  REQUIRE(std::holds_alternative<JoinEnd>(next));
  return std::get<JoinEnd>(next);
}

TEST_CASE("the first controller that answers with a certificate ends the talk") {
  JoinTalk talk(2, Time{1'000}, Time{0});
  CHECK(std::get<JoinAsk>(talk.next(Time{0})).controller == 0);
  CHECK(std::get<JoinAsk>(talk.take(gone, Time{1})).controller == 1);
  CHECK(std::get<JoinHave>(talk.take(joined, Time{2})).answer.certificate == "C");
}

TEST_CASE("pauses between rounds grow, and end when the patience is over") {
  JoinTalk talk(1, Time{1'000}, Time{0});
  CHECK(std::get<JoinPause>(talk.take(gone, Time{0})).time == Time{200});
  CHECK(std::get<JoinPause>(talk.take(gone, Time{200})).time == Time{400});
  CHECK(std::get<JoinPause>(talk.take(gone, Time{600})).time == Time{400});
  const JoinEnd end = end_of(talk.next(Time{1'000}));
  CHECK(end.status == join_unreachable);
  CHECK(end.words == "no controller can be asked: connection refused");
}

TEST_CASE("a machine that waits asks the same controller, and says once what it waits for") {
  JoinTalk talk(2, Time{500}, Time{0});
  CHECK(std::holds_alternative<JoinPause>(talk.take(waits, Time{0})));
  CHECK(talk.news() == "waits for anna");
  CHECK(std::get<JoinAsk>(talk.next(Time{200})).controller == 0);
  CHECK(std::holds_alternative<JoinPause>(talk.take(waits, Time{200})));
  CHECK(talk.news().empty());
  const JoinEnd end = end_of(talk.next(Time{500}));
  CHECK(end.status == join_waiting);
  CHECK(end.words == "waits for anna; then run the same command again");
}

TEST_CASE("a refusal ends the talk with its reason, and a busy controller does not") {
  JoinTalk talk(1, Time{500}, Time{0});
  CHECK(std::holds_alternative<JoinPause>(
      talk.take({.status = 429, .body = R"({"status":429,"reason":"many"})"}, Time{0})));
  CHECK(std::holds_alternative<JoinPause>(talk.take({.status = 503}, Time{0})));
  const JoinEnd end =
      end_of(talk.take({.status = 403, .body = R"({"status":403,"reason":"the token"})"}, Time{1}));
  CHECK(end.status == join_failed);
  CHECK(end.words == "refused: the token");
}

TEST_CASE("the reason of a refusal is read as JSON, and a body that is no JSON is not shown") {
  JoinTalk talk(1, Time{500}, Time{0});
  const auto words = [&talk](const std::string& body) {
    return end_of(talk.take({.status = 403, .body = body}, Time{1})).words;
  };
  CHECK(words(R"({"status":403,"reason":"for \"n*\"","more":"x"})") == R"(refused: for "n*")");
  CHECK(words("<html>\"reason\":\"none\"") == "refused: status 403");
}

TEST_CASE("a token that is not known yet is shown four times before it counts as refused") {
  JoinTalk talk(1, Time{9'000}, Time{0});
  const JoinReply unknown{.status = 401, .body = R"({"status":401,"reason":"not known"})"};
  for (int i = 0; i < 3; ++i)
    CHECK(std::holds_alternative<JoinPause>(talk.take(unknown, Time{i})));
  CHECK(end_of(talk.take(unknown, Time{4})).words == "refused: not known");
}

TEST_CASE("a controller of another authority is passed over, and alone it ends the talk") {
  JoinTalk two(2, Time{500}, Time{0});
  CHECK(std::get<JoinAsk>(two.take(other, Time{0})).controller == 1);
  CHECK(std::holds_alternative<JoinHave>(two.take(joined, Time{1})));
  JoinTalk one(1, Time{500}, Time{0});
  CHECK(end_of(one.take(other, Time{0})).status == join_failed);
}

TEST_CASE("an answer that cannot be read is not a certificate") {
  JoinTalk talk(1, Time{500}, Time{0});
  CHECK(std::holds_alternative<JoinPause>(talk.take({.status = 200, .body = "{"}, Time{0})));
}

// ---- the files of a machine

using Catch::Matchers::Contains;

struct Root : TemporaryDirectory {
  [[nodiscard]] std::string key(const std::string& name) const {
    return content_of_file(*this / ("etc/fleet/keys/" + name));
  }
};

const JoinAnswer answer{.certificate = "C", .release_keys = {{"a.pub", "A"}, {"b.pub", "B"}}};
const TokenText token{.store = {"https://192.0.2.1:2379"},
                      .release_keys = {digest_of("A"), digest_of("B")}};

TEST_CASE("a machine that was ended between two keys of releases writes the others later") {
  const Root root;
  JoinPlace place(root.path(), "n1");
  REQUIRE(place.open().empty());
  REQUIRE(replace_file(root.path() + "/etc/fleet/keys/a.pub", "A", 0644).empty());
  CHECK(place.settle(token, "CA", answer).empty());
  CHECK(root.key("b.pub") == "B");
}

TEST_CASE("a machine that has other keys of releases keeps them, and takes none") {
  const Root root;
  JoinPlace place(root.path(), "n1");
  REQUIRE(place.open().empty());
  const std::string name = GENERATE("a.pub", "own.pub");
  REQUIRE(replace_file(root.path() + "/etc/fleet/keys/" + name, "own", 0644).empty());
  CHECK(place.settle(token, "CA", answer).empty());
  CHECK(root.key(name) == "own");
  CHECK(root.key("b.pub").empty());
}

TEST_CASE("a machine that joins again keeps no certificate from before that is not valid yet") {
  const Root root;
  JoinPlace place(root.path(), "n1");
  REQUIRE(place.open().empty());
  const std::string next = root.path() + "/etc/fleet/node.pem.next";
  REQUIRE(replace_file(next, "revoked", 0644).empty());
  CHECK(place.settle(token, "CA", answer).empty());
  CHECK_FALSE(std::filesystem::exists(next));
}

TEST_CASE("a link to itself in the place of a file is named, and nothing is written behind it") {
  const Root root;
  JoinPlace place(root.path(), "n1");
  REQUIRE(place.open().empty());
  const std::string name = GENERATE("/etc/default/fleet-agent", "/etc/fleet/ca.pem");
  std::filesystem::create_symlink(root.path() + name, root.path() + name);
  CHECK(place.why_taken(token).empty());
  CHECK_FALSE(place.has_joined(0));
  CHECK(place.settle(token, "CA", answer) ==
        root.path() + name + ": Too many levels of symbolic links");
  CHECK(content_of_file(root.path() + "/etc/fleet/node.pem").empty());

  std::string trouble;
  const std::string key = root.path() + "/etc/fleet/node.key";
  std::filesystem::create_symlink(key, key);
  CHECK(place.key(trouble).empty());
  CHECK(trouble == key + " cannot be read");
}

TEST_CASE("a path that cannot be read as a file has no content") {
  const Root root;
  CHECK(content_of_file(root.path()).empty());
  CHECK(content_of_file(root.path() + "/none").empty());
  CHECK_FALSE(beginning_of_file(root.path(), 10));
  CHECK_FALSE(beginning_of_file(root.path() + "/none", 10));
  CHECK(replace_file(root.path() + "/file", std::string(100'000, 'x'), 0600).empty());
  CHECK(content_of_file(root.path() + "/file").size() == 100'000);
  CHECK(beginning_of_file(root.path() + "/file", 10).value().size() == 10);
  CHECK(beginning_of_file(root.path() + "/file", 1'000'000).value().size() == 100'000);
}

TEST_CASE("what lies at the temporary name of a file is removed, and neither followed nor kept") {
  const Root root;
  const std::string path = root.path() + "/file";
  const std::string temporary = root / upgrader::Directory::prepared_name("file");
  const std::string other = root.path() + "/other";
  REQUIRE(replace_file(other, "other", 0644).empty());
  SECTION("a link") {
    std::filesystem::create_symlink(other, temporary);
  }
  SECTION("a file that others may read") {
    REQUIRE(replace_file(temporary, "old", 0644).empty());
  }
  SECTION("a FIFO") {
    REQUIRE(::mkfifo(temporary.c_str(), 0600) == 0);
  }

  REQUIRE(replace_file(path, "new", 0600).empty());

  CHECK(content_of_file(path) == "new");
  CHECK(content_of_file(other) == "other");
  CHECK(std::filesystem::status(path).permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
}

TEST_CASE("a file that cannot be put in place leaves nothing behind") {
  const Root root;
  const std::string path = root.path() + "/file";
  REQUIRE(std::filesystem::create_directory(path));

  CHECK_FALSE(replace_file(path, "new", 0600).empty());

  CHECK_FALSE(std::filesystem::exists(root / upgrader::Directory::prepared_name("file")));
}

TEST_CASE("no other user may write to a file, whatever the umask is") {
  const Root root;
  const std::string path = root.path() + "/file";
  const mode_t before = ::umask(0);
  const std::string why = replace_file(path, "x");
  ::umask(before);

  REQUIRE(why.empty());
  const auto others = std::filesystem::perms::group_write | std::filesystem::perms::others_write;
  CHECK((std::filesystem::status(path).permissions() & others) == std::filesystem::perms::none);
}

TEST_CASE("a file that does not fit on the disk is not written, and the reason is the disk's") {
  const Root root;
  const std::string path = root.path() + "/file";
  REQUIRE(replace_file(path, "old", 0600).empty());
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit little = before;
  little.rlim_cur = 5;
  setrlimit(RLIMIT_FSIZE, &little);
  errno = 0;
  const std::string why = replace_file(path, "0123456789", 0600);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_DFL);
  CHECK_THAT(why, Contains("too large"));
  CHECK(content_of_file(path) == "old");
  CHECK_FALSE(std::filesystem::exists(root / upgrader::Directory::prepared_name("file")));
}

}  // namespace

}  // namespace agent_join_test
