// The types of times and durations in agentify. They are the same types as in the upgrader.
#pragma once

#include "base/duration.h"

namespace agentify {

using upgrader::Duration;
using upgrader::duration_form;
using upgrader::duration_max;
using upgrader::parse_duration;
using upgrader::Time;

}  // namespace agentify
