// Tests that the sample agent copies each line of a log exactly once, even if agents stop or crash
// at any moment.
#include <fcntl.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <random>

#include "sample-agent/copier.h"
#include "tests/demo/line_proof.h"
#include "tests/support/temporary_directory.h"

namespace sample_copier_test {

using namespace sample_agent;
namespace fs = std::filesystem;

namespace {

// A fixture with a log, a copy of the log (the output), and sample agents. Each agent continues the
// copying of the agent before it.
class Bench {
 public:
  explicit Bench(unsigned position_format = 2) : format_(position_format) { append(""); }

  void append(const std::string& text) const { write(log(), text); }
  void append_lines(int count) {
    for (int i = 0; i < count; ++i)
      append("line " + std::to_string(++lines_) + "\n");
  }
  void rotate() {
    for (int age = ++rotations_; age > 1; --age) {
      fs::rename(log() + "." + std::to_string(age - 1), log() + "." + std::to_string(age));
    }
    fs::rename(log(), log() + ".1");
    old_written_us_ = now_us_;
    write(log() + ".1", "");
    append("");
  }

  [[nodiscard]] Result<Copier> try_to_take_over(std::optional<std::string> state = {}) const {
    return Copier::take_over({.input = log(),
                              .output = output(),
                              .state_directory = directory_.path(),
                              .version = "1.0.0",
                              .position_format = format_,
                              .rotate_wait_us = rotate_wait_us},
                             state, now_us_);
  }
  [[nodiscard]] Copier take_over(const std::optional<std::string>& state = {}) const {
    Result<Copier> copier = try_to_take_over(state);
    if (!copier) FAIL(copier.reason());
    return std::move(copier.value());
  }
  void copy_all(Copier& copier) const {
    while (copier.copy(now_us_).value())
      continue;
  }

  // Appends a line to the rotated log, like a writer that has not noticed the rotation yet. Does
  // nothing if the agent has stopped waiting for such late lines.
  void append_late() {
    if (rotations_ == 0 || now_us_ >= old_written_us_ + rotate_wait_us) return;
    write(log() + ".1", "line " + std::to_string(++lines_) + "\n");
    old_written_us_ = now_us_;
  }
  // Truncates the log to 0 bytes, and then appends `count` lines. Lines that have not been copied
  // are lost.
  void cut(int count) {
    fs::resize_file(log(), 0);
    append_lines(count);
  }
  void pass(std::uint64_t time_us) { now_us_ += time_us; }

  // Lets one more agent take over, which copies the rest of the log. Then compares the output with
  // the log.
  [[nodiscard]] demo::Proof finish() {
    if (rotations_ > 0) pass(rotate_wait_us);
    Copier copier = take_over();
    copy_all(copier);
    REQUIRE(copier.save());
    return demo::prove(demo::read_input(log()), demo::read_output(output()), {});
  }

  void set_format(unsigned format) { format_ = format; }
  [[nodiscard]] std::string log() const { return directory_ / "log"; }
  [[nodiscard]] std::string output() const { return directory_ / "output"; }
  [[nodiscard]] std::string position() const { return content_of(directory_ / "position"); }
  [[nodiscard]] const TemporaryDirectory& directory() const { return directory_; }

  static constexpr std::uint64_t rotate_wait_us = 5'000'000;

