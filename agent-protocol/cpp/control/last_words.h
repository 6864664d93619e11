// The last output of a daemon that has failed, as agentify(1) keeps it in the control directory.
#pragma once

#include <string>

#include "base/moment.h"

namespace upgraderctl {

struct LastWords {
  std::string text;
  Moment written;  // when the file was written
};

}  // namespace upgraderctl
