// Tests decisions for which agent-releases needs only the names of files: which names an archive
// may contain, which releases are pruned, and which files a crash has left behind.
#include <catch2/catch.hpp>
#include <set>

#include "agent-releases/manifest.h"
#include "tools/agent-releases/core/choice.h"
#include "tools/agent-releases/core/member.h"
#include "tools/agent-releases/core/names.h"

namespace members_test {

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

TEST_CASE("a program's path is asked for only if a message can carry it") {
  CHECK(check_executable("/" + std::string(executable_bytes_max - 1, 'x')));
  CHECK(check_executable("/" + std::string(executable_bytes_max, 'x')).reason() ==
        "its path has more than 4,095 bytes");
  CHECK(check_executable("/\xC3\xA9"));
  CHECK(check_executable("/\xC3").reason() == "its path is not UTF-8");
}

TEST_CASE("a bomb's bytes are bounded by those of the archive") {
  CHECK(unpacked_bytes_max(1) > 64'000'000);
  CHECK(unpacked_bytes_max(release_bytes_max) > 0);
}

// Tests which of five releases are pruned, and compares the result with the rules of
// agent-releases(1). Tries all combinations of the following: each release is needed or not, each
// release is young or not, --keep has a value from 1 to 6, and --older is missing or has one of
// three values. The releases are not sorted by version.
// Requirements (tests/judging/rows): H-105
TEST_CASE("the right releases are pruned in every combination of needed and young ones") {
  const std::vector<std::string> versions{"1.10.0", "1.2.0", "2.0.0-rc.1", "1.1.0", "1.9.0"};
  // For each of the five versions, the number of newer versions.
  const std::vector<std::size_t> newer_ones{1, 3, 0, 4, 2};
  constexpr Moment young = 100;
  constexpr Moment old = 10;
  int combinations = 0;
  for (unsigned needed = 0; needed < 32; ++needed) {
    for (unsigned is_young = 0; is_young < 32; ++is_young) {
      std::vector<Holding> holdings;
      for (unsigned i = 0; i < versions.size(); ++i) {
        const bool stays = (needed >> i & 1U) != 0;
        holdings.push_back({*Version::parse(versions[i]), (is_young >> i & 1U) != 0 ? young : old,
                            stays ? std::optional<std::string>("it is desired") : std::nullopt});
      }
      for (std::size_t keep = 1; keep <= versions.size() + 1; ++keep) {
        for (const std::optional<Moment> before : {std::optional<Moment>(), std::optional(old),
                                                   std::optional(old + 1), std::optional(young)}) {
          std::set<std::string> pruned;
          for (const Version& version : choose_to_prune(holdings, {keep, before}))
            pruned.insert(version.text());
          for (unsigned i = 0; i < versions.size(); ++i) {
            const bool is_old = before && (is_young >> i & 1U) == 0 && *before > old;
            const bool goes =
                (needed >> i & 1U) == 0 && newer_ones[i] >= keep && (!before || is_old);
            ++combinations;
            if (pruned.contains(versions[i]) == goes) continue;
            FAIL(versions[i] << ", needed " << needed << ", young " << is_young << ", keep " << keep
                             << ", before " << before.value_or(-1));
          }
        }
      }
    }
  }
  CHECK(combinations == 32 * 32 * 6 * 4 * 5);
}

TEST_CASE(
    "pruned releases are named in the order of their versions; without releases there are none") {
  const std::vector<Holding> holdings{{*Version::parse("1.10.0"), 50, std::nullopt},
                                      {*Version::parse("1.9.0"), 40, std::nullopt},
                                      {*Version::parse("1.1.0"), 60, std::nullopt}};

  const std::vector<Version> pruned = choose_to_prune(holdings, {1, std::nullopt});

  REQUIRE(pruned.size() == 2);
  CHECK(pruned[0].text() == "1.1.0");
  CHECK(pruned[1].text() == "1.9.0");
  CHECK(choose_to_prune({}, {1, std::nullopt}).empty());
}

TEST_CASE("room is made by the oldest releases that nothing needs, until few enough are left") {
  const std::vector<Holding> holdings{{*Version::parse("1.10.0"), 50, std::nullopt},
                                      {*Version::parse("1.9.0"), 40, std::nullopt},
                                      {*Version::parse("1.1.0"), 60, "it is desired"}};
  const auto removed = [&holdings](std::size_t most) {
    std::string versions;
    for (const Version& version : choose_to_make_room(holdings, most))
      versions += version.text() + " ";
    return versions;
  };

  CHECK(removed(3).empty());
  CHECK(removed(2) == "1.9.0 ");
  CHECK(removed(1) == "1.9.0 1.10.0 ");
  CHECK(removed(0) == "1.9.0 1.10.0 ");
  CHECK(choose_to_make_room({}, 0).empty());
}

// Tries every subset of the files of two releases as the content of a directory.
TEST_CASE("a file that belongs to no release is an orphan, whatever else is in the directory") {
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

// Tries every subset of the files that a crash may leave as the content of .staging.
TEST_CASE("only partial downloads that are wanted may stay in .staging") {
  const std::vector<std::string> files{"aa.part",       "bb.part", "a-v1.0.0", "a-v1.0.0.json",
                                       "a-v1.0.0.part", "name",    "desired",  ".part"};
  const std::vector<bool> is_part{true, true, false, false, true, false, false, true};
  for (unsigned there = 0; there < 256; ++there) {
    std::vector<std::string> entries;
    for (unsigned i = 0; i < files.size(); ++i) {
      if ((there >> i & 1U) != 0) entries.push_back(files[i]);
    }
    for (const std::string_view wanted : {std::string_view(), std::string_view("aa.part"),
                                          std::string_view("cc.part"), no_partial}) {
      std::vector<std::string> expected;
      for (unsigned i = 0; i < files.size(); ++i) {
        const bool stays = is_part[i] && (wanted.empty() || wanted == files[i]);
        if ((there >> i & 1U) != 0 && !stays) expected.push_back(files[i]);
      }
      INFO(there << " " << wanted);
      CHECK(leavings(entries, wanted) == expected);
    }
  }
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

}  // namespace members_test