 private:
  // Appends to a file, and sets its time of modification to the time of the fixture's own clock.
  void write(const std::string& path, const std::string& text) const {
    std::ofstream(path, std::ios::binary | std::ios::app) << text;
    const timespec now{.tv_sec = static_cast<std::time_t>(now_us_ / 1'000'000),
                       .tv_nsec = static_cast<long>(now_us_ % 1'000'000 * 1'000)};
    const timespec times[2] = {now, now};
    if (utimensat(AT_FDCWD, path.c_str(), times, 0) != 0) std::abort();
  }

  TemporaryDirectory directory_;
  unsigned format_;
  int lines_ = 0;
  int rotations_ = 0;
  std::uint64_t now_us_ = 1'000'000'000;
  std::uint64_t old_written_us_ = 0;  // the time of the last write to the newest rotated log
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("each line becomes a record with the next number") {
  Bench bench;
  bench.append("one\ntwo\nthr");
  Copier copier = bench.take_over();

  bench.copy_all(copier);

  CHECK(content_of(bench.output()) == "1 1.0.0 1000000000 one\n2 1.0.0 1000000000 two\n");
  CHECK(copier.next() == 3);
  CHECK(copier.has_unsaved());
  CHECK(copier.save());
  CHECK_FALSE(copier.has_unsaved());
}

TEST_CASE("a turn is bounded, and says whether there is more") {
  Bench bench;
  bench.append_lines(10'000);
  Copier copier = bench.take_over();

  CHECK(copier.copy(1).value());

  CHECK(fs::file_size(bench.output()) < 70'000);
  CHECK(bench.finish().holds());
}

TEST_CASE("the work is handed over by the state") {
  Bench bench;
  bench.append_lines(5);
  Copier copier = bench.take_over();
  bench.copy_all(copier);
  REQUIRE(copier.save());

  bench.append_lines(5);
  Copier heir = bench.take_over(copier.state());
  CHECK(heir.take_reports().empty());
  bench.copy_all(heir);

  CHECK(heir.next() == 11);
  CHECK(bench.finish().holds());
}

TEST_CASE("a state that does not agree with the output is reported and not believed") {
  Bench bench;
  bench.append_lines(5);
  std::string stale;
  {
    Copier copier = bench.take_over();
    stale = copier.state();
    bench.copy_all(copier);
    REQUIRE(copier.save());
  }

  Copier heir = bench.take_over(stale);

  CHECK(heir.take_reports().size() == 1);
  CHECK(heir.next() == 6);
}

TEST_CASE("after a crash at any byte of the output nothing is lost and nothing doubled") {
  Bench bench;
  bench.append_lines(3);
  {
    Copier copier = bench.take_over();
    bench.copy_all(copier);
    REQUIRE(copier.save());
    bench.append_lines(3);
    bench.copy_all(copier);
  }
  const std::string durable = bench.position();
  const std::string whole = content_of(bench.output());
  const std::size_t saved = whole.find("4 1.0.0");

  for (std::size_t size = saved; size <= whole.size(); ++size) {
    INFO("cut to " << size << " of " << whole.size() << " bytes");
    bench.directory().write("position", durable);
    bench.directory().write("output", whole.substr(0, size));
    const demo::Proof proof = bench.finish();
    INFO(proof.text());
    CHECK(proof.holds());
    CHECK(content_of(bench.output()) == whole);
  }
}

TEST_CASE("what a power cut has left of unsynced records is cut off and written again") {
  Bench bench;
  bench.append_lines(6);
  {
    Copier copier = bench.take_over();
    bench.copy_all(copier);
  }
  std::string output = content_of(bench.output());
  SECTION("zeros in the middle") {
    output.replace(40, 30, std::string(30, '\0'));
  }
  SECTION("zeros with a newline in a record of the right number") {
    output.replace(output.find("line 2"), 6, std::string("\0\0\0\n\0\0", 6));
  }
  SECTION("another line") {
    output.replace(output.find("line 2"), 6, "line 9");
  }
  bench.directory().write("output", output);

  const demo::Proof proof = bench.finish();

  INFO(proof.text());
  CHECK(proof.holds());
}

TEST_CASE("what was recovered and what was cut is reported") {
  Bench bench;
  bench.append_lines(3);
  {
    Copier copier = bench.take_over();
    bench.copy_all(copier);
  }
  fs::resize_file(bench.output(), fs::file_size(bench.output()) - 2);

  const Texts reports = bench.take_over().take_reports();

  REQUIRE(reports.size() == 2);
  CHECK(reports[0].find("2 records") != std::string::npos);
  CHECK(reports[1].find("bytes") != std::string::npos);
}

TEST_CASE("when the input is gone, records after the position are kept and not written again") {
  Bench bench;
  bench.append_lines(5);
  {
    Copier copier = bench.take_over();
    bench.copy_all(copier);
  }
  fs::rename(bench.log(), bench.directory() / "elsewhere");
  bench.append("new\n");
  bench.directory().write("output", content_of(bench.output()) + "6 torn");

  Copier copier = bench.take_over();
  CHECK_FALSE(copier.take_reports().empty());
  bench.copy_all(copier);

  const auto output = demo::read_output(bench.output());
  REQUIRE(output.size() == 6);
  CHECK(output[4].line == "line 5");
  CHECK(output[5].line == "new");
  CHECK(output[5].number == 6);
}

TEST_CASE("an output that is shorter than the position says is refused") {
  Bench bench;
  bench.append_lines(3);
  {
    Copier copier = bench.take_over();
    bench.copy_all(copier);
    REQUIRE(copier.save());
  }
  fs::resize_file(bench.output(), 5);

  const auto copier = bench.try_to_take_over();

  REQUIRE_FALSE(copier);
  CHECK(copier.reason().find("fewer than the") != std::string::npos);
  CHECK(fs::file_size(bench.output()) == 5);
}

TEST_CASE("an output without a position is appended to, never cut") {
  Bench bench;
  bench.directory().write("output", "somebody else's\nand torn");
  bench.append_lines(1);

  Copier copier = bench.take_over();
  bench.copy_all(copier);

  CHECK(content_of(bench.output()).starts_with("somebody else's\nand torn"));
}

TEST_CASE("a crash after the log was cut doubles nothing of what was written to it since") {
  Bench bench;
  bench.append_lines(3);
  {
    Copier copier = bench.take_over();
    bench.copy_all(copier);
    bench.cut(5);
    bench.copy_all(copier);
    CHECK(copier.take_reports().size() == 1);
    bench.append_lines(1);
    bench.copy_all(copier);
  }

  Copier heir = bench.take_over();
  bench.copy_all(heir);

  const auto output = demo::read_output(bench.output());
  REQUIRE(output.size() == 9);
  for (std::size_t i = 0; i < output.size(); ++i)
    CHECK(output[i].line == "line " + std::to_string(i + 1));
}

TEST_CASE("while an old log may still be written to, the time to wait is told") {
  Bench bench;
  bench.append_lines(1);
  Copier copier = bench.take_over();
  bench.copy_all(copier);
  CHECK(copier.wait_us() == std::nullopt);

  bench.rotate();
  bench.append_lines(1);
  bench.copy_all(copier);
  CHECK(copier.next() == 2);
  CHECK(copier.wait_us() == Bench::rotate_wait_us);

  bench.pass(Bench::rotate_wait_us);
  bench.copy_all(copier);
  CHECK(copier.next() == 3);
  CHECK(copier.wait_us() == std::nullopt);
}

TEST_CASE("a new format of the position is written only when this version is told so") {
  Bench bench(1);
  bench.append_lines(1);
  {
    Copier copier = bench.take_over();
    bench.copy_all(copier);
    REQUIRE(copier.save());
  }
  bench.set_format(2);
  Copier heir = bench.take_over();
  bench.append_lines(1);
  bench.copy_all(heir);
  REQUIRE(heir.save());
  CHECK(bench.position().starts_with("sample-agent position 1\n"));
  CHECK(heir.state().starts_with("sample-agent position 1\n"));

  heir.use_newest_format();
  REQUIRE(heir.save());

  CHECK(bench.position().starts_with("sample-agent position 2\n"));
  bench.set_format(1);
  CHECK_FALSE(bench.try_to_take_over());
}

TEST_CASE("through crashes, hand-overs and rotations at random, each line is copied once") {
  const unsigned seed = GENERATE(range(0U, 30U));
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto chance = [&random](unsigned of) { return random() % of == 0; };
  Bench bench;
  std::optional<Copier> copier = bench.take_over();
  std::size_t safe = 0;  // the size of the output when it was last synced, in bytes

  for (int step = 0; step < 300; ++step) {
    if (chance(2)) bench.append_lines(static_cast<int>(random() % 5));
    if (chance(10)) bench.append("half a line, and ");
    if (chance(12)) bench.rotate();
    if (chance(3)) bench.append_late();
    if (chance(4)) bench.pass(random() % (2 * Bench::rotate_wait_us));
    if (chance(2)) bench.copy_all(*copier);
    if (chance(5)) {
      REQUIRE(copier->save());
      safe = fs::file_size(bench.output());
    }
    if (chance(20)) {
      REQUIRE(copier->save());
      const std::string state = copier->state();
      copier.reset();
      copier = bench.take_over(state);
    }
    if (chance(10)) {
      const std::string position = bench.position();
      copier.reset();
      const auto found = decode_position(position, 2);
      safe = static_cast<std::size_t>(found.value().position.output_size);
      const std::size_t size = fs::file_size(bench.output());
      fs::resize_file(bench.output(), safe + random() % (size - safe + 1));
      copier = bench.take_over();
    }
  }
  copier.reset();
  bench.append_lines(1);

  const demo::Proof proof = bench.finish();
  INFO(proof.text());
  CHECK(proof.lines_in > 100);
  CHECK(proof.holds());
}

}  // namespace sample_copier_test
