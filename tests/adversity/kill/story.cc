#include "tests/adversity/kill/story.h"

namespace kill_points {

const std::vector<Story>& stories() {
  using With = Story::With;
  constexpr const char* gate = R"(,"gate":"confirm")";
  static const std::vector<Story> all = {
      // The stories, one on each line. The columns are the members of Story, in their order.
      {"good", false, "good", "u1", "", false, false, End::committed},
      {"gate", false, "good", "u1", gate, false, false, End::committed},
      {"relink", false, "good", "u1", "", true, true, End::committed},
      {"dies-held", false, "dies-held", "u1", "", false, false, End::kept},
      {"unfit-held", false, "unfit-held", "u1", "", false, false, End::kept},
      {"cancel", false, "good", "u1-cancel", "", false, false, End::kept},
      {"unclean", false, "good", "u1-unclean", "", false, false, End::fallback},
      {"dies-on-trial", false, "dies-on-trial", "u1", "", false, false, End::fallback},
      {"unfit-on-trial", false, "unfit-on-trial", "u1", "", false, false, End::fallback},
      {"way-back", false, "good", "u1", "", true, true, End::committed, With::way_back},
      {"bad-boot", false, "", "boot", "", true, true, End::fallback, With::boot},
      {"warm", false, "good", "u1", "", false, false, End::committed, With::standby},
      {"warm-dies-on-trial", false, "dies-on-trial", "u1", "", false, false, End::fallback,
       With::standby},
      {"warm-dies-beside", false, "dies-beside", "u1", "", false, false, End::fallback,
       With::standby},
      {"good", true, "good", "u1", "", false, false, End::committed},
      {"relink", true, "good", "u1", "", true, true, End::committed},
      {"cancel", true, "good", "u1-cancel", "", false, false, End::kept},
      {"unclean", true, "good", "u1-unclean", "", false, false, End::fallback},
      {"dies-held", true, "dies-held", "u1", "", false, false, End::fallback},
      {"unfit-held", true, "unfit-held", "u1", "", false, false, End::fallback},
      {"dies-on-trial", true, "dies-on-trial", "u1", "", false, false, End::fallback},
      {"unfit-on-trial", true, "unfit-on-trial", "u1", "", false, false, End::fallback},
  };
  return all;
}

bool Story::gated() const {
  return std::string_view(members).find("gate") != std::string_view::npos;
}

std::string words(End end) {
  switch (end) {
    case End::committed:
      return "committed";
    case End::kept:
      return "kept";
    case End::fallback:
      return "fallback";
    case End::restarted:
      return "restarted";
  }
  return "";
}

std::string Setting::name() const {
  return std::string(story->sequential ? "sequential" : "parallel") +
         (lock ? "/lock/" : "/no-lock/") + story->name +
         (order == Order::upgrader_first ? "/upgrader-first" : "/agents-first");
}

std::vector<Setting> all_settings() {
  std::vector<Setting> settings;
  for (const Order order : {Order::upgrader_first, Order::agents_first}) {
    for (const Story& story : stories()) {
      settings.push_back({&story, true, order});
      if (!story.lock_only) settings.push_back({&story, false, order});
    }
  }
  return settings;
}

}  // namespace kill_points
