// Tests which texts are versions, and how versions are ordered. Also tests which manifests are
// accepted, why all other manifests are refused, and whether a release may be added on this machine
// at this time.
#include <algorithm>
#include <catch2/catch.hpp>

#include "agent-releases/manifest.h"
#include "agent-releases/version.h"
#include "tools/agent-releases/core/admission.h"
#include "tools/agent-releases/core/names.h"

namespace manifest_test {

using namespace agent_releases;

namespace {

const std::string digits(64, 'a');

// Returns a good manifest after some changes. Each change is the name of a member and new JSON for
// its value. If the JSON is empty, the member is removed.
std::string with(const std::vector<std::pair<std::string, std::string>>& changes = {}) {
  std::vector<std::pair<std::string, std::string>> members{
      {"name", R"("agent")"}, {"version", R"("1.2.3")"},
      {"arch", R"("any")"},   {"kind", R"("file")"},
      {"size", "10"},         {"sha256", "\"" + digits + "\""},
      {"min_protocol", "1"},  {"url", R"("agent-1.2.3")"}};
  for (const auto& change : changes) {
    const auto found =
        std::ranges::find(members, change.first, &std::pair<std::string, std::string>::first);
    if (found == members.end()) {
      members.push_back(change);
    } else {
      found->second = change.second;
    }
  }
  std::string text = "{";
  for (const auto& [name, json] : members) {
    if (json.empty()) continue;
    text += (text.size() > 1 ? ",\n \"" : "\n \"") + name + "\": " + json;
  }
  return text + "\n}\n";
}

std::string refusal_of(const std::string& text) {
  const auto manifest = parse_manifest(text);
  return manifest ? "none" : manifest.reason();
}

Version version(const std::string& text) {
  const auto parsed = Version::parse(text);
  INFO(text);
  REQUIRE(parsed);
  return *parsed;
}

}  // namespace

TEST_CASE("a version is written in one way only") {
  for (const char* text : {"0.0.0", "1.20.300", "1.0.0-rc.1", "1.0.0-0", "1.0.0-x-y-z.-",
                           "999999999999999999.0.0", "1.0.0-0a.00a"}) {
    CHECK(version(text).text() == text);
  }
  for (const char* text : {"",
                           "1",
                           "1.2",
                           "1.2.3.4",
                           "1.2.3.",
                           "v1.2.3",
                           "1.2.x",
                           "01.2.3",
                           "1..3",
                           " 1.2.3",
                           "1.2.3 ",
                           "-1.2.3",
                           "1.2.3-",
                           "1.2.3+",
                           "1.2.3-01",
                           "1.2.3-a..b",
                           "1.2.3-a.",
                           "1.2.3-a_b",
                           "1.2.3/..",
                           "1.2.3-\xC3\xA9",
                           "1000000000000000000.0.0",
                           "+1.2.3",
                           "1.2.3\n"}) {
    INFO(text);
    CHECK_FALSE(Version::parse(text));
  }
  CHECK_FALSE(Version::parse("1.2.3-" + std::string(200, 'a')));
}

TEST_CASE("versions are in the order that semver.org gives them") {
  const std::vector<std::string> ordered{
      "0.9.9",        "1.0.0-1",       "1.0.0-2",          "1.0.0-10",
      "1.0.0-alpha",  "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta",
      "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1",       "1.0.0",
      "1.0.1",        "1.9.9",         "1.10.0",           "2.0.0"};
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    for (std::size_t j = 0; j < ordered.size(); ++j) {
      INFO(ordered[i] << " and " << ordered[j]);
      CHECK((version(ordered[i]) < version(ordered[j])) == (i < j));
      CHECK((version(ordered[i]) == version(ordered[j])) == (i == j));
    }
  }
}

TEST_CASE("a build is kept, and is in neither the path nor the order") {
  const Version built = version("1.2.3-rc.1+build.007");

  CHECK(built.build == "build.007");
  CHECK(built.text() == "1.2.3-rc.1");
  CHECK(built == version("1.2.3-rc.1+other"));
  CHECK(built.is_prerelease());
  CHECK_FALSE(version("1.2.3+build").is_prerelease());
}

TEST_CASE("a manifest is read, and what is not known in it is ignored") {
  const auto manifest = parse_manifest(with({{"version", R"("1.2.3+b5")"},
                                             {"kind", R"("tar")"},
                                             {"entry", R"("bin/agent")"},
                                             {"expires", R"("2030-01-31T12:00:00+01:00")"},
                                             {"of another time", R"({"a":[1,2,{"b":null}]})"}}));

  REQUIRE(manifest);
  CHECK(manifest.value().name == "agent");
  CHECK(manifest.value().version.text() == "1.2.3");
  CHECK(manifest.value().version.build == "b5");
  CHECK(manifest.value().kind == Kind::tar);
  CHECK(manifest.value().entry == "bin/agent");
  CHECK(manifest.value().size == 10);
  CHECK(to_text(*manifest.value().expires) == "2030-01-31T11:00:00Z");
}

