// Tests the count of an executable's failed starts, and the choice of the executable for the next
// start.
#include "upgrader/core/attempts.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace attempts_test {

using namespace upgrader;
using namespace std::string_literals;

namespace {

// Names for the values of next_attempt()'s last argument. It says whether the link of --previous
// names an executable that could be started instead of the one that AGENT's link names.
constexpr bool there_is = true;
constexpr bool there_is_none = false;

// Writes a record into `file`, the content of the file of --attempts, as the upgrader does. Returns
// the number of the record's slot in the file.
std::size_t write(std::string& file, const Attempts& attempts) {
  const NextRecord next = next_record(file, attempts);
  file.resize(std::max(file.size(), next.offset + next.text.size()));
  file.replace(next.offset, next.text.size(), next.text);
  return next.offset / attempts_record_bytes;
}

}  // namespace

TEST_CASE("what is written is read again") {
  for (const Attempts& attempts :
       {Attempts{}, Attempts{3, "/opt/agent", "exited with status 3"}, Attempts{1, "/a b/c\nd", ""},
        Attempts{2 * attempts_max, "/x", "ended"}, Attempts{0, "/x", "ended"}}) {
    std::string file;
    write(file, attempts);
    CHECK(read_attempts(file) == attempts);
  }
}

TEST_CASE("a record takes the place of the oldest one, and fills whole sectors") {
  std::string file;
  std::string places;
  std::string sound;
  for (int count = 1; count <= 7; ++count) {
    const Attempts attempts{count, "/opt/agent", std::string(static_cast<std::size_t>(count), 'x')};
    sound += static_cast<char>('0' + next_record(file, attempts).sound);
    places += static_cast<char>('0' + write(file, attempts));
    CHECK(read_attempts(file) == attempts);
  }
  CHECK(places == "0120120");
  CHECK(sound == "0123333");
  CHECK(file.size() == 2 * attempts_record_bytes + 512);
  CHECK(file.ends_with('\0'));
  CHECK(file.starts_with("7 /opt/agent\nxxxxxxx\n7 "));
  CHECK(next_record(file, {1, "/" + std::string(4'094, 'a'), ""}).text.size() <=
        attempts_record_bytes);
}

TEST_CASE("a record is filled up with zeros to whole sectors, with one zero at least") {
  for (std::size_t length = 0; length < 1'100; ++length) {
    const std::string text = next_record({}, {1, "/opt/agent", std::string(length, 'x')}).text;
    const std::size_t zeros = text.size() - text.find('\0');
    CHECK(text.size() % 512 == 0);
    CHECK(zeros >= 1);
    CHECK(zeros <= 512);
  }
}

TEST_CASE("a file of attempts has three records, and bytes behind them are not read") {
  std::string file;
  for (int count = 1; count <= 3; ++count)
    write(file, {count, "/opt/agent", ""});
  file.resize(3 * attempts_record_bytes);

  file += next_record(file, {4, "/opt/agent", ""}).text;

  CHECK(read_attempts(file) == Attempts{3, "/opt/agent", ""});
  CHECK(next_record(file, {}).sound == 3);
}

TEST_CASE("the two records before a torn one stay, and it is replaced next") {
  std::string whole;
  for (int count = 1; count <= 3; ++count)
    write(whole, {count, "/opt/agent", ""});
  const std::string fresh = next_record(whole, {4, "/opt/agent", "ended"}).text;
  for (std::size_t bytes = 0; bytes < fresh.find('\0'); ++bytes) {
    for (const bool rest_is_old : {false, true}) {
      std::string torn = whole;
      torn.replace(0, bytes, fresh, 0, bytes);
      if (!rest_is_old) torn.replace(bytes, 512 - bytes, 512 - bytes, '\0');
      CHECK(read_attempts(torn) == Attempts{3, "/opt/agent", ""});
      CHECK(next_record(torn, {4, "/opt/agent", ""}).offset == 0);
      CHECK(next_record(torn, {4, "/opt/agent", ""}).sound == (torn == whole ? 3 : 2));
    }
  }
}

TEST_CASE("a file that is on a disk somewhere is read by each later version") {
  std::string file = "2 /opt/agent\nexited with status 3\n3 1375891654\n";
  file.resize(attempts_record_bytes);
  file += "1 /opt/agent\n\n2 310018558\n";
  CHECK(read_attempts(file) == Attempts{2, "/opt/agent", "exited with status 3"});
  CHECK(next_record(file, {}).sound == 2);
}

TEST_CASE("attempts are the same if count, executable and ending are") {
  const Attempts one{1, "/opt/a", "exited with status 3"};

  CHECK(one == Attempts{1, "/opt/a", "exited with status 3"});
  CHECK_FALSE(one == Attempts{2, "/opt/a", "exited with status 3"});
  CHECK_FALSE(one == Attempts{1, "/opt/b", "exited with status 3"});
  CHECK_FALSE(one == Attempts{1, "/opt/a", ""});
}

TEST_CASE("a damaged file counts as no attempt") {
  const std::string whole = next_record({}, {3, "/opt/agent", "ended"}).text;
  for (std::size_t bytes = 0; bytes < whole.find('\0'); ++bytes)
    CHECK(read_attempts(whole.substr(0, bytes)).count == 0);
  // Each of these records has the right checksum, but a content that no upgrader would write.
  for (const char* text : {"-1 /a\n\n1 1673123632\n", "x /a\n\n1 1417425964\n",
                           "3/a\n\n1 3000026527\n", "1999999 /a\n\n1 50966471\n",
                           "3 /a\n1 2566080821\n", "99999999999999999999 /a\n\n1 1834359686\n"}) {
    CHECK(read_attempts(text) == Attempts{});
    CHECK(next_record(text, {}).sound == 1);
  }
  // The last two records have the right checksum. But one has an invalid number, and the other has
  // no newline at its end.
  for (const std::string& text : {""s, "\n"s, " \n"s, "1\n"s, "3 /a\n\n1 1\n"s, "3 /a\n\n"s,
                                  "3 /a\n\nx 3207242154\n"s, "3 /a\n\n1 901243659X"s})
    CHECK(next_record(text, {}).sound == 0);
}

TEST_CASE("from the limit on the other executable has its turn, as often, and then this one") {
  Attempts told;
  std::string turns;
  for (int start = 0; start < 10; ++start) {
    const NextAttempt next = next_attempt(told, "/a", 3, there_is);
    turns += next.attempts_exhausted ? 'b' : 'a';
    told = next.attempts;
  }
  CHECK(turns == "aaabbbaaab");
}

TEST_CASE("without a way back nothing is counted beyond the limit, and how it ended stays") {
  Attempts told;
  for (int start = 0; start < 10; ++start) {
    const NextAttempt next = next_attempt(told, "/a", 3, there_is_none);
    CHECK(next.attempts_exhausted.has_value() == (start >= 3));
    told = next.attempts;
    if (start == 2) told.ending = "ended";
  }
  CHECK(told == Attempts{3, "/a", "ended"});

  // From now on, there is a previous executable. AGENT's executable has been started too often, so
  // the previous one must be started next.
  const NextAttempt next = next_attempt(told, "/a", 3, there_is);

  CHECK(next.attempts_exhausted);
  CHECK(next.attempts == Attempts{4, "/a", ""});
}

TEST_CASE("another executable begins anew") {
  const NextAttempt next = next_attempt({7, "/a", ""}, "/b", 3, there_is);

  CHECK(next.attempts == Attempts{1, "/b", ""});
  CHECK_FALSE(next.attempts_exhausted);
  CHECK(next_attempt({2, "/a", ""}, "/b", 3, there_is).attempts == Attempts{1, "/b", ""});
}

TEST_CASE("it is said how often, and how the last one ended") {
  CHECK(next_attempt({1, "/a", "the upgrader ends with status 3"}, "/a", 1, there_is)
            .attempts_exhausted == "/a did not last in 1 start: the upgrader ends with status 3");
  CHECK(next_attempt({2, "/a", ""}, "/a", 2, there_is).attempts_exhausted ==
        "/a did not last in 2 starts in a row: nobody was left to say how the last one ended");
}

}  // namespace attempts_test
