#include "tests/adversity/endurance/kinds.h"

#include <iterator>

namespace endurance {
namespace {

constexpr Kind good = {"good", "good", "", End::committed, End::committed, false, false};

// JSON members of requests for upgrades that must fail. The first three set a time limit of 20 ms,
// which will pass: without them, the upgrader's limits are a minute.
constexpr const char* short_start = R"(,"start_timeout_ms":20)";
constexpr const char* short_trial = R"(,"trial_ms":20)";
constexpr const char* short_stop = R"(,"stop_timeout_ms":20)";
constexpr const char* no_program = R"(,"executable":"/nonexistent/agent")";
constexpr const char* not_executable = R"(,"executable":"/etc/passwd")";
constexpr const char* malformed = R"(,"trial_ms":"long")";

constexpr End kept = End::kept;
constexpr End fallback = End::fallback;

constexpr Kind bad[] = {
    {"dies-held", "dies-held", "", kept, fallback, false, false},
    {"crashes-held", "crashes-held", "", kept, fallback, false, false},
    {"unfit-held", "unfit-held", "", kept, fallback, false, false},
    {"dies-on-trial", "dies-on-trial", "", fallback, fallback, false, false},
    {"crashes-on-trial", "crashes-on-trial", "", fallback, fallback, false, false},
    {"unfit-on-trial", "unfit-on-trial", "", fallback, fallback, false, false},
    {"spams", "spams", "", kept, fallback, false, false},
    {"silent", "silent", short_start, kept, fallback, false, false},
    {"never-ready", "never-ready", short_start, kept, fallback, false, false},
    {"never-healthy", "never-healthy", short_trial, fallback, fallback, false, false},
    {"unclean", "good", "", fallback, fallback, false, false},
    {"never-stops", "good", short_stop, fallback, fallback, false, false},
    {"cancel", "good", "", kept, kept, false, false},
    {"waits", "dies-when-ready", "", kept, kept, true, false},
    {"no-program", "good", no_program, kept, kept, false, true},
    {"not-executable", "good", not_executable, kept, kept, false, true},
    {"malformed", "good", malformed, kept, kept, false, true},
};
constexpr std::size_t bad_count = std::size(bad);

// The upgrader kills an agent that closes its output and does not exit within a fifth of a second
// (close_grace of the supervisor). An upgrade to such an agent takes that long, so this kind is run
// less often than other bad upgrades.
constexpr Kind closes = {"closes-output", "closes-output", "", kept, fallback, false, false};
constexpr std::size_t closes_every = 40;  // every fortieth bad upgrade is of the kind `closes`

}  // namespace

std::string words(End end) {
  switch (end) {
    case End::committed:
      return "committed";
    case End::kept:
      return "kept";
    case End::fallback:
      return "fallback";
  }
  return "";
}

Upgrade upgrade_of(std::size_t number) {
  Upgrade upgrade;
  const std::size_t of_ten = number % 10;
  const bool is_bad = of_ten == 2 || of_ten == 5 || of_ten == 8;
  const std::size_t how_manieth = number / 10 * 3 + of_ten / 3;
  upgrade.kind = !is_bad                           ? &good
                 : how_manieth % closes_every == 0 ? &closes
                                                   : &bad[how_manieth % bad_count];
  const bool odd = is_bad ? how_manieth / bad_count % 2 == 1 : number % 2 == 1;
  upgrade.sequential = odd && !upgrade.kind->parallel_only;
  upgrade.id = "u" + std::to_string(number) + "-" + upgrade.kind->name;
  return upgrade;
}

std::string Upgrade::request(const std::string& directory) const {
  const std::string version = std::to_string(1 + std::stoul(id.substr(1)) % 3);
  const std::string members = kind->members;
  const bool named = members.find("\"executable\"") != std::string::npos;
  return R"({"type":"upgrade","id":")" + id + R"(","args":[")" + kind->part +
         R"("],"commit":"healthy","mode":")" + (sequential ? "sequential" : "parallel") + "\"" +
         (named ? "" : R"(,"executable":")" + directory + "/v" + version + "\"") + members + "}";
}

}  // namespace endurance