TEST_CASE("a manifest that is written is the one that is read") {
  const auto manifest = parse_manifest(with({{"kind", R"("tar")"},
                                             {"entry", R"("bin/a \"b\"")"},
                                             {"version", R"("1.0.0-rc.1+b")"},
                                             {"expires", R"("2030-01-31T12:00:00Z")"},
                                             {"undo", "false"}}));

  REQUIRE(manifest);
  CHECK_FALSE(manifest.value().undo);
  CHECK(parse_manifest(with({{"undo", "true"}})).value().undo);
  CHECK(parse_manifest(with()).value().undo);
  const std::string text = to_text(manifest.value());
  const auto again = parse_manifest(text);
  REQUIRE(again);
  CHECK(to_text(again.value()) == text);
}

TEST_CASE("each member of a manifest that is missing, or of another type, is named") {
  for (const char* name :
       {"name", "version", "arch", "kind", "size", "sha256", "min_protocol", "url"}) {
    CHECK(refusal_of(with({{name, ""}})) == "`" + std::string(name) + "` is missing");
    CHECK(refusal_of(with({{name, "null"}})).starts_with("`" + std::string(name) + "` is not "));
    CHECK(refusal_of(with({{name, "[1]"}})).starts_with("`" + std::string(name) + "` is not "));
  }
  CHECK(refusal_of(with({{"kind", R"("tar")"}})) == "`entry` is missing");
  CHECK(refusal_of(with({{"expires", "5"}})) == "`expires` is not a text");
  CHECK(refusal_of(with({{"undo", "5"}})) == "`undo` is not true or false");
}

