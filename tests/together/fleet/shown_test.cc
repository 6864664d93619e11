// Tests how foreign texts, such as those of nodes, are made safe for fleetctl's tables, for its
// JSON and for logs.
#include <catch2/catch.hpp>

#include "fleet/common/log_line.h"
#include "fleet/fleetctl/cell_view.h"
#include "fleet/fleetctl/table.h"
#include "fleet/model/record_tree.h"

namespace shown_test {

namespace {

using fleetctl::shown_json;
using fleetctl::table;

TEST_CASE("a table shows what nodes have written escaped, and in columns of their own") {
  const auto lines = table(
      {{"NODE", "NEWS"}, {"n1\n$ FAKE", "\x1b[31mred \u009b31m\u202e\xff\r"}, {"n2", "well"}});

  CHECK(lines == std::vector<std::string>{"NODE        NEWS",
                                          "n1\\n$ FAKE  \\x1b[31mred \\u{9b}31m\\u{202e}\\xff\\r",
                                          "n2          well"});
}

TEST_CASE("no cell is so wide that it pushes the others away") {
  const auto lines = table({{std::string(60'000, 'x'), "a"}, {"n2", std::string(60'000, 'y')}});

  CHECK(lines[0] == std::string(fleetctl::cell_columns_max - 3, 'x') + "...  a");
  CHECK(lines[1].size() == fleetctl::cell_columns_max + 2 + fleetctl::last_cell_columns_max);
}

TEST_CASE("JSON is the same to whoever reads it, and no command to a terminal") {
  const std::string text = "{\"a\":\"\u009b\u202e\U000e0041\u00e4\x7f\"}";

  CHECK(shown_json(text) == "{\"a\":\"\\u009b\\u202e\\udb40\\udc41\u00e4\\u007f\"}");
  CHECK(fleet::parse_tree(shown_json(text)).value() == fleet::parse_tree(text).value());
  CHECK(shown_json("{\r\n\t\"a\":\"\xff\"}") == "{ \n\t\"a\":\"\\ufffd\"}");
}

TEST_CASE("records that are not JSON are texts in fleetctl's JSON") {
  const std::string root(fleet::key_root);
  const std::string json =
      fleetctl::as_json({.revision = 7,
                         .found = {{.key = root + "stop", .value = "\xff{\"a\":1"},
                                   {.key = root + "epoch", .value = R"({"v":1,"v":2})"},
                                   {.key = root + "settings", .value = R"({"v":1})"}}});

  const auto tree = fleet::parse_tree(shown_json(json));
  REQUIRE(tree);
  CHECK(tree.value().find("records")->text_of("stop") == "\ufffd{\"a\":1");
  CHECK(tree.value().find("records")->text_of("epoch") == R"({"v":1,"v":2})");
  CHECK(tree.value().find("records")->find("settings")->is_object());
}

TEST_CASE("a line of a log is one line, escaped and cut") {
  CHECK(fleet::log_text("a version \x1b[2J\nfleet-agent: forged \u009b") ==
        "a version \\x1b[2J\\nfleet-agent: forged \\u{9b}");
  CHECK(fleet::log_text(std::string(70'000, 'x')).size() == fleet::log_columns_max);
}

}  // namespace

}  // namespace shown_test
