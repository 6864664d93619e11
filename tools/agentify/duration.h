// Times as agentify counts them, and durations as its command line has them: the upgrader's own.
#pragma once

#include "base/duration.h"

namespace agentify {

using upgrader::Duration;
using upgrader::duration_form;
using upgrader::duration_max;
using upgrader::parse_duration;
using upgrader::Time;

}  // namespace agentify
