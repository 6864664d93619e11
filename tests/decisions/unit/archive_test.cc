// Tests the permitted values of each member of each message. The table in this file is written by
// hand from the protocol page. Each member is tried with values at its limits and beyond its
// limits, and with every kind of malformed value. If the codec refuses a member, it must leave the
// variable for this member as it was, even if the member is optional.
#include "agent-protocol/cpp/wire/archive.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agent-protocol/cpp/wire/codec.h"
#include "agent-protocol/cpp/wire/serialize.h"

namespace archive_test {

using namespace agent_protocol;

namespace {

enum class Holds { text, id, path, number, name, truth, texts, object };
enum class Presence { required, optional };

struct Row {
  std::string type;
  std::string others;  // JSON of the other required members, each with a comma
  std::string name;
  Holds holds;
  Presence presence;
  // The minimum of a number, or the maximum number of strings in a list.
  std::int64_t min = 0;
  // The maximum of a number, or the maximum number of bytes of a string or of each string in a
  // list. 0 means no limit.
  std::int64_t max = 0;
};

constexpr std::int64_t day = 86'400'000;
constexpr std::int64_t exact = 9'007'199'254'740'991;
constexpr auto required = Presence::required;
constexpr auto optional = Presence::optional;

const std::string upgrade_others = R"("id":"u","executable":"/x",)";
const std::string welcome_others = R"("protocol":1,"features":[],"generation":1,"role":"first",)";
const std::string failure_others = R"("id":"u","stage":"stop","reason":"",)";

const std::vector<Row> rows = {
    {"hello", "", "protocol", Holds::number, required, 1, 2'147'483'647},
    {"hello", R"("protocol":1,)", "version", Holds::text, optional, 0, 128},
    {"hello", R"("protocol":1,)", "features", Holds::texts, optional, 16, 32},
    {"unfit", "", "reason", Holds::text, required, 0, 1'024},
    {"upgrade", R"("executable":"/x",)", "id", Holds::id, required, 0, 64},
    {"upgrade", R"("id":"u",)", "executable", Holds::path, required, 0, 4'095},
    {"upgrade", upgrade_others, "args", Holds::texts, optional, 1'024, 0},
    {"upgrade", upgrade_others, "mode", Holds::name, optional},
    {"upgrade", upgrade_others, "gate", Holds::name, optional},
    {"upgrade", upgrade_others, "commit", Holds::name, optional},
    {"upgrade", upgrade_others, "start_timeout_ms", Holds::number, optional, 0, day},
    {"upgrade", upgrade_others, "confirm_timeout_ms", Holds::number, optional, 0, day},
    {"upgrade", upgrade_others, "stop_timeout_ms", Holds::number, optional, 1, day},
    {"upgrade", upgrade_others, "trial_ms", Holds::number, optional, 0, day},
    {"upgrade", upgrade_others, "on_unclean_stop", Holds::name, optional},
    {"upgrade", upgrade_others, "fallback", Holds::name, optional},
    {"confirm", "", "id", Holds::id, required, 0, 64},
    {"cancel", "", "id", Holds::id, required, 0, 64},
    {"cancel", R"("id":"u",)", "reason", Holds::text, optional, 0, 1'024},
    {"stopped", "", "state", Holds::text, optional, 0, 32'768},
    {"extend", "", "ms", Holds::number, required, 1, day},
    {"status", "", "text", Holds::text, required, 0, 256},
    {"welcome", R"("features":[],"generation":1,"role":"first",)", "protocol", Holds::number,
     required, 1, 2'147'483'647},
    {"welcome", R"("protocol":1,"generation":1,"role":"first",)", "features", Holds::texts,
     required, 16, 32},
    {"welcome", R"("protocol":1,"features":[],"role":"first",)", "generation", Holds::number,
     required, 1, exact},
    {"welcome", R"("protocol":1,"features":[],"generation":1,)", "role", Holds::name, required},
    {"welcome", welcome_others, "previous_version", Holds::text, optional, 0, 128},
    {"welcome", welcome_others, "failure", Holds::object, optional},
    {"welcome", welcome_others, "watchdog_ms", Holds::number, optional, 1, exact},
    {"activate", R"("clean":true,)", "state", Holds::text, optional, 0, 32'768},
    {"activate", "", "clean", Holds::truth, required},
    {"activate", R"("clean":true,)", "failure", Holds::object, optional},
    {"stop", R"("deadline_ms":1,)", "reason", Holds::name, required},
    {"stop", R"("reason":"shutdown",)", "deadline_ms", Holds::number, required, 1, exact},
    {"stop", R"("reason":"shutdown","deadline_ms":1,)", "id", Holds::id, optional, 0, 64},
    {"stop", R"("reason":"shutdown","deadline_ms":1,)", "generation", Holds::number, optional, 1,
     exact},
    {"accepted", R"("generation":1,)", "id", Holds::id, required, 0, 64},
    {"accepted", R"("id":"u",)", "generation", Holds::number, required, 1, exact},
    {"candidate_ready", R"("generation":1,)", "id", Holds::id, required, 0, 64},
    {"candidate_ready", R"("id":"u",)", "generation", Holds::number, required, 1, exact},
    {"candidate_ready", R"("id":"u","generation":1,)", "version", Holds::text, optional, 0, 128},
    {"candidate_lost", R"("reason":"",)", "id", Holds::id, required, 0, 64},
    {"candidate_lost", R"("id":"u",)", "reason", Holds::text, required},
    {"upgrade_failed", R"("stage":"stop","reason":"",)", "id", Holds::id, required, 0, 64},
    {"upgrade_failed", R"("id":"u","reason":"",)", "stage", Holds::text, required},
    {"upgrade_failed", R"("id":"u","stage":"stop",)", "reason", Holds::text, required, 0, 1'024},
    {"upgrade_failed", failure_others, "exit_status", Holds::number, optional, -exact, exact},
    {"upgrade_failed", failure_others, "signal", Holds::number, optional, -exact, exact},
    {"upgrade_failed", failure_others, "errno", Holds::text, optional},
    {"committed", R"("generation":1,)", "id", Holds::id, required, 0, 64},
    {"committed", R"("id":"u",)", "generation", Holds::number, required, 1, exact},
    {"error", R"("reason":"",)", "about", Holds::text, optional, 0, 64},
    {"error", "", "reason", Holds::text, required, 0, 1'024},
};

constexpr auto well_formed = "";

// Returns, as text, the result of decoding a line: `well_formed`, or the reason why the line was
// refused.
template <class Message>
std::string judged(const Decoded<Message>& decoded) {
  if (std::holds_alternative<Message>(decoded)) return well_formed;
  if (const auto* malformed = std::get_if<Malformed>(&decoded)) return malformed->reason;
  return std::holds_alternative<Stray>(decoded) ? "stray" : "unknown";
}

std::string judged(const std::string& line) {
  const std::string from_agent = judged(decode_agent_message(line));
  return from_agent == "unknown" ? judged(decode_upgrader_message(line)) : from_agent;
}

std::string judged(const Row& row, const std::string& value) {
  return judged("{" + row.others + "\"type\":\"" + row.type + "\",\"" + row.name + "\":" + value +
                "}");
}

std::string named(const Row& row, const std::string& fault) {
  return '"' + row.name + "\" " + fault;
}

std::string quoted(const std::string& text) {
  return '"' + text + '"';
}

bool is_text(const Row& row) {
  return row.holds == Holds::text || row.holds == Holds::id || row.holds == Holds::path;
}

// Returns a string of `bytes` bytes that is a valid value for the member in this row.
std::string text_of(const Row& row, std::int64_t bytes) {
  const std::string text(static_cast<std::size_t>(bytes), 'x');
  return row.holds == Holds::path ? "/" + text.substr(1) : text;
}

std::string array_of(std::int64_t count, const std::string& element) {
  std::string array = "[";
  for (std::int64_t i = 0; i < count; ++i)
    array += (i > 0 ? "," : "") + element;
  return array + "]";
}

}  // namespace

TEST_CASE("a required member may not be absent, an optional one may") {
  for (const Row& row : rows) {
    CAPTURE(row.type, row.name);
    const std::string reason = judged("{" + row.others + "\"type\":\"" + row.type + "\"}");

    CHECK(reason == (row.presence == required ? named(row, "is missing") : well_formed));
  }
}

TEST_CASE("a member that is given twice is malformed, whatever the two hold") {
  for (const Row& row : rows) {
    CAPTURE(row.type, row.name);
    CHECK(judged(row, "1,\"" + row.name + "\":1") == named(row, "is given twice"));
    const std::string respelled = "\\u00" + std::string(row.name[0] < 'p' ? "6" : "7") +
                                  "0123456789abcdef"[row.name[0] & 0xf] + row.name.substr(1);
    CHECK(judged(row, "{},\"" + respelled + "\":null") == named(row, "is given twice"));
  }
}

TEST_CASE("a member of another JSON type is malformed, null included") {
  using Kinds = std::vector<std::pair<std::string, std::string>>;
  const Kinds kinds = {{"null", "null"},    {"true", "a boolean"}, {"1", "a number"},
                       {"\"x\"", "a text"}, {"[]", "an array"},    {"{}", "an object"}};
  const std::vector<std::string> wanted = {"a text",
                                           "a text",
                                           "a text",
                                           "a whole number",
                                           "a text",
                                           "true or false",
                                           "an array of texts",
                                           "an object"};
  const std::vector<std::string> own = {"a text", "a text",    "a text",   "a number",
                                        "a text", "a boolean", "an array", "an object"};
  for (const Row& row : rows) {
    const auto holds = static_cast<std::size_t>(row.holds);
    for (const auto& [value, kind] : kinds) {
      if (kind == own[holds]) continue;
      CAPTURE(row.type, row.name, value);
      CHECK(judged(row, value) == named(row, "is " + kind + "; it must be " + wanted[holds]));
    }
  }
}

TEST_CASE("a number is taken up to its limits and no further") {
  for (const Row& row : rows) {
    if (row.holds != Holds::number) continue;
    CAPTURE(row.type, row.name);
    const std::string range = std::to_string(row.min) + " to " + std::to_string(row.max);

    CHECK(judged(row, std::to_string(row.min)) == well_formed);
    CHECK(judged(row, std::to_string(row.max)) == well_formed);
    for (const std::int64_t beyond : {row.min - 1, row.max + 1, -exact - 1, exact + 1}) {
      const std::string number = std::to_string(beyond);
      CHECK(judged(row, number) == named(row, "is " + number + "; it must be " + range));
    }
  }
}

TEST_CASE("a number with a fraction or an exponent, or too long for any range, is malformed") {
  const std::string number = GENERATE(
      "1.0", "1e0", "1E2", "1e+2", "10e-1", "1.5", "0.0", "0e0", "-0.0", "1e999", "-1e999",
      "1e-999", "99999999999999999999", "-99999999999999999999", "9223372036854775808",
      "18446744073709551616", "1000000000000000000000000000000000000000000000",
      "0.1e-99999999999999999999", "1.0000000000000000000000000000000000000000000000000000001");
  for (const Row& row : rows) {
    if (row.holds != Holds::number) continue;
    CAPTURE(row.type, row.name, number);
    CHECK(judged(row, number) ==
          named(row, "is no whole number from " + std::to_string(row.min) + " to " +
                         std::to_string(row.max) + ", written without fraction and exponent"));
  }
}

TEST_CASE("minus zero is zero: it has neither fraction nor exponent") {
  CHECK(judged(R"({"type":"extend","ms":-0})") == R"("ms" is 0; it must be 1 to 86400000)");
  const Decoded<AgentMessage> upgrade =
      decode_agent_message(R"({"type":"upgrade","id":"u","executable":"/x","trial_ms":-0})");
  REQUIRE(std::holds_alternative<AgentMessage>(upgrade));
  CHECK(std::get<Upgrade>(std::get<AgentMessage>(upgrade)).trial_ms == 0);
}

TEST_CASE("a text is taken up to its limit in bytes, unescaped, and no further") {
  for (const Row& row : rows) {
    if (!is_text(row) || row.max == 0) continue;
    CAPTURE(row.type, row.name);
    const std::string fault = named(row, "is longer than " + std::to_string(row.max) + " bytes");

    CHECK(judged(row, quoted(text_of(row, row.max))) == well_formed);
    CHECK(judged(row, quoted(text_of(row, row.max + 1))) == fault);
    CHECK(judged(row, quoted(text_of(row, row.max - 1) + "\\u0061")) == well_formed);
    CHECK(judged(row, quoted(text_of(row, row.max - 1) + "\xc3\xa9")) == fault);
  }
}

TEST_CASE("a text without a limit of its own fills a line") {
  for (const Row& row : rows) {
    if (row.holds != Holds::text || row.max != 0) continue;
    CAPTURE(row.type, row.name);
    CHECK(judged(row, quoted(std::string(65'400, 'x'))) == well_formed);
  }
}

TEST_CASE("a text with U+0000 or a lone surrogate is malformed") {
  const std::string bad =
      GENERATE("\\u0000", "\\ud800", "\\uDBFF", "\\udc00", "\\uDFFF", "\\ud800\\ud800",
               "\\udc00\\ud800", "\\udc00\\udc00", "\\ue000\\udc00", "A\\udc00", "\\u0041\\udc00",
               "\\ud800x", "\\ud800\\n", "\\ud83d\\u0041", "\\ud800\\ud83d\\ude00", "\\\\\\ud800");
  for (const Row& row : rows) {
    CAPTURE(row.type, row.name, bad);
    const std::string fault = "holds U+0000 or a lone surrogate";
    if (is_text(row)) CHECK(judged(row, quoted("/" + bad)) == named(row, fault));
    if (row.holds == Holds::texts) {
      CHECK(judged(row, "[\"" + bad + "\"]") == "an element of " + named(row, fault));
    }
  }
}

TEST_CASE("a pair of surrogates and an escaped backslash before u are as good as any text") {
  CHECK(judged(R"({"type":"status","text":"\ud83d\ude00 \uD83D\uDE00 \\ud800 \\\\udc00"})") ==
        well_formed);
}

TEST_CASE("an id is printable ASCII, at least one byte of it") {
  const std::string bad = GENERATE("", "\\n", "\\u001f", "\x7f", "\xc3\xa9", "u\\t");
  for (const Row& row : rows) {
    if (row.holds != Holds::id) continue;
    CAPTURE(row.type, bad);
    CHECK(judged(row, quoted(" ~")) == well_formed);
    CHECK(judged(row, quoted(bad)) == named(row, "is not printable ASCII of at least one byte"));
  }
}

TEST_CASE("an executable is an absolute path") {
  for (const Row& row : rows) {
    if (row.holds != Holds::path) continue;
    CHECK(judged(row, quoted("/")) == well_formed);
    for (const std::string bad : {"", "x", "./x", " /x", "~/x"}) {
      CHECK(judged(row, quoted(bad)) == named(row, "is no absolute path"));
    }
  }
}

TEST_CASE("a name that is none of those on the page is malformed") {
  for (const Row& row : rows) {
    if (row.holds != Holds::name) continue;
    for (const std::string bad : {"", "x", "Parallel", "none ", "first\\u0000", "\\ud800"}) {
      CAPTURE(row.type, row.name, bad);
      CHECK(judged(row, quoted(bad)).starts_with(named(row, "must be \"")));
    }
  }
  CHECK(judged(R"({"type":"upgrade","id":"u","executable":"/x","mode":"x"})") ==
        R"("mode" must be "parallel" or "sequential")");
  CHECK(judged(R"({"type":"stop","deadline_ms":1,"reason":"x"})") ==
        R"("reason" must be "upgrade", "rollback" or "shutdown")");
}

TEST_CASE("an array holds texts only, and no more than its limit") {
  for (const Row& row : rows) {
    if (row.holds != Holds::texts) continue;
    CAPTURE(row.type, row.name);
    const std::string fault = "holds more than " + std::to_string(row.min) + " texts";

    CHECK(judged(row, "[]") == well_formed);
    CHECK(judged(row, array_of(row.min, "\"\"")) == well_formed);
    CHECK(judged(row, array_of(row.min + 1, "\"\"")) == named(row, fault));
    for (const std::string other : {"null", "1", "true", "[]", "{}", "[\"x\"]"}) {
      CHECK(judged(row, "[\"x\"," + other + "]").starts_with("an element of \"" + row.name));
    }
    const std::string longest(static_cast<std::size_t>(row.max == 0 ? 65'000 : row.max), 'x');
    CHECK(judged(row, "[\"" + longest + "\"]") == well_formed);
    if (row.max > 0) CHECK(judged(row, "[\"" + longest + "x\"]") != well_formed);
  }
}

TEST_CASE("a state is limited as it is written, too") {
  const std::string type = GENERATE(R"("type":"stopped")", R"("type":"activate","clean":true)");
  const std::string fault = R"("state" is longer than 65000 bytes when it is escaped)";
  const auto state = [&type](const std::string& text) {
    return judged("{" + type + ",\"state\":\"" + text + "\"}");
  };
  std::string quotes;
  for (int i = 0; i < 32'500; ++i)
    quotes += "\\\"";

  CHECK(state(quotes) == well_formed);
  CHECK(state(quotes + "x") == fault);
  CHECK(state(std::string(32'768, '/')) == well_formed);
}

TEST_CASE("what only the sequential mode, or a trial of no time, makes wrong is malformed") {
  const std::string upgrade = R"({"type":"upgrade","id":"u","executable":"/x",)";
  CHECK(judged(upgrade + R"("gate":"confirm"})") == well_formed);
  CHECK(judged(upgrade + R"("gate":"none","mode":"sequential"})") == well_formed);
  CHECK(judged(upgrade + R"("gate":"confirm","mode":"sequential"})") ==
        R"("gate" is "confirm"; that needs "mode" to be "parallel")");
  CHECK(judged(upgrade + R"("commit":"healthy"})") == well_formed);
  CHECK(judged(upgrade + R"("commit":"later"})").starts_with(R"("commit" must be)"));
  CHECK(judged(upgrade + R"("commit":"survive","trial_ms":0})") == well_formed);
  CHECK(judged(upgrade + R"("commit":"healthy","trial_ms":0})") ==
        R"("commit" is "healthy"; that needs "trial_ms" not to be 0)");
}

TEST_CASE("a stop for an upgrade names it; a standby is welcomed before anything has failed") {
  const std::string stop = R"({"type":"stop","reason":"upgrade","deadline_ms":1)";
  const std::string fault = R"("reason" is "upgrade"; that needs "id" and "generation")";
  CHECK(judged(stop + R"(,"id":"u","generation":2})") == well_formed);
  CHECK(judged(stop + R"(,"id":"u"})") == fault);
  CHECK(judged(stop + R"(,"generation":2})") == fault);
  CHECK(
      judged(R"({"type":"welcome","protocol":1,"features":[],"generation":1,"role":"fallback"})") ==
      well_formed);
}

TEST_CASE("the members of a failure are judged like those of a message") {
  const auto welcome = [](const std::string& members) {
    return judged(R"({"type":"welcome","protocol":1,"features":[],"generation":1,"id":5,)"
                  R"("role":"fallback","failure":{)" +
                  members + R"(},"stage":5})");
  };
  const std::string good = R"("id":"u","stage":"spawn","reason":"")";
  CHECK(welcome(good) == well_formed);
  CHECK(welcome(good + R"(,"type":1,"errno":"EIO","version":"2","x":null)") == well_formed);
  CHECK(welcome("") == R"("failure.id" is missing)");
  CHECK(welcome(good + R"(,"id":"u")") == R"("failure.id" is given twice)");
  CHECK(welcome(good + R"(,"version":")" + std::string(129, 'x') + '"') ==
        R"("failure.version" is longer than 128 bytes)");
  CHECK(welcome(R"("id":"u","stage":"later","reason":"")") == well_formed);
  CHECK(welcome(R"("id":"u","stage":5,"reason":"")").starts_with(R"("failure.stage" is a number)"));
  CHECK(welcome(good + R"(},"watchdog_ms":0,"x":{)").starts_with(R"("watchdog_ms" is 0)"));
}

TEST_CASE("an array or an object that is not known hides nothing and shows nothing") {
  const std::string hidden = R"("x":[{"ms":1},"ms",["ms",1]],"y":{"ms":1,"type":"x"})";
  CHECK(judged(R"({"type":"extend",)" + hidden + "}") == R"("ms" is missing)");
  CHECK(judged("{" + hidden + R"(,"type":"extend","ms":2})") == well_formed);
  CHECK(judged(R"({"x":"ms","type":"extend","ms":2})") == well_formed);
}

TEST_CASE("the refusal names the fault that comes first in the order of the page") {
  CHECK(judged(R"({"trial_ms":-1,"executable":"x","id":"","type":"upgrade"})")
            .starts_with("\"id\" is not"));
  CHECK(judged(R"({"trial_ms":-1,"executable":"x","id":"u","type":"upgrade"})")
            .starts_with("\"executable\" is no"));
  CHECK(judged(R"({"type":"upgrade_failed","id":"u","stage":"stop","reason":"","signal":"",)"
               R"("exit_status":""})")
            .starts_with("\"exit_status\" is"));
}

// ---- the variables into which members are read

namespace {

// A message for these tests. It has one required member for each rule of member.h (text, number,
// list and so on).
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
  ReadingArchive of_required(parsed.value());
  serialize(of_required, outcome.required);
  ReadingArchive of_optional(parsed.value());
  serialize(of_optional, outcome.optional);
  REQUIRE(of_required.refusal() == of_optional.refusal());
  outcome.is_refused = of_required.refusal().has_value();
  return outcome;
}

// Returns a copy of `read` in which the member `name` has its initial value.
// This is the expected result if the codec has refused this member and has read all other members.
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

}  // namespace archive_test
