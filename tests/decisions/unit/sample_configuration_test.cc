// Tests the sample agent's command line and its start-up checks.
#include <sys/resource.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <csignal>

#include "sample-agent/configuration.h"
#include "sample-agent/start_checks.h"
#include "tests/support/temporary_directory.h"

namespace sample_configuration_test {

using namespace sample_agent;

namespace {

using Views = std::vector<std::string_view>;

const Views least{"--input=i", "--output=o", "--state=s"};

Views least_and(std::string_view argument) {
  Views arguments = least;
  arguments.push_back(argument);
  return arguments;
}

std::string refusal(const Views& arguments) {
  const auto parsed = parse_arguments(arguments);
  REQUIRE_FALSE(parsed);
  return parsed.reason();
}

// A directory with everything that the sample agent's start-up checks demand, so that all checks
// pass.
struct Place {
  Place() {
    directory.write("log", "one\n", 0644);
    std::filesystem::create_directory(directory / "state");
    configuration.input = directory / "log";
    configuration.output = directory / "output";
    configuration.state_directory = directory / "state";
  }

  // Returns the first start-up check that fails, as "NAME: reason", or "" if none fails.
  [[nodiscard]] std::string first_failure(unsigned format = 2) const {
    for (const StartCheck& check : start_checks(configuration, format)) {
      if (const auto wrong = check.run()) return check.name + ": " + *wrong;
    }
    return "";
  }

