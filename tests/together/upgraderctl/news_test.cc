// Tests how upgraderctl notices that a file of a control directory has changed.
#include <unistd.h>
#include <uv.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "tools/upgraderctl/shell/news.h"

namespace news_test {

using namespace upgraderctl;

TEST_CASE("files that change faster than they are looked at do not hold up a timer") {
  std::string directory = std::filesystem::temp_directory_path() / "news.XXXXXX";
  REQUIRE(::mkdtemp(directory.data()) != nullptr);
  uv_loop_t loop;
  REQUIRE(uv_loop_init(&loop) == 0);
  const auto write = [&] { std::ofstream(directory + "/status.json") << "{}"; };
  {
    // Changes the file again at each look, as if another process always wrote before upgraderctl
    // has finished looking.
    int looks = 0;
    bool is_due = false;
    News news(&loop, directory, [&] {
      if (++looks < 1'000) write();
    });
    auto timer = upgrader::make_handle(uv_timer_init, &loop, &is_due);
    write();
    while (looks == 0)
      uv_run(&loop, UV_RUN_ONCE);
    uv_timer_start(
        timer.get(), [](uv_timer_t* t) { *static_cast<bool*>(t->data) = true; }, 0, 0);
    while (!is_due)
      uv_run(&loop, UV_RUN_ONCE);
    CHECK(looks < 10);
  }
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK(uv_loop_close(&loop) == 0);
  std::filesystem::remove_all(directory);
}

}  // namespace news_test
