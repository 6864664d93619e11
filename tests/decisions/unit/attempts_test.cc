// Tests the count of an executable's failed starts, and the choice of the executable for the next
// start.
#include "upgrader/core/attempts.h"

#include <catch2/catch.hpp>

namespace attempts_test {

using namespace upgrader;

namespace {

// Names for the last argument of next_attempt(), which says whether there is another executable to
// start.
constexpr bool there_is = true;
constexpr bool there_is_none = false;

}  // namespace

TEST_CASE("what is written is read again") {
  for (const Attempts& attempts :
       {Attempts{}, Attempts{3, "/opt/agent", "exited with status 3"}, Attempts{1, "/a b/c\nd", ""},
        Attempts{2 * attempts_max, "/x", "ended"}, Attempts{0, "/x", "ended"}}) {
    CHECK(read_attempts(print(attempts)) == attempts);
  }
}

TEST_CASE("attempts are the same if count, executable and ending are") {
  const Attempts one{1, "/opt/a", "exited with status 3"};

  CHECK(one == Attempts{1, "/opt/a", "exited with status 3"});
  CHECK_FALSE(one == Attempts{2, "/opt/a", "exited with status 3"});
  CHECK_FALSE(one == Attempts{1, "/opt/b", "exited with status 3"});
  CHECK_FALSE(one == Attempts{1, "/opt/a", ""});
}

TEST_CASE("a damaged file counts as no attempt") {
  const std::string whole = print({3, "/opt/agent", "ended"});
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    CHECK(read_attempts(whole.substr(0, bytes)).count == 0);
  for (const char* text : {"-1 /a\n\n", "x /a\n\n", "3/a\n\n", "1999999 /a\n\n", "3 /a\n",
                           "99999999999999999999 /a\n\n"})
    CHECK(read_attempts(text) == Attempts{});
}

TEST_CASE("from the limit on the other executable has its turn, as often, and then this one") {
  Attempts told;
  std::string turns;
  for (int start = 0; start < 10; ++start) {
    const NextAttempt next = next_attempt(told, "/a", 3, there_is);
    turns += next.worn_out ? 'b' : 'a';
    told = next.attempts;
  }
  CHECK(turns == "aaabbbaaab");
}

TEST_CASE("without a way back nothing is counted beyond the limit, and how it ended stays") {
  Attempts told;
  for (int start = 0; start < 10; ++start) {
    const NextAttempt next = next_attempt(told, "/a", 3, there_is_none);
    CHECK(next.worn_out.has_value() == (start >= 3));
    told = next.attempts;
    if (start == 2) told.ending = "ended";
  }
  CHECK(told == Attempts{3, "/a", "ended"});

  // The executable of --previous can be started by now, so it is started next.
  const NextAttempt next = next_attempt(told, "/a", 3, there_is);

  CHECK(next.worn_out);
  CHECK(next.attempts == Attempts{4, "/a", ""});
}

TEST_CASE("another executable begins anew") {
  const NextAttempt next = next_attempt({7, "/a", ""}, "/b", 3, there_is);

  CHECK(next.attempts == Attempts{1, "/b", ""});
  CHECK_FALSE(next.worn_out);
  CHECK(next_attempt({2, "/a", ""}, "/b", 3, there_is).attempts == Attempts{1, "/b", ""});
}

TEST_CASE("it is said how often, and how the last one ended") {
  CHECK(next_attempt({1, "/a", "the upgrader ends with status 3"}, "/a", 1, there_is).worn_out ==
        "/a did not last in 1 start: the upgrader ends with status 3");
  CHECK(next_attempt({2, "/a", ""}, "/a", 2, there_is).worn_out ==
        "/a did not last in 2 starts in a row: nobody was left to say how the last one ended");
}

}  // namespace attempts_test
