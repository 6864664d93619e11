// What an archive may name, what is pruned, and what a crash has left: decisions on names alone.
#include <catch2/catch.hpp>

#include "node/releases/core/manifest.h"
#include "node/releases/core/member.h"
#include "node/releases/core/pruning.h"
#include "node/releases/core/recovery.h"
#include "node/releases/shell/tree.h"

using namespace agent_releases;

TEST_CASE("a name in an archive leads below its directory, or is refused") {
  const auto path = [](std::string_view text) {
    const auto components = member_path(text);
    std::string joined;
    if (!components) return components.reason();
    for (const std::string& component : components.value())
      joined += "[" + component + "]";
    return joined;
  };

  CHECK(path("./bin/agent") == "[bin][agent]");
  CHECK(path("a//b/./c/") == "[a][b][c]");
  CHECK(path("./").empty());
  CHECK(path("...") == "[...]");
  CHECK(path("a/..b") == "[a][..b]");
  CHECK(path("") == "is empty");
  CHECK(path("/etc/passwd") == "is absolute");
  CHECK(path("..") == "leads out of its directory by `..`");
  CHECK(path("a/../b") == "leads out of its directory by `..`");
  CHECK(path("a/..") == "leads out of its directory by `..`");
  CHECK(path("a\nb") == "is not UTF-8, or has control characters");
  CHECK(path(std::string_view("a\0b", 3)) == "is not UTF-8, or has control characters");
  CHECK(path("\xFF") == "is not UTF-8, or has control characters");
  CHECK(path("\xC3\xA9") == "[\xC3\xA9]");
  CHECK(path(std::string(256, 'a')) == "is too long");
  std::string deep;
  for (std::size_t i = 0; i <= member_depth_max; ++i)
    deep += "a/";
  CHECK(path(deep) == "is too deep");
}

TEST_CASE("a link's target stays below the archive's directory, also by way of other links") {
  const auto target = [](std::string_view text, std::size_t depth) {
    const Outcome sound = check_link_target(text, depth);
    return sound ? std::string("good") : sound.reason();
  };

  CHECK(target("agent", 0) == "good");
  CHECK(target("../lib/x", 1) == "good");
  CHECK(target("../../x", 2) == "good");
  CHECK(target("./../x", 1) == "good");
  CHECK(target("../x", 0) == "leads out of its directory");
  CHECK(target("../../x", 1) == "leads out of its directory");
  CHECK(target("a/../b", 1) == "has a `..` behind a name");
  CHECK(target("..", 0) == "leads out of its directory");
  CHECK(target("/bin/sh", 3) == "is absolute");
  CHECK(target("", 0) == "is empty");
}

TEST_CASE("a bomb's bytes are bounded by those of the archive") {
  CHECK(unpacked_bytes_max(1) > 64'000'000);
  CHECK(unpacked_bytes_max(release_bytes_max) > 0);
}

TEST_CASE("nothing that is needed is pruned, nor any of the newest, nor what is young") {
  const auto pruned = [](std::size_t keep, std::optional<Moment> before) {
    std::vector<Holding> holdings{{*Version::parse("1.10.0"), 50, std::nullopt},
                                  {*Version::parse("1.2.0"), 10, "it is desired"},
                                  {*Version::parse("1.9.0"), 40, std::nullopt},
                                  {*Version::parse("1.1.0"), 60, std::nullopt},
                                  {*Version::parse("1.0.0"), 5, std::nullopt}};
    std::string names;
    for (const Version& version : choose_to_prune(holdings, {keep, before}))
      names += version.text() + " ";
    return names;
  };

  CHECK(pruned(1, std::nullopt) == "1.0.0 1.1.0 1.9.0 ");
  CHECK(pruned(2, std::nullopt) == "1.0.0 1.1.0 ");
  CHECK(pruned(1, 50) == "1.0.0 1.9.0 ");
  CHECK(pruned(5, std::nullopt).empty());
  CHECK(pruned(99, std::nullopt).empty());
}

// Every directory that has some of the files of two releases.
TEST_CASE("what stands beside no release is an orphan, whatever else is there") {
  const std::vector<std::string> files{"a-v1.0.0",       "a-v1.0.0.json", "a-v1.0.0.json.minisig",
                                       "a-v1.0.0.files", "a-v2.0.0",      "a-v2.0.0.json",
                                       "b-v1.0.0.json",  "desired",       "ledger.jsonl"};
  for (unsigned there = 0; there < 512; ++there) {
    std::vector<std::string> entries;
    std::vector<std::string> expected;
    for (unsigned i = 0; i < files.size(); ++i) {
      if ((there >> i & 1U) == 0) continue;
      entries.push_back(files[i]);
      const bool first = i >= 1 && i <= 3 && (there & 1U) == 0;
      const bool second = i == 5 && (there & 16U) == 0;
      if (first || second) expected.push_back(files[i]);
    }
    INFO(there);
    CHECK(orphans(entries, "a") == expected);
  }
}

TEST_CASE("of .staging only what was fetched in part may stay") {
  using Names = std::vector<std::string>;
  const Names there{"aa.part", "bb.part", "a-v1.0.0", "name"};

  CHECK(leavings(there, "") == Names{"a-v1.0.0", "name"});
  CHECK(leavings(there, "aa.part") == Names{"bb.part", "a-v1.0.0", "name"});
  CHECK(leavings(there, no_partial) == there);
}

TEST_CASE("a list of files that is written is the one that is read, and no other text is one") {
  const std::string hash(64, 'b');
  const std::string text =
      "0755 - bin\n0555 " + hash + " bin/a b\n0444 " + hash + " x\nlink " + hash + " y\n";

  const auto list = parse_list(text);

  REQUIRE(list);
  std::string again;
  for (const Listed& listed : list.value())
    again += to_line(listed);
  CHECK(again == text);
  for (const char* bad : {"0755 - \n", "0777 - x\n", "0555 abc x\n", "0555 x\n", "x\n",
                          "0555 "
                          "- x\n",
                          "link - x\n", "0755 - ../x\n", "0755 - /x\n"}) {
    INFO(bad);
    CHECK_FALSE(parse_list(bad));
  }
}
