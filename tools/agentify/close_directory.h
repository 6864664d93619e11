// Closes a directory that is read, with whatever owns it.
#pragma once

#include <dirent.h>

namespace agentify {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

}  // namespace agentify
