// What init is told in every phase.
#include "upgrader/init_news.h"

#include <catch2/catch.hpp>

#include "tests/support/bench.h"

namespace {

using namespace upgrader;
using namespace upgrader::test;

struct Told {
  Phase phase;
  bool active;
  bool stopping;
  const char* status;
};

const Told all_told[]{
    {Phase::starting, false, false, "starting"},
    {Phase::running, true, false, "generation 1 is active"},
    {Phase::preparing, true, false,
     "generation 1 is active; upgrade u1: generation 2 (version 2.0) starts"},
    {Phase::confirming, true, false, "generation 1 is active; upgrade u1 waits to be confirmed"},
    {Phase::switching, true, false, "upgrade u1: generation 1 is stopping"},
    {Phase::replacing, false, false,
     "upgrade u1: generation 2 (version 2.0) starts, and nobody is active"},
    {Phase::trial, true, false, "generation 2 is active, on trial for 30s of upgrade u1"},
    {Phase::abandoning, true, false, "generation 1 is active; upgrade u1 has failed"},
    {Phase::rolling_back, true, false, "upgrade u1 has failed: generation 2 is stopping"},
    {Phase::falling_back, false, false, "upgrade u1 has failed: falling back"},
    {Phase::shutting_down, true, true, "stopping"},
    {Phase::ended, false, true, "stopping"},
};

}  // namespace

TEST_CASE("init is told in every phase who is active, whether it stops, and how it stands") {
  for (const Told& told : all_told) {
    Bench bench;
    bench.reach(told.phase);
    const bool starts = told.phase == Phase::preparing || told.phase == Phase::replacing;
    if (starts) bench.hello(2, "2.0");

    const InitNews news = init_news(bench.state());

    INFO(name_of(told.phase));
    CHECK(news.active == told.active);
    CHECK(news.stopping == told.stopping);
    CHECK(news.status == told.status);
  }
}
