// Tests the variables into which the codec reads the members of a message. If a member is refused,
// its variable must keep its old value, whether the member is optional or not.
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent-protocol/cpp/wire/archive.h"
#include "agent-protocol/cpp/wire/serialize.h"

namespace archive_destinations_test {

using namespace agent_protocol;

namespace {

// A message with required members, one for each rule of member.h.
struct Required {
  std::string text = "old";
  std::int64_t number = 9;
  bool truth = true;
  std::vector<std::string> texts = {"old"};
  Mode name = Mode::sequential;
  Extend object = {.ms = 9};
  bool operator==(const Required&) const = default;
};

struct Optional {
  std::optional<std::string> text;
  std::optional<std::int64_t> number;
  std::optional<bool> truth;
  std::optional<std::vector<std::string>> texts;
  std::optional<Mode> name;
  std::optional<Extend> object;
  bool operator==(const Optional&) const = default;
};

constexpr TextRule short_rule{.bytes_max = 3};
constexpr RangeRule digit_rule{.min = 1, .max = 9};
constexpr TextsRule pair_rule{.count_max = 2, .each = short_rule};

template <class Archive, class Members>
void read_members(Archive& archive, Members& members) {
  archive(cereal::make_nvp("text", Member{members.text, short_rule}),
          cereal::make_nvp("number", Member{members.number, digit_rule}),
          cereal::make_nvp("truth", Member{members.truth, truth_rule}),
          cereal::make_nvp("texts", Member{members.texts, pair_rule}),
          cereal::make_nvp("name", Member{members.name, name_rule<Mode>}),
          cereal::make_nvp("object", Member{members.object, object_rule}));
}

template <class Archive>
void serialize(Archive& archive, Required& members) {
  read_members(archive, members);
}

template <class Archive>
void serialize(Archive& archive, Optional& members) {
  read_members(archive, members);
}

using Values = std::vector<std::pair<std::string, std::string>>;

const Values good = {{"text", "\"new\""},  {"number", "5"},          {"truth", "false"},
                     {"texts", "[\"b\"]"}, {"name", "\"parallel\""}, {"object", R"({"ms":5})"}};

const Values bad = {
    {"text", "1"},           {"text", "\"long\""},   {"text", R"("\u0000")"},
    {"number", "\"1\""},     {"number", "0"},        {"number", "10"},
    {"number", "1.5"},       {"truth", "1"},         {"texts", "\"b\""},
    {"texts", R"([1,"b"])"}, {"texts", "[\"b\",1]"}, {"texts", R"(["b","c","d"])"},
    {"texts", "[\"long\"]"}, {"name", "0"},          {"name", "\"Parallel\""},
    {"object", "5"},
};

// Returns a line in which every member has a good value, except that the member `name` has `value`.
std::string line_with(const std::string& name, const std::string& value) {
  std::string line;
  for (const auto& [other, good_value] : good) {
    line += line.empty() ? "{" : ",";
    line += '"' + other + "\":" + (other == name ? value : good_value);
  }
  return line + "}";
}

struct Outcome {
  Required required;
  Optional optional;
  bool is_refused;
};

Outcome outcome_of(const std::string& line) {
  const Result<JsonLine> parsed = JsonLine::parse(line);
  REQUIRE(parsed);
  Outcome outcome;
  ReadingArchive required(parsed.value());
  serialize(required, outcome.required);
  ReadingArchive optional(parsed.value());
  serialize(optional, outcome.optional);
  REQUIRE(required.refusal() == optional.refusal());
  outcome.is_refused = required.refusal().has_value();
  return outcome;
}

// Returns `read` with the old value of the member `name`. This is the expected result if that
// member was refused, and all other members were read.
template <class Members>
Members without(const std::string& name, Members read) {
  const Members before;
  if (name == "text") read.text = before.text;
  if (name == "number") read.number = before.number;
  if (name == "truth") read.truth = before.truth;
  if (name == "texts") read.texts = before.texts;
  if (name == "name") read.name = before.name;
  if (name == "object") read.object = before.object;
  return read;
}

}  // namespace

TEST_CASE("well-formed members are read, each into its place") {
  const Outcome outcome = outcome_of(line_with("", ""));

  CHECK_FALSE(outcome.is_refused);
  CHECK(outcome.required == Required{.text = "new",
                                     .number = 5,
                                     .truth = false,
                                     .texts = {"b"},
                                     .name = Mode::parallel,
                                     .object = {.ms = 5}});
  CHECK(outcome.optional == Optional{.text = "new",
                                     .number = 5,
                                     .truth = false,
                                     .texts = std::vector<std::string>{"b"},
                                     .name = Mode::parallel,
                                     .object = Extend{.ms = 5}});
}

TEST_CASE("a refused member leaves its destination as it was, and the others are read") {
  const Outcome all_read = outcome_of(line_with("", ""));
  for (const auto& [name, value] : bad) {
    CAPTURE(name, value);
    const Outcome outcome = outcome_of(line_with(name, value));

    CHECK(outcome.is_refused);
    CHECK(outcome.required == without(name, all_read.required));
    CHECK(outcome.optional == without(name, all_read.optional));
  }
}

TEST_CASE("behind an object within a message its own members are written and read") {
  Welcome welcome;
  welcome.failure.emplace().failure = {.id = "u",
                                       .stage = Stage::trial,
                                       .reason = "",
                                       .exit_status = {},
                                       .signal = {},
                                       .errno_name = {}};
  welcome.watchdog_ms = 0;
  WritingArchive archive("welcome");

  archive.write_all(welcome);

  CHECK(archive.refusal().value_or("").starts_with("\"watchdog_ms\" is 0"));
}

TEST_CASE("a value that has no name is not written") {
  Upgrade upgrade{};
  upgrade.id = "u";
  upgrade.executable = "/x";
  upgrade.mode = static_cast<Mode>(2);
  WritingArchive archive("upgrade");

  archive.write_all(upgrade);

  CHECK(archive.refusal() == R"("mode" must be "parallel" or "sequential")");
}

}  // namespace archive_destinations_test
