// Tests which transactions a store accepts.
#include "fleet/model/records/transaction.h"

#include <catch2/catch.hpp>

namespace transaction_test {

namespace {

using namespace fleet;

TEST_CASE("a transaction of compares alone is a question and may be asked") {
  const Transaction question{.compares = {{.key = "/a", .revision = 4}, {.key = "/b"}}};

  CHECK_FALSE(why_not_taken(question));
  CHECK(words(question) == "if /a@4 /b@absent:");
}

TEST_CASE("a transaction has at most 128 compares and 128 writes") {
  Transaction many;
  for (int i = 0; i < 128; ++i) {
    many.compares.push_back({.key = "/c" + std::to_string(i)});
    many.puts.push_back({.key = "/p" + std::to_string(i), .value = "{}"});
  }
  CHECK_FALSE(why_not_taken(many));

  SECTION("one write more") {
    many.erases.push_back({.key = "/e"});
    CHECK(why_not_taken(many) == "129 writes; at most 128");
  }
  SECTION("one compare more") {
    many.compares.push_back({.key = "/e"});
    CHECK(why_not_taken(many) == "129 compares; at most 128");
  }
}

TEST_CASE("a value has at most 64 KiB and a transaction 1 MiB") {
  Transaction large{.puts = {{.key = "/a", .value = std::string(65'536, 'x')}}};
  CHECK_FALSE(why_not_taken(large));

  SECTION("one byte more") {
    large.puts[0].value += 'x';
    CHECK(why_not_taken(large) == "/a has 65537 bytes; at most 65536");
  }
  SECTION("sixteen of them") {
    for (char key = 'b'; key < 'b' + 15; ++key) {
      large.puts.push_back({.key = std::string("/") + key, .value = large.puts[0].value});
    }
    CHECK(why_not_taken(large) == "1048608 bytes; at most 1048576");
  }
}

TEST_CASE("no key is written twice, nor written and erased") {
  CHECK(why_not_taken({.puts = {{.key = "/a", .value = "1"}, {.key = "/a", .value = "2"}}}) ==
        "/a is written twice");
  CHECK(why_not_taken({.puts = {{.key = "/a/b"}}, .erases = {{.key = "/a/", .subtree = true}}}) ==
        "/a/b is written and erased");
  CHECK_FALSE(
      why_not_taken({.puts = {{.key = "/a"}}, .erases = {{.key = "/a/", .subtree = true}}}));
  CHECK(why_not_taken({.erases = {{.key = "/a", .subtree = true}}}) == "/a does not end in /");
  CHECK(why_not_taken({.puts = {{.key = ""}}}) == "a key is empty");
}

TEST_CASE("outcomes and transactions are printed for people") {
  CHECK(words(Outcome{Committed{7}}) == "committed at 7");
  CHECK(words(Outcome{Unknown{"timeout"}}) == "unknown: timeout");
  CHECK(words({.compares = {{.key = "/d", .of = Compare::Of::created, .revision = 2}},
               .puts = {{.key = "/a", .value = "1", .lease = 9}},
               .erases = {{.key = "/b/", .subtree = true}}}) ==
        "if /d created@2: put /a=1 (lease 9) erase /b/*");
}

TEST_CASE("a reading finds a key that was there, and none otherwise") {
  const Reading reading{.revision = 3, .found = {{.key = "/a", .value = "1", .modified = 2}}};

  REQUIRE(reading.find("/a") != nullptr);
  CHECK(reading.find("/a")->modified == 2);
  CHECK(reading.find("/") == nullptr);
}

}  // namespace

}  // namespace transaction_test
