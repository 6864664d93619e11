// Tests the trees into which JSON texts are parsed, and the operations on such trees.
#include "fleet/model/record_tree.h"

#include <catch2/catch.hpp>

namespace record_tree_test {

namespace {

using namespace fleet;

std::string merged(std::string_view target, std::string_view patch) {
  return write_tree(merge_patch(parse_tree(target).value(), parse_tree(patch).value()));
}

std::string selected(std::string_view tree, std::string_view fields) {
  return write_tree(select_fields(parse_tree(tree).value(), fields));
}

TEST_CASE("a tree is written as it was read, its members in their order by name") {
  const std::string text = R"({"a":[1,-2,{"b":null}],"c":true,"d":"\"x\n","e":{}})";

  CHECK(write_tree(parse_tree(text).value()) == text);
  CHECK(write_tree(parse_tree(R"({"b":1,"a":false})").value()) == R"({"a":false,"b":1})");
}

TEST_CASE("a number that is not an integer is refused, and left out of a foreign tree") {
  CHECK(parse_tree(R"({"a":1.5})").reason() == "a is no integer of at most 18 digits");
  CHECK(write_tree(parse_foreign_tree(R"({"a":1.5,"b":2})").value()) == R"({"a":null,"b":2})");
}

TEST_CASE("a text that is not JSON, or repeats a member, is refused") {
  CHECK_FALSE(parse_tree("[1]"));
  CHECK_FALSE(parse_tree(R"({"a":})"));
  CHECK(parse_tree(R"({"a":1,"a":2})").reason() == "a is there twice");
  CHECK(parse_tree(R"({"window":{"night":{"a":[],"b":{}},"night":1.5}})").reason() ==
        "window.night is no integer of at most 18 digits");
  CHECK(parse_tree(R"({"window":{"night":{},"day":{},"night":{}}})").reason() ==
        "window.night is there twice");
}

// Rows: A-41
TEST_CASE("a patch replaces members one by one, and null removes one") {
  CHECK(merged(R"({"a":1,"b":{"c":2,"d":3}})", R"({"b":{"c":null,"e":4}})") ==
        R"({"a":1,"b":{"d":3,"e":4}})");
  CHECK(merged(R"({"a":{"b":1}})", R"({"a":[1]})") == R"({"a":[1]})");
  CHECK(merged(R"({"a":"text"})", R"({"a":{"b":null,"c":1}})") == R"({"a":{"c":1}})");
}

// Rows: A-44
TEST_CASE("fields select members, also of members and of every element") {
  CHECK(selected(R"({"a":1,"b":{"c":2,"d":3},"e":4})", "a,b.d") == R"({"a":1,"b":{"d":3}})");
  CHECK(selected(R"({"h":[{"n":1,"s":2},{"n":3}]})", "h.n") == R"({"h":[{"n":1},{"n":3}]})");
  CHECK(selected(R"({"h":[{"n":1,"s":2}]})", "h.n,h.s") == R"({"h":[{"n":1,"s":2}]})");
  CHECK(selected(R"({"a":1})", "b,a.c") == "{}");
}

}  // namespace

}  // namespace record_tree_test
