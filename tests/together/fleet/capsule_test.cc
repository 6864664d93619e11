// Tests the evidence of a failure (capsules): which facts a node reports at each level of detail,
// and that a node's evidence cannot make a record longer than the limit.
#include "fleet/model/capsule.h"

#include <catch2/catch.hpp>
#include <random>

#include "fleet/model/record_capsule.h"
#include "fleet/model/record_text.h"

namespace capsule_test {

namespace {

using namespace fleet;

const FailureSeen seen{.stage = "trial",
                       .reason = "exited with status 3; its last line: password is hunter2",
                       .exit_status = 3,
                       .lived = 4'200,
                       .peak_kib = 12'000,
                       .processor = 31,
                       .last_words = "begin\n\npassword is hunter2\n",
                       .differs = {"1.0.0 -> 1.1.0"}};

TEST_CASE("a node that is to give no evidence gives none") {
  CHECK(capsule_of(seen, EvidenceLevel::none).empty());
}

TEST_CASE("without `lines`, nothing that the daemon wrote leaves the machine") {
  const auto evidence = capsule_of(seen, EvidenceLevel::reason);
  REQUIRE(evidence.size() == 1);
  CHECK(evidence.front() == Capsule{.stage = "trial",
                                    .reason = "exited with status 3",
                                    .exit_status = 3,
                                    .lived_ms = 4'200,
                                    .peak_kib = 12'000,
                                    .cpu_ms = 31,
                                    .differs = {"1.0.0 -> 1.1.0"}});
  CHECK(reason_at(EvidenceLevel::none, seen.reason) == "exited with status 3");
}

TEST_CASE("with `lines`, the capsule has the last lines that are not empty, in their order") {
  FailureSeen many = seen;
  CHECK(capsule_of(many, EvidenceLevel::lines).front().lines ==
        std::vector<std::string>{"begin", "password is hunter2"});
  CHECK(reason_at(EvidenceLevel::lines, seen.reason) == seen.reason);

  for (int i = 0; i < 20; ++i)
    many.last_words += "line " + std::to_string(i) + "\n";
  const auto lines = capsule_of(many, EvidenceLevel::lines).front().lines;
  CHECK(lines.size() == capsule_lines_max);
  CHECK(lines.back() == "line 19");
}

TEST_CASE("how a daemon below agentify ended is found in the reason") {
  const auto of = [](const std::string& reason) {
    return capsule_of({.reason = reason}, EvidenceLevel::reason).front();
  };
  CHECK(of("unfit: the daemon exited with status 98; its last line: x").exit_status == 98);
  CHECK(of("unfit: the daemon was killed by SIGSEGV").signal == 11);
  CHECK(of("unfit: the daemon was killed by SIGSEGV").exit_status == -1);
  CHECK(of("exited with status x").exit_status == -1);
  CHECK(of("killed by nobody").signal == 0);
  const FailureSeen known{.reason = "exited with status 7", .signal = 9};
  CHECK(capsule_of(known, EvidenceLevel::reason).front().exit_status == -1);
}

TEST_CASE("a fact that is not known is told as such") {
  const Capsule capsule = capsule_of({.reason = "gone"}, EvidenceLevel::reason).front();
  CHECK(capsule == Capsule{.reason = "gone"});
}

TEST_CASE("the versions and the files in which two releases differ are named, the first of many") {
  CHECK(differences({"1.0", "0555 a bin/x\n0444 b etc/y\n0444 c gone\n"},
                    {"1.1", "0555 a bin/x\n0444 z etc/y\n0444 d lib/new\n"}) ==
        std::vector<std::string>{"1.0 -> 1.1", "changed: etc/y", "new: lib/new", "gone: gone"});
  std::string after;
  for (int i = 0; i < 100; ++i)
    after += "0444 a file" + std::to_string(i) + "\n";
  const auto differs = differences({"1.0", ""}, {"1.1", after});
  CHECK(differs.size() == capsule_differs_max);
  CHECK(differs.back() == "and 96 more");
}

TEST_CASE("releases without lists differ in their versions, and an unknown one is not named") {
  CHECK(differences({"1.0", ""}, {"1.1", ""}) == std::vector<std::string>{"1.0 -> 1.1"});
  CHECK(differences({"", "no list"}, {"1.1", ""}).empty());
  CHECK(differences({"1.0", "0444 a x\n"}, {"", ""}).empty());
}

// Returns by how many bytes the evidence makes a record longer.
std::size_t bytes_of(const std::vector<Capsule>& evidence) {
  const Answer without{.command = "r.apply.1", .result = "x"};
  Answer with = without;
  with.evidence = evidence;
  return write_record(with).size() - write_record(without).size() -
         std::string_view(R"(,"evidence":[])").size();
}

TEST_CASE("a capsule has at most 1,500 bytes in a record, whatever a node writes into it") {
  std::mt19937 random(5);
  std::size_t longest = 0;
  for (int round = 0; round < 500; ++round) {
    const auto text = [&random] {
      std::string bytes(random() % 3'000, 'x');
      const auto kind = random() % 4;
      for (char& c : bytes) {
        if (kind == 1) c = '\x01';
        if (kind == 2) c = '"';
        if (kind == 3) c = static_cast<char>(random());
      }
      return bytes;
    };
    Capsule capsule{.stage = text(),
                    .reason = text(),
                    .exit_status = static_cast<std::int64_t>(random()) << 31,
                    .signal = static_cast<std::int64_t>(random()) << 31,
                    .lived_ms = static_cast<std::int64_t>(random()),
                    .peak_kib = static_cast<std::int64_t>(random()) << 20,
                    .cpu_ms = static_cast<std::int64_t>(random())};
    for (auto i = random() % 12; i > 0; --i)
      capsule.lines.push_back(text());
    for (auto i = random() % 12; i > 0; --i)
      capsule.differs.push_back(text());
    longest = std::max(longest, bytes_of({capsule, capsule}));
  }
  CHECK(longest <= capsule_bytes_max);
  CHECK(longest > capsule_bytes_max / 2);
}

TEST_CASE("a record that a hostile node has written is cut where it is read") {
  const std::string capsule = R"({"stage":"s","reason":")" + std::string(5'000, 'r') +
                              R"(","exit_status":-7,"signal":4000,)" +
                              R"("lived_ms":-5,"peak_kib":-2,"lines":[")" +
                              std::string(2'000, 'a') + R"(","b"]})";
  const auto read = read_record<Answer>(
      R"({"v":1,"command":"r.apply.1","result":"x","evidence":[)" + capsule + "," + capsule + "]}");
  REQUIRE(read);
  REQUIRE(read.value().evidence.size() == 1);
  const Capsule& kept = read.value().evidence.front();
  CHECK(kept.reason.size() == capsule_reason_bytes_max);
  CHECK(kept.exit_status == -1);
  CHECK(kept.signal == 0);
  CHECK(kept.lived_ms == -1);
  CHECK(kept.peak_kib == -1);
  CHECK(kept.lines.back() == "b");
  CHECK_FALSE(read_record<Answer>(R"({"v":1,"evidence":[{"stage":7}]})"));
}

}  // namespace

}  // namespace capsule_test
