// Tests how other processes follow the paths in an upgrader's status.json.
#include "base/status_path.h"

#include <catch2/catch.hpp>

namespace status_path_test {

using upgrader::is_mangled;
using upgrader::path_for_others;

TEST_CASE("a path is mangled if one of its characters is U+FFFD") {
  CHECK(is_mangled("/opt/\xef\xbf\xbd"));
  CHECK(is_mangled("\xef\xbf\xbd/agent"));
  CHECK_FALSE(is_mangled(""));
  CHECK_FALSE(is_mangled("/opt/\xef\xbf\xbc"));
  CHECK_FALSE(is_mangled("/opt/\xff"));
}

TEST_CASE("a relative path is followed from the upgrader's working directory") {
  CHECK(path_for_others("/srv/previous", 7) == "/srv/previous");
  CHECK(path_for_others("/srv/previous", std::nullopt) == "/srv/previous");
  CHECK(path_for_others("links/previous", 7) == "/proc/7/cwd/links/previous");
  CHECK_FALSE(path_for_others("links/previous", std::nullopt));
}

}  // namespace status_path_test
