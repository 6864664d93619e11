// Tests prove(). With this function, tests of the sample agent check that each line of the agent's
// input was copied to the agent's output. prove() must find each kind of error.
#include <catch2/catch.hpp>

#include "tests/demo/line_proof.h"
#include "tests/support/temporary_directory.h"

namespace sample_line_proof_test {

using demo::Proof;
using demo::prove;
using demo::SeenEvent;
using demo::SeenRecord;

namespace {

using Texts = std::vector<std::string>;

const Texts three{"a", "b", "c"};

SeenRecord record(std::uint64_t number, const std::string& line,
                  const std::string& version = "1.0.0") {
  return {.number = number, .version = version, .time_us = number * 1'000, .line = line};
}

SeenEvent event(int pid, const std::string& version, const std::string& text) {
  return {.time_us = 1, .pid = pid, .version = version, .text = text};
}

const std::vector<SeenRecord> good{record(1, "a"), record(2, "b"), record(3, "c")};

// The records of a good hand-over: version 1.0.0 writes two records, and version 2.0.0 continues
// with the third.
const std::vector<SeenRecord> handed_over{record(1, "a"), record(2, "b"), record(3, "c", "2.0.0")};
const std::vector<SeenEvent> hand_over{
    event(10, "1.0.0", "started as first, generation 1"),
    event(10, "1.0.0", "activated"),
    event(10, "1.0.0", "works next=1"),
    event(11, "2.0.0", "started as candidate, generation 2"),
    event(10, "1.0.0", "stopped next=3"),
    event(11, "2.0.0", "activated"),
    event(11, "2.0.0", "works next=3"),
};

}  // namespace

TEST_CASE("lines that are there once and in order are a proof") {
  const Proof proof = prove(three, good, {});

  CHECK(proof.holds());
  CHECK(proof.lines_in == 3);
  CHECK(proof.lines_out == 3);
}

TEST_CASE("a hand-over without an overlap is a proof") {
  CHECK(prove(three, handed_over, hand_over).holds());
}

TEST_CASE("equal lines count as often as they are there") {
  CHECK(prove({"a", "a"}, {record(1, "a"), record(2, "a")}, {}).holds());
  CHECK(prove({"a", "a"}, {record(1, "a")}, {}).missing == 1);
  CHECK(prove({"a"}, {record(1, "a"), record(2, "a")}, {}).doubled == 1);
}

TEST_CASE("a missing line is found") {
  const Proof proof = prove(three, {record(1, "a"), record(2, "c")}, {});

  CHECK(proof.missing == 1);
  CHECK_FALSE(proof.holds());
}

TEST_CASE("a doubled line is found") {
  const Proof proof =
      prove(three, {record(1, "a"), record(2, "b"), record(3, "b"), record(4, "c")}, {});

  CHECK(proof.doubled == 1);
  CHECK_FALSE(proof.holds());
}

TEST_CASE("lines out of order are found") {
  const Proof proof = prove(three, {record(1, "b"), record(2, "a"), record(3, "c")}, {});

  CHECK(proof.disordered == 1);
  CHECK_FALSE(proof.holds());
}

TEST_CASE("a wrong number is found") {
  const Proof proof = prove(three, {record(1, "a"), record(3, "b"), record(4, "c")}, {});

  CHECK(proof.misnumbered == 1);
  CHECK_FALSE(proof.holds());
}

TEST_CASE("a line that nobody wrote, and what is no record, is found") {
  CHECK(prove(three, {record(1, "a"), record(2, "x"), record(3, "c")}, {}).strange == 1);
  const demo::SeenRecord torn{.number = 0, .version = "nobody", .time_us = 0, .line = "3 torn"};
  CHECK(prove({"a"}, {record(1, "a"), torn}, {}).strange == 1);
}

TEST_CASE("a record by a version whose turn it was not is found") {
  std::vector<SeenRecord> output = handed_over;

  SECTION("too early") {
    output[1].version = "2.0.0";
  }
  SECTION("too early, as the last record before its turn") {
    output[2].time_us = 0;
  }
  SECTION("too late") {
    output[2].version = "1.0.0";
  }
  SECTION("never active") {
    output[1].version = "3.0.0";
  }

  const Proof proof = prove(three, output, hand_over);
  CHECK(proof.trespasses.size() == 1);
  CHECK_FALSE(proof.holds());
}

TEST_CASE("an agent that shows life after another was activated is found") {
  std::vector<SeenEvent> events = hand_over;
  events.push_back(event(10, "1.0.0", "told to stop: shutdown"));

  const Proof proof = prove(three, handed_over, events);

  REQUIRE(proof.trespasses.size() == 1);
  CHECK(proof.trespasses[0].find("1.0.0 (pid 10) was alive after 2.0.0 (pid 11)") == 0);
}

TEST_CASE("a pid that is used again is another agent") {
  std::vector<SeenEvent> events = hand_over;
  for (const char* text : {"started as candidate, generation 3", "activated", "works next=4"}) {
    events.push_back(event(10, "1.0.0", text));
  }

  CHECK(prove(three, handed_over, events).holds());
}

TEST_CASE("an agent may have the very pid of the one before it, which died with the machine") {
  std::vector<SeenEvent> events = hand_over;
  for (const char* text : {"started as first, generation 1", "activated", "works next=4"}) {
    events.push_back(event(11, "2.0.0", text));
  }

  CHECK(prove(three, handed_over, events).holds());
}

TEST_CASE("the files are read as they are written, rotated ones first") {
  const TemporaryDirectory directory;
  directory.write("log.2", "a\nb\n");
  directory.write("log.1", "c\nunfinished");
  directory.write("log", "d\nnot yet a li");
  directory.write("output", "1 1.0.0 5 a\n2 torn");
  directory.write("events", "17 12 1.0.0 works next=1\nnonsense\n18 1");

  CHECK(demo::read_input(directory / "log") == Texts{"a", "b", "c", "unfinished", "d"});
  const auto output = demo::read_output(directory / "output");
  REQUIRE(output.size() == 2);
  CHECK(output[0].line == "a");
  CHECK(output[0].time_us == 5);
  CHECK(output[1].version == "nobody");
  const auto events = demo::read_events(directory / "events");
  REQUIRE(events.size() == 2);
  CHECK(events[0].pid == 12);
  CHECK(events[0].text == "works next=1");
  CHECK(events[1].text == "nonsense");
}

TEST_CASE("the longest pause is that of which a part lies in the time") {
  const std::vector<SeenRecord> output{record(1, "a"), record(2, "b"), record(9, "c"),
                                       record(10, "d")};

  CHECK(demo::longest_pause_us(output, 0, 20'000) == 7'000);
  CHECK(demo::longest_pause_us(output, 5'000, 5'001) == 7'000);
  CHECK(demo::longest_pause_us(output, 9'500, 20'000) == 1'000);
}

}  // namespace sample_line_proof_test
