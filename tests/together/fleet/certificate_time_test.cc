// Tests by which time a machine judges certificates, since its clock may be wrong. That time is the
// clock's, or the last time that was saved on disk, whichever is later. Also tests which time the
// machine saves on disk.
#include "fleet/common/certificate_time.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "fleet/common/text_file.h"

namespace certificate_time_test {

namespace {

using namespace fleet;

constexpr UnixSeconds hour = 3'600;
constexpr UnixSeconds today = 1'795'348'800;  // this is 2026-11-22T12:00:00Z
constexpr Validity own{.from = today - 24 * hour, .until = today + 24 * hour};

}  // namespace

TEST_CASE("certificates are judged by the later of the clock and the last durable time") {
  CHECK(judging_time({.clock = today, .durable = 0}) == today);
  CHECK(judging_time({.clock = today, .durable = today - hour}) == today);
  CHECK(judging_time({.clock = today - hour, .durable = today}) == today);
  CHECK(judging_time({.clock = 60, .durable = today}) == today);
  CHECK(judging_words({.clock = today, .durable = 60}) ==
        "2026-11-22T12:00:00Z, which this machine's clock shows");
  CHECK(judging_words({.clock = 60, .durable = today}) ==
        "2026-11-22T12:00:00Z, the last time that was kept here");
}

TEST_CASE("a machine waits while its own certificate has not begun by any time it knows") {
  CHECK(why_too_early({.clock = today, .durable = 0}, own).empty());
  CHECK(why_too_early({.clock = own.from, .durable = 0}, own).empty());
  CHECK(why_too_early({.clock = 60, .durable = today}, own).empty());

  CHECK(why_too_early({.clock = 60, .durable = 0}, own) ==
        "this machine's certificate begins at 2026-11-21T12:00:00Z, after 1970-01-01T00:01:00Z, "
        "which this machine's clock shows: waits until the clock is set");
  CHECK(why_too_early({.clock = 60, .durable = own.from - 1}, own) ==
        "this machine's certificate begins at 2026-11-21T12:00:00Z, after 2026-11-21T11:59:59Z, "
        "the last time that was kept here: waits until the clock is set");
}

TEST_CASE("the time is made durable once an hour, at once with a certificate, and never back") {
  CHECK(durable_from({.clock = today, .durable = 0}, own, false) == today);
  CHECK(durable_from({.clock = today, .durable = today - hour}, own, false) == today);
  CHECK_FALSE(durable_from({.clock = today, .durable = today - hour + 1}, own, false));
  CHECK(durable_from({.clock = today, .durable = today - 1}, own, true) == today);
  CHECK_FALSE(durable_from({.clock = today, .durable = today}, own, true));
  CHECK_FALSE(durable_from({.clock = today, .durable = today + 1}, own, true));
  CHECK_FALSE(durable_from({.clock = 60, .durable = today}, own, true));
}

TEST_CASE("a time that contradicts the machine's own certificate is not made durable") {
  CHECK(durable_from({.clock = own.until - 1, .durable = today}, own, false) == own.until - 1);
  CHECK_FALSE(durable_from({.clock = own.until, .durable = today}, own, true));
  CHECK_FALSE(durable_from({.clock = today + 100'000 * hour, .durable = today}, own, true));
  CHECK_FALSE(durable_from({.clock = own.from - 1, .durable = 0}, own, true));
  CHECK_FALSE(durable_from({.clock = today, .durable = 0}, std::nullopt, true));
}

TEST_CASE("a durable time is read as it was written, and another text is no time") {
  CHECK(durable_of(durable_text(today)) == today);
  for (const char* const text :
       {"", "\n", "x\n", "17953", "-5\n", "1795348800 \n", "1\n2\n", "99999999999999999999\n"}) {
    INFO(text);
    CHECK(durable_of(text) == 0);
  }
}

TEST_CASE("a later time that another process has made durable stays") {
  std::string directory = (std::filesystem::temp_directory_path() / "time.XXXXXX").string();
  REQUIRE(mkdtemp(directory.data()) != nullptr);
  const std::string file = directory + "/time";
  CertificateClock clock(file, {});
  CHECK(clock.time().durable == 0);

  REQUIRE(replace_file(file, durable_text(today), 0600).empty());
  clock.look();

  CHECK(clock.time().durable == today);
  CHECK(CertificateClock(file, {}).time().durable == today);
  std::filesystem::remove_all(directory);
}

}  // namespace certificate_time_test