TEST_CASE("a manifest with a wrong value in a member is refused, with the reason") {
  using Case = std::pair<std::pair<std::string, std::string>, std::string>;
  const std::vector<Case> cases{
      {{"name", R"("")"}, "`name`: a name has 1 to 64"},
      {{"name", R"("../x")"}, "`name`: a name has 1 to 64"},
      {{"name", R"("a/b")"}, "`name`: a name has 1 to 64"},
      {{"name", R"("..")"}, "`name`: a name has 1 to 64"},
      {{"name", R"("-rf")"}, "`name`: a name has 1 to 64"},
      {{"name", R"("a\u0000b")"}, "`name` has a U+0000"},
      {{"version", R"("1.2")"}, "`version` is no semantic version"},
      {{"version", R"("../1.2.3")"}, "`version` is no semantic version"},
      {{"version", R"("1.0.0-a.json")"}, "version 1.0.0-a.json ends as"},
      {{"version", R"("1.0.0-a.minisig")"}, "version 1.0.0-a.minisig ends as"},
      {{"version", R"("1.0.0-a.files")"}, "version 1.0.0-a.files ends as"},
      {{"kind", R"("zip")"}, "`kind` is neither"},
      {{"size", "0"}, "`size` is not between"},
      {{"size", "-5"}, "`size` is not between"},
      {{"size", "68719476737"}, "`size` is not between"},
      {{"size", "1e3"}, "`size` is no integer"},
      {{"size", "10.0"}, "`size` is no integer"},
      {{"size", "9999999999999999999999"}, "`size` is no integer"},
      {{"sha256", R"("abc")"}, "`sha256` is not 64 digits"},
      {{"sha256", "\"" + std::string(64, 'A') + "\""}, "`sha256` is not 64 digits"},
      {{"min_protocol", "0"}, "`min_protocol` is less"},
      {{"url", R"("")"}, "`url` is empty"},
      {{"url", "\"" + std::string(5'000, 'a') + "\""}, "`url` has more than 4096"},
      {{"expires", R"("tomorrow")"}, "`expires` is no time"},
      {{"expires", R"("2030-02-30T00:00:00Z")"}, "`expires` is no time"},
  };
  for (const auto& [change, reason] : cases) {
    INFO(change.first << " " << change.second << ": " << refusal_of(with({change})));
    CHECK(refusal_of(with({change})).starts_with(reason));
  }
}

TEST_CASE("an entry that leads out of its directory is refused") {
  for (const char* entry : {"/bin/agent", "../agent", "bin/../../agent", "bin/..", ".",
                            "bin//agent", "bin/", "./agent", ""}) {
    INFO(entry);
    CHECK(refusal_of(with({{"kind", R"("tar")"}, {"entry", "\"" + std::string(entry) + "\""}}))
              .starts_with("`entry` "));
  }
}

TEST_CASE("a manifest that is not an object, has a member twice, or is too long is refused") {
  CHECK(refusal_of("").starts_with("it is no JSON object"));
  CHECK(refusal_of("[]").starts_with("it is no JSON object"));
  CHECK(refusal_of(with() + "x").starts_with("it is no JSON object"));
  CHECK(refusal_of(with().substr(0, 50)).starts_with("it is no JSON object"));
  CHECK(refusal_of(with({{"x", "\"\xFF\""}})).starts_with("it is no JSON object"));
  CHECK(refusal_of(with({{"x\": 1, \"name", R"("b")"}})) == "`name` is there twice");
  CHECK(refusal_of(with({{"x", "\"" + std::string(70'000, 'a') + "\""}})) ==
        "it has more than 65,536 bytes");
}

namespace {

std::string admission(const std::vector<std::pair<std::string, std::string>>& changes,
                      const Circumstances& here) {
  const auto manifest = parse_manifest(with(changes));
  REQUIRE(manifest);
  const Outcome admitted = admit(manifest.value(), here);
  return admitted ? "admitted" : admitted.reason();
}

Circumstances here() {
  return {.name = "agent",
          .processor = "x86_64",
          .now = *parse_moment("2026-11-22T12:00:00Z"),
          .passed = {},
          .present = Present{*Version::parse("1.2.0"), "the current one"}};
}

}  // namespace

TEST_CASE("a release of another name, machine or protocol is not added") {
  CHECK(admission({}, here()) == "admitted");
  CHECK(admission({{"arch", R"("x86_64")"}}, here()) == "admitted");
  CHECK(admission({{"arch", R"("aarch64")"}}, here()) ==
        "it is for aarch64, and the programs of this machine are for x86_64");
  CHECK(admission({{"arch", R"("x86_6")"}}, here()) ==
        "it is for x86_6, and the programs of this machine are for x86_64");
  CHECK(admission({{"name", R"("other")"}}, here()) ==
        "it is a release of other, and this directory is for agent");
  CHECK(admission({{"min_protocol", "2"}}, here()) ==
        "it needs agent protocol 2, and this machine's is 1");
}

TEST_CASE("an older version than the current one is added only if that is meant") {
  Circumstances wanted = here();
  wanted.older_is_wanted = true;
  Circumstances without = here();
  without.present.reset();

  CHECK(admission({{"version", R"("1.1.9")"}}, here()) ==
        "version 1.1.9 is older than the current one, 1.2.0; if that is meant, say --older");
  CHECK(admission({{"version", R"("1.2.0-rc.1")"}}, here()).find("is older") != std::string::npos);
  CHECK(admission({{"version", R"("1.2.0")"}}, here()) == "admitted");
  CHECK(admission({{"version", R"("1.1.9")"}}, wanted) == "admitted");
  CHECK(admission({{"version", R"("1.1.9")"}}, without) == "admitted");
}

TEST_CASE("a release is compared with the newer one of what runs and what is current") {
  const auto version = [](const char* text) { return *Version::parse(text); };
  const auto which = [](const Versions& versions, const std::vector<Entry>& ledger) {
    const auto present = present_version(versions, ledger);
    return present ? present->version.text() + ", " + std::string(present->which) : "none";
  };
  const auto entry = [&](const char* text, Ending ending) {
    Entry made;
    made.version = version(text);
    made.ending = ending;
    return made;
  };
  const std::vector<Entry> ledger{
      entry("1.0.0", Ending::committed), entry("2.0.0", Ending::trying),
      entry("2.0.0", Ending::committed), entry("1.5.0", Ending::committed),
      entry("4.0.0", Ending::failed),    entry("5.0.0", Ending::trying)};
  const std::vector<Version> there{version("1.0.0"), version("3.0.0"), version("4.0.0"),
                                   version("6.0.0-rc.1")};

  CHECK(which({.running = version("1.0.0"), .current = version("0.9.0"), .there = there}, ledger) ==
        "1.0.0, the running one");
  CHECK(which({.running = version("1.0.0"), .current = version("1.1.0"), .there = there}, ledger) ==
        "1.1.0, the current one");
  CHECK(which({.running = {}, .current = {}, .there = there}, ledger) ==
        "2.0.0, the newest one that has run");
  CHECK(which({.running = {}, .current = {}, .there = there}, {}) ==
        "4.0.0, the newest one that is there");
  CHECK(which({.running = {}, .current = {}, .there = there}, {entry("4.0.0", Ending::failed)}) ==
        "3.0.0, the newest one that is there");
  CHECK(which({.running = {}, .current = {}, .there = {}}, {}) == "none");
}

TEST_CASE("an expired manifest is refused, and one whose expiry a wrong clock cannot judge") {
  Circumstances late = here();
  late.passed = {late.now + 1, "the ledger's last entry"};
  const auto expires = [](const char* when) {
    return std::vector<std::pair<std::string, std::string>>{{"expires", when}};
  };

  CHECK(admission(expires(R"("2026-11-22T12:00:01Z")"), here()) == "admitted");
  CHECK(admission(expires(R"("2026-11-22T12:00:00Z")"), here()) ==
        "its manifest has expired, at 2026-11-22T12:00:00Z");
  CHECK(admission(expires(R"("2030-01-01T00:00:00Z")"), late) ==
        "its manifest expires, and whether it has cannot be known: the clock says "
        "2026-11-22T12:00:00Z, and the ledger's last entry is of 2026-11-22T12:00:01Z; set the "
        "clock");
  CHECK(admission({}, late) == "admitted");
}

TEST_CASE("a clock is wrong that is behind the ledger, the signature, a release or the program") {
  const auto words = [](const Passed& passed) { return passed.what + " " + to_text(passed.when); };
  const auto at = [](const char* text) { return *parse_moment(text); };
  Entry entry;
  entry.when = at("2027-01-01T00:00:00Z");
  const std::string comment = "timestamp:" + std::to_string(at("2027-02-01T00:10:00Z"));

  CHECK(words(last_passed({}, "", {})) == "this program 2026-11-22T00:00:00Z");
  CHECK(words(last_passed({entry}, "", {})) == "the ledger's last entry 2027-01-01T00:00:00Z");
  CHECK(words(last_passed({entry}, comment + "\tfile:x\thashed", {})) ==
        "its signature 2027-02-01T00:00:00Z");
  CHECK(words(last_passed({entry}, comment, at("2027-03-01T00:00:00Z"))) ==
        "the newest release that is there 2027-03-01T00:00:00Z");
  CHECK(words(last_passed({}, "", at("2020-01-01T00:00:00Z"))) ==
        "this program 2026-11-22T00:00:00Z");
}

TEST_CASE("the time of a signature is read where the trusted comment has one") {
  CHECK(signed_at("timestamp:1795509491\tfile:agent.json\thashed") == 1'795'509'491);
  CHECK(signed_at("release of timestamp:17") == 17);
  for (const char* comment :
       {"", "timestamp:", "timestamp:x", "timestamp:-5", "file:x", "timestamp:9999999999999"}) {
    INFO(comment);
    CHECK_FALSE(signed_at(comment));
  }
}

TEST_CASE("a time is read with and without fraction and offset, and written in UTC") {
  CHECK(parse_moment("1970-01-01T00:00:00Z") == 0);
  CHECK(parse_moment("2026-11-22t08:00:00.123z") == parse_moment("2026-11-22T09:00:00+01:00"));
  CHECK(to_text(*parse_moment("2024-02-29T23:59:59Z")) == "2024-02-29T23:59:59Z");
  for (const char* text :
       {"", "2026-11-22", "2026-11-22T08:00Z", "2026-11-22T08:00:00", "2026-13-01T00:00:00Z",
        "2026-11-22T24:00:00Z", "2026-11-22T08:60:00Z", "2026-11-22T08:00:00.Z",
        "2026-11-22T08:00:00Zx", "x026-11-22T08:00:00Z"}) {
    INFO(text);
    CHECK_FALSE(parse_moment(text));
  }
}

TEST_CASE("a file of the directory is known by its name, and only by the directory's own NAME") {
  using Known = agent_releases::Known;
  const auto kind = [](const char* entry) { return recognise(entry, "agent"); };

  CHECK(kind("agent-v1.2.3")->kind == Known::Kind::release);
  CHECK(kind("agent-v1.2.3.json")->kind == Known::Kind::manifest);
  CHECK(kind("agent-v1.2.3.json.minisig")->kind == Known::Kind::signature);
  CHECK(kind("agent-v1.2.3.files")->kind == Known::Kind::files);
  CHECK(kind("agent-v1.2.3-rc.1.json")->version.text() == "1.2.3-rc.1");
  for (const char* entry : {"agent", "agent-1.2.3", "other-v1.2.3", "agent-v1.2", "agent-v1.2.3+b",
                            "agent-v1.2.3.minisig", "agent-v1.2.3.json.json", "desired", ".name",
                            "agent-v1.2.3~", ".agent-v1.2.3"}) {
    INFO(entry);
    CHECK_FALSE(kind(entry));
  }
}

}  // namespace manifest_test
