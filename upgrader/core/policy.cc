#include "upgrader/core/policy.h"

namespace upgrader {

Policy policy_of(const Options& options, Duration watchdog) {
  Policy policy;
  policy.defaults.mode = options.mode;
  policy.defaults.gate = options.gate;
  policy.defaults.commit = options.commit;
  policy.defaults.start_timeout = options.start_timeout;
  policy.defaults.confirm_timeout = options.confirm_timeout.value_or(options.start_timeout);
  policy.defaults.stop_timeout = options.stop_timeout;
  policy.defaults.trial = options.trial;
  policy.defaults.on_unclean_stop = options.on_unclean_stop;
  policy.defaults.fallback = options.fallback;
  policy.exit_grace = options.exit_grace;
  policy.watchdog = watchdog;
  policy.relink = options.relink;
  policy.previous = options.previous.has_value();
  policy.attempts = options.attempts > 0;
  return policy;
}

}  // namespace upgrader