  TemporaryDirectory directory;
  Configuration configuration;
};

}  // namespace

TEST_CASE("paths are taken as they are, and the rest has its defaults") {
  const auto parsed = parse_arguments(least);

  REQUIRE(parsed);
  CHECK(parsed.value().task == Task::run);
  CHECK(parsed.value().input == "i");
  CHECK(parsed.value().output == "o");
  CHECK(parsed.value().state_directory == "s");
  CHECK(parsed.value().releases.empty());
  CHECK(parsed.value().events.empty());
  CHECK(parsed.value().rotate_wait_ms == 5'000);
  CHECK_FALSE(parsed.value().confirms_gate);
  CHECK_FALSE(parsed.value().commits_healthy);
}

TEST_CASE("a duration is 0, or a number and a unit, of at most a day") {
  const auto wait_ms = [](std::string_view argument) {
    return parse_arguments(least_and(argument)).value().rotate_wait_ms;
  };
  CHECK(wait_ms("--rotate-wait=0") == 0);
  CHECK(wait_ms("--rotate-wait=250ms") == 250);
  CHECK(wait_ms("--rotate-wait=3s") == 3'000);
  CHECK(wait_ms("--rotate-wait=2m") == 120'000);
  CHECK(wait_ms("--rotate-wait=24h") == 86'400'000);
}

TEST_CASE("every option is taken") {
  Views arguments = least_and("--releases=r=1");
  for (const char* more : {"--gate=confirm", "--commit=healthy", "--events=e", "--self-test"}) {
    arguments.emplace_back(more);
  }
  const auto parsed = parse_arguments(arguments);

  REQUIRE(parsed);
  CHECK(parsed.value().releases == "r=1");
  CHECK(parsed.value().events == "e");
  CHECK(parsed.value().confirms_gate);
  CHECK(parsed.value().commits_healthy);
  CHECK(parsed.value().task == Task::self_test);
}

TEST_CASE("help and version need nothing else") {
  CHECK(parse_arguments(Views{"--help"}).value().task == Task::show_help);
  CHECK(parse_arguments(Views{"--version"}).value().task == Task::show_version);
}

TEST_CASE("an argument that is not known is refused by its name") {
  for (const char* unknown : {"--colour", "more", "", "--input=", "--input", "--gate=open",
                              "--commit=", "--self-test=1", "-v", "--"}) {
    INFO(unknown);
    CHECK(refusal(least_and(unknown)) == std::string("unknown argument ") + unknown);
  }
  for (const char* wrong :
       {"--rotate-wait=", "--rotate-wait=5", "--rotate-wait=s", "--rotate-wait=-1s",
        "--rotate-wait=25h", "--rotate-wait=1d", "--rotate-wait=1s "}) {
    CHECK(refusal(least_and(wrong)) == wrong + std::string(" is no duration such as 5s or 2m"));
  }
}

TEST_CASE("an argument that is missing is named") {
  CHECK(refusal({}) == "missing argument --input=");
  CHECK(refusal({"--input=i", "--state=s"}) == "missing argument --output=");
  CHECK(refusal({"--input=i", "--output=o"}) == "missing argument --state=");
  CHECK(refusal(least_and("--gate=confirm")) == "--gate=confirm needs --releases=");
}

TEST_CASE("the help names every option") {
  for (const char* option :
       {"--input=", "--output=", "--state=", "--releases=", "--gate=confirm",
        "--rotate-wait=", "--commit=healthy", "--events=", "--self-test", "--version"}) {
    INFO(option);
    CHECK(help_text().find(option) != std::string_view::npos);
  }
}

TEST_CASE("if all is well, the checks pass and change nothing") {
  const Place place;
  CHECK(place.first_failure() == "");
  CHECK_FALSE(std::filesystem::exists(place.configuration.output));
  place.directory.write("output", "", 0644);
  CHECK(place.first_failure() == "");
}

TEST_CASE("the configuration is checked first") {
  Place place;
  SECTION("the state directory is missing") {
    place.configuration.state_directory = place.directory / "missing";
  }
  SECTION("the state directory is a file") {
    place.configuration.state_directory = place.directory / "log";
  }
  SECTION("the output is the input") {
    place.configuration.output = place.configuration.input;
  }
  CHECK(place.first_failure().starts_with("configuration: "));
}

TEST_CASE("the releases that are to be followed must be there") {
  Place place;
  place.configuration.releases = place.directory / "missing";
  CHECK(place.first_failure().starts_with("connection: "));
}

// The sample agent cannot follow a directory that others may write. Without this check at the
// start, the agent would be activated, and would only then exit.
TEST_CASE("releases that others may write are found before the agent gets the work") {
  Place place;
  place.configuration.releases = place.directory / "releases";
  REQUIRE(::mkdir(place.configuration.releases.c_str(), 0755) == 0);
  CHECK(place.first_failure() == "");

  REQUIRE(::chmod(place.configuration.releases.c_str(), 0775) == 0);

  CHECK(place.first_failure() == "connection: " + place.configuration.releases +
                                     " can be written by others than its owner: chmod go-w " +
                                     place.configuration.releases);
}

TEST_CASE("an input that is not there makes unfit, unless it has been read before") {
  Place place;
  place.configuration.input = place.directory / "missing";
  CHECK(place.first_failure() ==
        "input: cannot find " + (place.directory / "missing") + ": No such file or directory");

  place.directory.write("state/position",
                        "sample-agent position 1\ninput 1 2 3\nnext 1\noutput 0\n");

  CHECK(place.first_failure() == "");
}

TEST_CASE("an input that is no regular file makes unfit") {
  Place place;
  place.configuration.input = place.directory / "pipe";
  REQUIRE(::mkfifo(place.configuration.input.c_str(), 0600) == 0);

  CHECK(place.first_failure() == "input: " + (place.directory / "pipe") + " is not a regular file");
}

TEST_CASE("an output that cannot be made or is no file makes unfit") {
  Place place;
  place.configuration.output = place.directory / "missing/output";
  CHECK(place.first_failure().starts_with("output: cannot write to "));
  place.configuration.output = place.directory / "state";
  CHECK(place.first_failure() ==
        "output: " + (place.directory / "state") + " is not a regular file");
}

TEST_CASE("without room for the next records, or for a position, the agent is unfit") {
  // Makes writes fail as on a full disk, by a limit on the size of files. tests/delivery/places
  // fills a real disk.
  class FileSizeLimit {
   public:
    explicit FileSizeLimit(rlim_t bytes) {
      getrlimit(RLIMIT_FSIZE, &before_);
      const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;
    ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

   private:
    rlimit before_{};
  };
  std::signal(SIGXFSZ, SIG_IGN);
  Place place;
  std::filesystem::create_directory(place.directory / "out");
  place.configuration.output = place.directory / "out/output";
  const auto failure_within = [&place](rlim_t bytes) {
    const FileSizeLimit limit(bytes);
    return place.first_failure();
  };

  CHECK(failure_within(1'000'000) == "");
  CHECK(failure_within(10'000) ==
        "room: no 65536 bytes can be written in " + (place.directory / "out") + ": File too large");
  CHECK(failure_within(1'000) == "room: no 4096 bytes can be written in " +
                                     (place.directory / "state") + ": File too large");
  CHECK(std::filesystem::is_empty(place.directory / "out"));
  CHECK(std::filesystem::is_empty(place.directory / "state"));
}

TEST_CASE("the room is looked for where the output really lies") {
  Place place;
  std::filesystem::create_directory(place.directory / "out");
  place.directory.write("out/copy", "", 0644);
  place.configuration.output = place.directory.link("output", "out/copy");

  CHECK(place.first_failure() == "");
}

TEST_CASE("a position that is newer than this version, or damaged, makes unfit") {
  Place place;
  place.directory.write("state/position",
                        "sample-agent position 2\ninput 1 2 3\nnext 1\noutput 0\nmark 1\n");
  CHECK(place.first_failure(2) == "");
  CHECK(place.first_failure(1) ==
        "position: the position has format 2, this version knows formats up to 1");
  place.directory.write("state/position", "");
  CHECK(place.first_failure(2) == "position: the position is damaged");
}

}  // namespace sample_configuration_test
