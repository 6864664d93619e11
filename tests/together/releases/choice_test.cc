// Tests the ledger, the file that records which releases were tried and how each attempt ended.
// Also tests the choice of the next release: for every combination of present, desired, running and
// failed releases, the choice must agree with a second implementation of the rules in this file.
#include <catch2/catch.hpp>

#include "tools/agent-releases/core/choice.h"
#include "tools/agent-releases/core/ledger.h"
#include "tools/agent-releases/core/moment.h"

namespace choice_test {

using namespace agent_releases;

namespace {

Version version(const std::string& text) {
  return *Version::parse(text);
}

Entry entry(const std::string& text, Ending ending, const std::string& stage = "",
            const std::string& errno_name = "", const std::string& wish = "") {
  Entry made;
  made.when = 1'000'000'000;
  made.version = version(text);
  made.sha256 = std::string(64, text[0]);
  made.ending = ending;
  made.id = "u1";
  made.stage = stage;
  made.reason = stage.empty() ? "" : "it \"died\"\n";
  made.errno_name = errno_name;
  made.wish = wish;
  return made;
}

std::string sha(const std::string& text) {
  return std::string(64, text[0]);
}

bool failed(const std::vector<Entry>& ledger, const std::string& text,
            const char* running = "0.0.1", std::optional<std::string> wish = std::nullopt) {
  return has_failed(ledger, version(text), sha(text), version(running), wish);
}

}  // namespace

TEST_CASE("an entry that is written is the one that is read") {
  const Entry written = entry("1.2.3-rc.1", Ending::failed, "trial", "ENOENT", "5-6.7-8");

  const auto read = parse_ledger(to_line(written));

  REQUIRE(read.size() == 1);
  CHECK(to_line(read[0]) == to_line(written));
  CHECK(read[0].version == written.version);
  CHECK(read[0].reason == written.reason);
  CHECK(read[0].wish == written.wish);
}

TEST_CASE("an entry is read again, whatever bytes a failed program has put into its reason") {
  const std::string e_acute = "\xC3\xA9";
  const std::string emoji = "\xF0\x9F\x98\x80";
  const auto reread = [](const std::string& reason) {
    Entry written = entry("1.2.3", Ending::failed, "self-test");
    written.reason = reason;
    const auto read = parse_ledger(to_line(written));
    return read.size() == 1 ? read[0].reason : "not read";
  };

  CHECK(reread(std::string("a\0b", 3)) ==
        "a\xEF\xBF\xBD"
        "b");
  CHECK(reread("a\xFF"
               "b") ==
        "a\xEF\xBF\xBD"
        "b");
  CHECK(reread(std::string(512, '\xFF')).size() == 1'023);
  CHECK(reread(std::string(1'024, 'a')) == std::string(1'024, 'a'));
  CHECK(reread(std::string(1'025, 'a')) == std::string(1'024, 'a'));
  CHECK(reread(std::string(1'023, 'a') + e_acute) == std::string(1'023, 'a'));
  CHECK(reread(std::string(1'020, 'a') + emoji) == std::string(1'020, 'a') + emoji);
  CHECK(reread(std::string(1'021, 'a') + emoji) == std::string(1'021, 'a'));
  CHECK(reread(std::string(1'018, 'a') + emoji + emoji) == std::string(1'018, 'a') + emoji);
}

TEST_CASE("the torn last line of a ledger is no entry, and neither is any other text") {
  const std::string line = to_line(entry("1.0.0", Ending::trying));
  for (std::size_t cut = 0; cut < line.size(); ++cut) {
    std::size_t sound = 99;
    CHECK(parse_ledger(line + line.substr(0, cut), &sound).size() == 1);
    CHECK(sound == line.size());
  }
  CHECK(parse_ledger(line + "stray\n{}\n" + line).size() == 2);
  CHECK(parse_ledger(line + R"({"when":"x","version":"1.0.0","ending":"trying"})" + "\n").size() ==
        1);
  CHECK(parse_ledger(std::string(100, '\0') + "\n" + line).size() == 1);
}

TEST_CASE("an upgrade to the version that runs, and has no ending, is committed") {
  const auto trying = entry("2.0.0", Ending::trying);
  const auto failed_one = entry("2.0.0", Ending::failed, "trial");

  const auto committed = commitment_of({failed_one, trying, entry("1.0.0", Ending::failed)},
                                       version("2.0.0"), 1'500'000'000);

  REQUIRE(committed);
  CHECK(committed->ending == Ending::committed);
  CHECK(committed->when == 1'500'000'000);
  CHECK(committed->id == trying.id);
  CHECK(committed->sha256 == trying.sha256);
  CHECK_FALSE(commitment_of({trying, failed_one}, version("2.0.0"), 0));
  CHECK_FALSE(commitment_of({trying}, version("1.0.0"), 0));
  CHECK_FALSE(commitment_of({}, version("1.0.0"), 0));
}

TEST_CASE("the last entry of an upgrade is found by its id, which has at most 64 bytes") {
  const std::vector<Entry> ledger{entry("1.0.0", Ending::trying), entry("2.0.0", Ending::failed)};

  REQUIRE(upgrade_of(ledger, "u1") != nullptr);
  CHECK(upgrade_of(ledger, "u1")->version == version("2.0.0"));
  CHECK(upgrade_of(ledger, "u2") == nullptr);
  CHECK(upgrade_of(ledger, "") == nullptr);
  CHECK(upgrade_id(version("1.2.3"), 4'000'000, 7) == "1.2.3/4000000/7");
  const std::string long_version = "1.2.3-" + std::string(100, 'a');
  CHECK(upgrade_id(version(long_version), 4'000'000, 1'700'000'000).size() == 64);
}

TEST_CASE("only failures of its own stand against a release") {
  for (const char* stage : {"start", "trial", "self-test"})
    CHECK(blames_release(stage, ""));
  for (const char* stage : {"request", "spawn"}) {
    CHECK(blames_release(stage, "ENOEXEC"));
    CHECK(blames_release(stage, "ENOENT"));
    CHECK_FALSE(blames_release(stage, "ENOMEM"));
    CHECK_FALSE(blames_release(stage, ""));
  }
  for (const char* stage : {"confirm", "cancel", "stop", "commit", "shutdown", "boot", ""})
    CHECK_FALSE(blames_release(stage, "ENOENT"));
}

TEST_CASE("the last entry decides, and is of these very bytes") {
  const Entry bad = entry("1.0.0", Ending::failed, "trial");
  const Entry good = entry("1.0.0", Ending::committed);
  Entry forgotten = entry("1.0.0", Ending::forgotten);
  forgotten.sha256.clear();

  CHECK(failed({bad}, "1.0.0"));
  CHECK_FALSE(failed({bad, good}, "1.0.0"));
  CHECK(failed({good, bad}, "1.0.0"));
  CHECK_FALSE(failed({bad, forgotten}, "1.0.0"));
  CHECK(failed({forgotten, bad}, "1.0.0"));
  CHECK_FALSE(failed({bad}, "2.0.0"));
  CHECK_FALSE(has_failed({bad}, version("1.0.0"), "other bytes", version("0.0.1"), std::nullopt));
}

TEST_CASE("a version that was tried and has no ending has failed, unless it runs") {
  const Entry trying = entry("1.0.0", Ending::trying);

  CHECK(failed({trying}, "1.0.0", "0.9.0"));
  CHECK_FALSE(failed({trying}, "1.0.0", "1.0.0"));
}

TEST_CASE("a wish that is written anew forgets what failed under another one") {
  const Entry bad = entry("1.0.0", Ending::failed, "trial", "", "w1");

  CHECK(failed({bad}, "1.0.0", "0.9.0", "w1"));
  CHECK_FALSE(failed({bad}, "1.0.0", "0.9.0", "w2"));
  CHECK(failed({bad}, "1.0.0", "0.9.0"));
  CHECK_FALSE(failed({entry("1.0.0", Ending::failed, "trial")}, "1.0.0", "0.9.0", "w1"));
}

TEST_CASE("a shortened ledger says the same of every release") {
  std::vector<Entry> ledger;
  for (int i = 0; i < 2'000; ++i) {
    const std::string text = std::to_string(i % 97 + 1) + ".0.0";
    ledger.push_back(entry(text, i % 3 == 0 ? Ending::failed : Ending::committed,
                           i % 2 == 0 ? "trial" : "cancel"));
    if (i % 50 == 0) {
      ledger.back().ending = Ending::forgotten;
      ledger.back().sha256.clear();
    }
  }

  const std::vector<Entry> kept = shortened(ledger);

  CHECK(kept.size() <= ledger_entries_kept);
  for (int i = 1; i <= 97; ++i) {
    const std::string text = std::to_string(i) + ".0.0";
    CHECK(failed(kept, text) == failed(ledger, text));
  }
}

// ---- the choice for every combination of releases and their histories

namespace {

const std::vector<std::string> all_versions{"1.0.0", "2.0.0", "3.0.0-rc.1", "3.0.0"};

// Returns every history that the ledger can have for one release: no entry, or an entry with one of
// the endings.
std::vector<std::vector<Entry>> histories(const std::string& text) {
  return {{},
          {entry(text, Ending::failed, "trial", "", "w1")},
          {entry(text, Ending::failed, "cancel", "", "w1")},
          {entry(text, Ending::trying, "", "", "w1")},
          {entry(text, Ending::committed, "", "", "w1")}};
}

// Returns the expected choice according to the rules of agent-releases(1). Applies the rules in a
// different order than the tested code.
std::optional<std::string> expected(const std::vector<std::string>& there,
                                    const std::optional<Wish>& wish, const std::string& running,
                                    const std::vector<Entry>& ledger) {
  std::vector<std::string> wanted;
  for (const std::string& text : there) {
    if (text == running) continue;
    const bool newer = version(running) < version(text) && text.find('-') == std::string::npos;
    const bool named = wish && wish->version && wish->version->text() == text;
    if (wish ? !named : !newer) continue;
    bool out = false;
    for (const Entry& past : ledger) {
      if (past.version.text() != text) continue;
      out =
          past.ending == Ending::trying || (past.ending == Ending::failed && past.stage == "trial");
      if (wish && wish->writing != past.wish) out = false;
    }
    if (!out) wanted.push_back(text);
  }
  if (wanted.empty()) return std::nullopt;
  // `there` and `wanted` are sorted by version, so the last element of `wanted` is the newest
  // version.
  return wanted.back();
}

}  // namespace

TEST_CASE("the choice is right for every combination") {
  const std::vector<std::string> wishes{"none",       "garbled", "1.0.0", "2.0.0",
                                        "3.0.0-rc.1", "3.0.0",   "9.0.0"};
  // Each of the four versions has one of five histories, so there are 5 * 5 * 5 * 5 ledgers.
  std::vector<std::vector<Entry>> ledgers(625);
  for (unsigned past = 0; past < ledgers.size(); ++past) {
    for (unsigned i = 0, rest = past; i < 4; ++i, rest /= 5) {
      const auto history = histories(all_versions[i])[rest % 5];
      ledgers[past].insert(ledgers[past].end(), history.begin(), history.end());
    }
  }
  int combinations = 0;
  int chosen_ones = 0;
  for (unsigned present = 0; present < 16; ++present) {
    std::vector<std::string> there;
    std::vector<Candidate> releases;
    for (unsigned i = 0; i < 4; ++i) {
      if ((present >> i & 1U) == 0) continue;
      there.push_back(all_versions[i]);
      releases.push_back({version(all_versions[i]), sha(all_versions[i])});
    }
    for (const std::string& wish_text : wishes) {
      for (const char* writing : {"w1", "w2"}) {
        std::optional<Wish> wish;
        if (wish_text != "none") wish = Wish{Version::parse(wish_text), writing};
        for (const std::string& running : {std::string("0.9.0"), all_versions[0], all_versions[1],
                                           all_versions[2], all_versions[3]}) {
          const Version running_version = version(running);
          for (const std::vector<Entry>& ledger : ledgers) {
            const auto index = choose(releases, wish, running_version, ledger);
            const auto wanted = expected(there, wish, running, ledger);
            ++combinations;
            chosen_ones += index.has_value();
            if ((index ? std::optional(there[*index]) : std::nullopt) == wanted) continue;
            FAIL("running " << running << ", wish " << wish_text << " " << writing << ", there "
                            << present << ", past " << &ledger - ledgers.data());
          }
        }
      }
    }
  }
  CHECK(combinations == 16 * 7 * 2 * 5 * 625);
  CHECK(chosen_ones > 10'000);
}

TEST_CASE(
    "a release that could replace the running one, but has failed, is left out with a reason") {
  const std::vector<Candidate> releases = {{version("1.0.0"), sha("1.0.0")},
                                           {version("2.0.0"), sha("2.0.0")},
                                           {version("3.0.0"), sha("3.0.0")},
                                           {version("4.0.0-rc.1"), sha("4.0.0-rc.1")}};
  const std::vector<Entry> ledger = {entry("2.0.0", Ending::failed, "trial"),
                                     entry("3.0.0", Ending::trying),
                                     entry("4.0.0-rc.1", Ending::trying)};
  const auto reasons = [&](const std::optional<Wish>& wish, const char* running) {
    std::vector<std::string> all;
    for (const LeftOut& left : left_out(releases, wish, version(running), ledger))
      all.push_back(left.version.text() + ": " + left.reason);
    return all;
  };
  const std::string allowed = "; it is not tried again until `forget` or `desire` allows it";
  const std::string failed_2 =
      "2.0.0: it failed at 2001-09-09T01:46:40Z, stage trial: it \"died\"\n" + allowed;
  const std::string tried_3 =
      "3.0.0: it was tried at 2001-09-09T01:46:40Z, and how the upgrade ended was not recorded" +
      allowed;

  CHECK(reasons(std::nullopt, "1.0.0") == std::vector{failed_2, tried_3});
  CHECK(reasons(std::nullopt, "2.0.0") == std::vector{tried_3});
  CHECK(reasons(std::nullopt, "3.0.0").empty());
  CHECK(reasons(Wish{version("2.0.0"), ""}, "3.0.0") == std::vector{failed_2});
  CHECK(reasons(Wish{version("2.0.0"), "written again"}, "3.0.0").empty());
  CHECK(reasons(Wish{version("5.0.0"), ""}, "1.0.0") ==
        std::vector<std::string>{"5.0.0: it is desired, but is not in the directory"});
}

}  // namespace choice_test
