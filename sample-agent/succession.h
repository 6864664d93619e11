// Decides when this agent asks to be replaced, and by what: watches the releases, tests the one
// that is due, and remembers those that have failed.
#pragma once

#include <uv.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sample-agent/failures.h"
#include "sample-agent/handle.h"
#include "sample-agent/releases.h"
#include "sample-agent/self_test.h"

namespace sample_agent {

// What the upgrader says of a failed upgrade, as far as it matters here.
struct UpgradeEnd {
  std::string id;
  std::string stage;
  bool has_errno = false;
};

class Succession {
 public:
  struct Settings {
    std::string releases;  // absolute
    std::string state_directory;
    Version present;
    std::vector<std::string> arguments;  // of this agent: a release is tested with them
  };
  struct Callbacks {
    std::function<bool(const std::string& id, const std::string& executable)>
        ask;  // false: not now
    std::function<void(const std::string&)> report;
  };

  Succession(uv_loop_t& loop, Settings settings, Callbacks callbacks);

  // From now on releases are looked for; not before this agent is committed.
  void begin();

  // An upgrade has failed: that of this agent, or, told to a fallback agent, that of its
  // forerunner.
  void upgrade_failed(const UpgradeEnd& end);

 private:
  void look();
  void tested(const std::optional<std::string>& failure);
  void remember(const Release& release, const std::string& why);

  uv_loop_t& loop_;
  Settings settings_;
  Callbacks callbacks_;
  Releases releases_;
  Failures failures_;
  std::optional<Release> chosen_;  // tested, or asked for
  unsigned requests_ = 0;
  std::optional<SelfTest> self_test_;
  Timer soon_;
  Timer now_and_then_;
  Timer pause_;
  std::optional<DirectoryWatch> watch_;
};

}  // namespace sample_agent
